package policy

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// AppendJSON appends the decision in the shape of P37, without the id: the
// stage is null where none stopped it, and no list is ever null. The bytes are
// those of encoding/json, at a fraction of its cost.
func (d Decision) AppendJSON(b []byte) []byte {
	b = appendJSONText(append(b, `{"decision":`...), string(d.Outcome))
	b = strconv.AppendInt(append(b, `,"impact":`...), int64(d.Impact), 10)
	b = appendJSONText(append(b, `,"impact_name":`...), d.ImpactName)
	b = strconv.AppendInt(append(b, `,"limit":`...), int64(d.Limit), 10)
	b = append(b, `,"stage":`...)
	if d.Stage == "" {
		b = append(b, "null"...)
	} else {
		b = appendJSONText(b, d.Stage)
	}
	b = appendJSONTexts(append(b, `,"rules":`...), d.Rules)
	b = appendJSONTexts(append(b, `,"reasons":`...), d.Reasons)
	b = append(b, `,"asks":[`...)
	for i := range d.Asks {
		if i > 0 {
			b = append(b, ',')
		}
		b = d.Asks[i].appendJSON(b)
	}
	b = appendJSONText(append(b, `],"policy":`...), d.Policy)
	for i := range d.Clear {
		b = append(b, [2]string{`,"clear":[`, ","}[min(i, 1)]...)
		b = d.Clear[i].appendJSON(b)
	}
	if len(d.Clear) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func (a *AskFor) appendJSON(b []byte) []byte {
	b = appendJSONText(append(b, `{"rule":`...), a.Rule)
	b = appendJSONText(append(b, `,"per":`...), a.Per)
	b = strconv.AppendInt(append(b, `,"quorum":`...), int64(a.Quorum), 10)
	b = appendJSONTexts(append(b, `,"roles":`...), a.Roles)
	b = strconv.AppendInt(append(b, `,"expires_s":`...), a.ExpiresS, 10)
	return append(b, '}')
}

func (c *ClearFor) appendJSON(b []byte) []byte {
	b = appendJSONText(append(b, `{"rule":`...), c.Rule)
	b = appendJSONText(append(b, `,"url":`...), c.URL)
	b = strconv.AppendInt(append(b, `,"timeout_s":`...), int64(c.TimeoutS), 10)
	return append(b, '}')
}

func appendJSONTexts(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSONText(b, text)
	}
	return append(b, ']')
}

// appendJSONText quotes plain text itself and leaves the rest to encoding/json,
// which cannot fail on a string.
func appendJSONText(b []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if ch := text[i]; ch < ' ' || ch > '~' || ch == '"' || ch == '\\' || ch == '<' || ch == '>' || ch == '&' {
			quoted, _ := json.Marshal(text)
			return append(b, quoted...)
		}
	}
	b = append(append(b, '"'), text...)
	return append(b, '"')
}

// MarshalJSON gives AppendJSON's bytes, so that a decision keeps its stage
// wherever it is encoded.
func (d Decision) MarshalJSON() ([]byte, error) { return d.AppendJSON(nil), nil }

// UnmarshalJSON reads what AppendJSON wrote.
func (d *Decision) UnmarshalJSON(data []byte) error {
	type fields Decision // without methods
	read := struct {
		*fields
		Stage *string `json:"stage"`
	}{fields: (*fields)(d)}
	*d = newDecision("")
	if err := json.Unmarshal(data, &read); err != nil {
		return fmt.Errorf("read decision: %w", err)
	}
	if read.Stage != nil {
		d.Stage = *read.Stage
	}
	if d.Rules == nil || d.Reasons == nil || d.Asks == nil {
		return fmt.Errorf("read decision: rules, reasons and asks are lists")
	}
	return nil
}
