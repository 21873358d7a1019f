package planner_test

import (
	"testing"

	"sluice/engine/planner"
)

func TestP38_ArithmeticOfWrittenNumbersIsComputed(t *testing.T) {
	p := shipped(t)
	for goal, want := range map[string]string{
		"Multiply 12 by 9.": `"12 * 9"`, "What's 3 plus 4?": `"3 + 4"`, "what is 7*6": `"7 * 6"`, "Divide 10 by 4": `"10 / 4"`,
		"subtract 3 from 10": `"10 - 3"`, "Add 1.5 to 2": `"1.5 + 2"`, "How much is 2 + 2 * 3?": `"2 + 2 * 3"`, "12 divided by 4": `"12 / 4"`,
		"Calculate -5 - 3": `"-5 - 3"`, "2 × 3 =": `"2 * 3"`,
		"What is 17.5 % of 2,348.60?": `"17.5 * 2348.60 / 100"`, "Add up 12, 45 and 103 and divide the sum by 4": `"(12 + 45 + 103) / 4"`,
		"compute 2^10": `"(2 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2)"`, "how much is 15% of 80 plus 7?": `"(15 / 100 * 80) + 7"`,
		"what is the average of 3, 5 and 10": `"(3 + 5 + 10) / 3"`, "What's (2 + 3) * 4?": `"(2 + 3) * 4"`, "what is 12 squared": `"(12 * 12)"`,
		"calculate half of 90": `"(0.5 * 90)"`, "what's 1/3": `"1 / 3"`, "what is the difference between 90 and 45.5?": `"90 - 45.5"`,
		"how much is 3 times 4 minus 2":      `"3 * 4 - 2"`,
		"what is the sum of 1,200, 3 and 4?": `"1200 + 3 + 4"`, "compute 1,000 + 2": `"1000 + 2"`,
	} {
		got := p.Propose(goal)
		if got.Plan == nil || len(got.Plan.Steps) != 1 || got.Plan.Steps[0].Tool != "compute" || string(got.Plan.Steps[0].Params["code"]) != want {
			t.Errorf("%q: got %+v, want the program %s", goal, got, want)
		}
	}
	for _, goal := range []string{"2026-01-02", "What is 10.0.0.1?", "1/2", "Add 3 to the list", "Divide 10 from 4", "12", "What is 2 + x?",
		"Multiply 007 by 2", "add up 12,45 and 3", "add up the lines of a.txt", "3 + 4 and read a.txt", "what is 2^x", "what is 2^999", "what is 5", "what is (2 + 3", "what is 3 plus 4 apples",
		"what is the average of my bills", "what is 12:30 - 11:00", "what is 12345678901234567890 + 1"} {
		if got := p.Propose(goal); got.Plan != nil && got.Plan.Steps[0].Tool == "compute" {
			t.Errorf("%q: got the program %s, want none", goal, got.Plan.Steps[0].Params["code"])
		}
	}
}

func TestR55_ReportSaysWhatWasComputed(t *testing.T) {
	v := planner.Report(planner.ReportInput{Steps: []planner.StepResult{{ID: "compute", Tool: "compute", State: "executed", Output: []byte(`{"value":108}`), Observation: "o_1"}}})
	if v.Text != "Computed 108." {
		t.Errorf("got %q", v.Text)
	}
}
