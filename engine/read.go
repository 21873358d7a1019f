package engine

import "encoding/json"

// readData reads the data of a fact as far as a fold needs it (P27): what the
// gate looked at stays unread. A kind that no fold reads gives nil.
func readData(k Kind, data []byte) (factData, error) {
	switch k {
	case AttemptStarted:
		var read struct {
			Reserve  reserve `json:"reserve"`
			By       string  `json:"by"`
			Fallback string  `json:"fallback"`
		}
		err := json.Unmarshal(data, &read)
		return &startedData{Reserve: read.Reserve, By: read.By, Fallback: read.Fallback}, err
	case NodeChanged:
		var read struct {
			To      NodeState `json:"to"`
			Reason  string    `json:"reason"`
			Cause   string    `json:"cause"`
			Rule    string    `json:"rule"`
			Visible int64     `json:"visible_at"`
		}
		err := json.Unmarshal(data, &read)
		return &changedData{To: read.To, Reason: read.Reason, Cause: read.Cause, Rule: read.Rule, VisibleAt: read.Visible}, err
	case ClearanceRequested, ClearanceAnswered:
		return readClearance(k, data)
	case ApprovalRequested:
		var read ApprovalAsk
		err := json.Unmarshal(data, &read)
		return &requestedData{ApprovalAsk: read}, err
	case ApprovalDecided:
		var read ApprovalOutcome
		err := json.Unmarshal(data, &read)
		return &decidedData{ApprovalOutcome: read}, err
	}
	d := emptyData(k)
	if d == nil {
		return nil, nil
	}
	return d, json.Unmarshal(data, d)
}

// emptyData gives the data type of the kinds that are read whole.
func emptyData(k Kind) factData {
	switch k {
	case RunCreated:
		return &createdData{Profile: profileOfOldLogs()}
	case VersionAdded:
		return &versionData{}
	case PlanSketched:
		return &sketchData{}
	case AttemptEnded, InputOrphan:
		return &endedData{}
	case OutcomeAttested:
		return &attestedData{}
	case InputUnknown:
		return &unknownData{}
	case InputTimer, InputCancel, InputPause, InputResume, InputPolicy, InputStart, InputReplace:
		return &inputData{}
	case BudgetWarned:
		return &warnedData{}
	case RunHalting, RunEnded:
		return &runEndedData{}
	}
	return nil
}
