package policy

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Limits on clearance rules.
const (
	ClearanceMax         = 16 // rules of one document: one call may have to ask them all
	URLBytesMax          = 2048
	ClearanceTimeoutSMax = 30
)

const defaultClearanceTimeoutS = 5

func (c *checker) clearance(rules []ClearanceRule, ids map[string]bool) {
	if len(rules) > ClearanceMax {
		c.addf("/clearance", "There are %d clearance rules; the limit is %d. Use patterns, or let one authority answer for several.", len(rules), ClearanceMax)
		return
	}
	for i, rule := range rules {
		pointer := "/clearance/" + strconv.Itoa(i)
		c.ruleID(pointer+"/id", rule.ID, ids)
		c.when(pointer+"/when", rule.When)
		c.authority(pointer+"/url", rule.URL)
		if rule.TimeoutS < 1 || rule.TimeoutS > ClearanceTimeoutSMax {
			c.addf(pointer+"/timeout_s", "%d seconds is not possible. Use 1 to %d.", rule.TimeoutS, ClearanceTimeoutSMax)
		}
	}
}

// authority checks where a clearance is asked: over TLS, or on this machine.
func (c *checker) authority(pointer, address string) {
	if address == "" {
		c.addf(pointer, "The rule names no authority. Add url: with an https address.")
		return
	}
	if len(address) > URLBytesMax {
		c.addf(pointer, "The address is longer than %d bytes. Shorten it.", URLBytesMax)
		return
	}
	u, err := url.Parse(address)
	isPlain := !strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' })
	if err != nil || !isPlain || u.Opaque != "" || u.Hostname() == "" || !isPort(u.Port()) {
		c.addf(pointer, "This is not an address. Write it as https://host/path.")
		return
	}
	switch {
	case u.User != nil:
		c.addf(pointer, "The address carries a user or password, which every reader of the log would see. Remove it.")
	case strings.Contains(address, "#"):
		c.addf(pointer, "The address has a fragment, which is never sent. Remove everything from # on.")
	case u.Scheme == "http" && !IsLoopback(u.Hostname()):
		c.addf(pointer, "http is for this machine only (localhost, 127.0.0.1, [::1]). Write https.")
	case u.Scheme != "http" && u.Scheme != "https":
		c.addf(pointer, "%s is not https. Write it as https://host/path.", display(u.Scheme))
	}
}

// isPort: none is the scheme's own.
func isPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= 1 && n <= 65_535
}

// IsLoopback says whether a host of an address means this machine.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// completedClearance is a deep copy with the time that a rule leaves open.
func completedClearance(rules []ClearanceRule) []ClearanceRule {
	if len(rules) == 0 {
		return nil
	}
	out := make([]ClearanceRule, len(rules))
	for i, rule := range rules {
		rule.When = copyWhen(rule.When)
		if rule.TimeoutS == 0 {
			rule.TimeoutS = defaultClearanceTimeoutS
		}
		out[i] = rule
	}
	return out
}

func copyWhen(when When) When {
	when.ImpactAtLeast = clonePointer(when.ImpactAtLeast)
	when.External = clonePointer(when.External)
	when.Tools = cloneList(when.Tools)
	return when
}

func clearanceTree(rules []ClearanceRule) []any {
	list := make([]any, len(rules))
	for i, rule := range rules {
		list[i] = map[string]any{"id": rule.ID, "when": whenTree(rule.When), "url": rule.URL, "timeout_s": rule.TimeoutS}
	}
	return list
}

// unreachable finds clearance rules that name no tool there is: whoever wrote
// one believes in a check that would never be made.
func (c *checker) unreachable(rules []ClearanceRule, tools []Tool) {
	for i, rule := range rules {
		if rule.When.Tools == nil {
			continue
		}
		names, isMet := newNameSet(rule.When.Tools), false
		for _, tool := range tools {
			isMet = isMet || names.has(tool.Name)
		}
		if !isMet {
			c.addf("/clearance/"+strconv.Itoa(i)+"/when/tools", "No tool here has such a name, so the rule would never ask. Correct the names, or remove the rule.")
		}
	}
}
