package plan

import (
	"time"

	"sluice/policy"
)

// Author says who wrote a plan: it decides what policy findings do (P12) and
// how literals are labelled (P20). Anything else counts as a person.
type Author string

// The closed set of authors.
const (
	Person  Author = "person"
	Builtin Author = "builtin"
	Model   Author = "model"
)

// Env is everything besides the plan that compiling looks at.
type Env struct {
	Catalog   *Catalog
	Policy    *policy.Policy // nil: C06, C08, C09 and C11 are not checked
	Scopes    []string
	Intent    policy.Rank
	Requester string
	Limits    Limits
	Author    Author
}

// Limits are the budgets a plan must fit (C07, C16); zero means not limited.
type Limits struct {
	Steps       int64
	ToolCalls   int64
	SideEffects int64
	Wall        time.Duration // executing; a plan has no lower bound of it
}
