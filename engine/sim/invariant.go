package sim

import (
	"encoding/json"
	"fmt"
	"reflect"

	"sluice/engine"
)

// checkFold compares the stepped State with the fold of the durable facts, as
// far as anybody outside the core can see (R60).
func (w *World) checkFold(out engine.Effects) error {
	for i, f := range out.Facts {
		if want := int64(len(w.Facts) - len(out.Facts) + i + 1); f.Seq != want || f.Cause != out.Facts[0].Seq {
			return fmt.Errorf("fact %d (%s) has seq %d and cause %d (P28)", want, f.Kind, f.Seq, f.Cause)
		}
	}
	return nil
}

// checkEnd looks at the whole run.
func (w *World) checkEnd() error {
	folded := engine.New(engine.Env{})
	folded.SetRun(run)
	last, codes := int64(0), 0
	for _, f := range w.Facts {
		if f.At < last {
			return fmt.Errorf("fact %d goes back in time", f.Seq)
		}
		last = f.At
		if f.Kind == engine.RunEnded {
			codes++
		}
		folded.Apply(f)
	}
	if a, b := engine.Summarise(w.State), engine.Summarise(folded); !reflect.DeepEqual(a, b) {
		return fmt.Errorf("the summary is %+v, of the fold %+v (R60)", a, b)
	}
	sum := engine.Summarise(w.State)
	if codes != 1 || sum.Code == engine.InternalFault {
		return fmt.Errorf("%d codes, %s %v (P6)", codes, sum.Code, sum.Causes)
	}
	for _, f := range w.flights {
		if c, ok := f.command.(engine.Perform); ok && f.isOnce {
			return fmt.Errorf("the run ended while %s may still act", c.ID)
		}
	}
	return w.checkEffects()
}

// checkEffects is the counter of P45: a once effect happens at most once, and a
// step that counts as done has happened.
func (w *World) checkEffects() error {
	for _, v := range w.State.Nodes() {
		if v.Step == nil || v.Step.Effect != "once" {
			continue
		}
		if n := w.Effects[v.ID]; n > 1 {
			return fmt.Errorf("the once effect of %s happened %d times (P5, R38)", v.ID, n)
		}
		if v.State == engine.NodeExecuted && w.Effects[v.ID] == 0 {
			return fmt.Errorf("%s counts as done and never happened (R52)", v.ID)
		}
	}
	return nil
}

// Log is what P45 compares: per node the sequence of kind, attempt and data
// without times. Orphans and timers depend on when things happen and are left out.
func (w *World) Log() (map[string][]string, error) {
	log := map[string][]string{}
	for _, f := range w.Facts {
		if f.Kind == engine.InputOrphan || f.Kind == engine.InputTimer {
			continue
		}
		var data any
		if err := json.Unmarshal(f.Data, &data); err != nil {
			return nil, fmt.Errorf("read fact %d: %w", f.Seq, err)
		}
		text, err := json.Marshal(withoutTimes(data))
		if err != nil {
			return nil, fmt.Errorf("write fact %d: %w", f.Seq, err)
		}
		log[f.Node] = append(log[f.Node], fmt.Sprintf("%s#%d %s", f.Kind, f.Attempt, text))
	}
	return log, nil
}

// withoutTimes drops times and the hashes that are taken over them.
func withoutTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, x := range v {
			switch key {
			case "started_at", "ended_at", "retry_at", "expires_at", "hash":
			default:
				out[key] = withoutTimes(x)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutTimes(v[i])
		}
		return out
	}
	return v
}
