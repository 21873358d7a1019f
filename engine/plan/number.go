package plan

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// integerMax is 2^53: beyond it a JSON reader may bend an integer (P27).
const integerMax = 1 << 53

var (
	errBigInteger = errors.New("an integer beyond ±2^53 loses digits")
	errBigNumber  = errors.New("a number beyond the range of a double is not accepted")
)

// checkNumber refuses the numbers that would not survive being written again:
// integers beyond ±2^53, and numbers no double can hold. A number written with
// a fraction or exponent counts as an integer when its canonical form is one.
func checkNumber(raw string) error {
	if !strings.ContainsAny(raw, ".eE") {
		return checkInteger(raw)
	}
	value, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return errBigNumber
	}
	if size := math.Abs(value); size >= integerMax && size < 1e21 {
		return errBigInteger
	}
	return nil
}

func checkInteger(raw string) error {
	if len(raw) <= 15 {
		return nil
	}
	value, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || value > integerMax || value < -integerMax {
		return errBigInteger
	}
	return nil
}

// compareNumbers orders two JSON numbers: integers exactly, others as doubles.
func compareNumbers(a, b string) (int, error) {
	if isInteger(a) && isInteger(b) {
		return compareIntegers(a, b), nil
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return 0, errBigNumber
	}
	switch {
	case x < y:
		return -1, nil
	case x > y:
		return 1, nil
	}
	return 0, nil
}

func isInteger(raw string) bool {
	digits := strings.TrimPrefix(raw, "-")
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return digits != ""
}

// compareIntegers orders decimal integers of any length; "-0" equals "0".
func compareIntegers(a, b string) int {
	negativeA, digitsA := splitSign(a)
	negativeB, digitsB := splitSign(b)
	switch {
	case negativeA && !negativeB:
		return -1
	case !negativeA && negativeB:
		return 1
	case negativeA:
		return compareDigits(digitsB, digitsA)
	}
	return compareDigits(digitsA, digitsB)
}

func splitSign(raw string) (isNegative bool, digits string) {
	digits, isNegative = strings.CutPrefix(raw, "-")
	return isNegative && digits != "0", digits
}

// compareDigits orders decimal digits without leading zeros, as JSON writes them.
func compareDigits(a, b string) int {
	if len(a) != len(b) {
		if len(a) < len(b) {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}
