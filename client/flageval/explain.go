package flageval

import "github.com/signalbox/signalbox/client/jsonlogic"

// Explanation is how an evaluation went, to be shown as JSON.
type Explanation struct {
	Environment string `json:"environment"`
	// Configured is false for an environment that the flag does not know.
	Configured bool `json:"configured"`
	// Enabled is the environment's switch.
	Enabled bool `json:"enabled"`
	// Rules are all rules of the environment in order, also those that were not reached.
	Rules []RuleExplanation `json:"rules"`
}

// RuleExplanation is how one rule went.
type RuleExplanation struct {
	Index       int    `json:"index"`
	Description string `json:"description,omitempty"`
	// Evaluated is false for rules behind the one that matched, in a disabled environment, and with a problem.
	Evaluated bool `json:"evaluated"`
	Matched   bool `json:"matched"`
	// Problem is why the rule can never match.
	Problem string `json:"problem,omitempty"`
	// Logic is the rule's tree with a result at every node.
	Logic *jsonlogic.Explanation `json:"logic,omitempty"`
	// Truncated marks a rule whose tree was left out because those before it took all the room. The rule that matched
	// always has one.
	Truncated bool `json:"truncated,omitempty"`
}

// explained is how many explanations of one rule an evaluation has room for.
const explained = 4

// Explain is Evaluate with every step. It is for people who ask why, not for serving.
func (f *Flag) Explain(environment string, context jsonlogic.Value) (Evaluation, *Explanation) {
	p := f.plan(environment)
	out := &Explanation{Environment: environment, Enabled: p.enabled, Configured: p != f.absent, Rules: []RuleExplanation{}}
	decided, budget := NoRule, jsonlogic.NewBudget(explained)
	var evaluation Evaluation
	for i := range p.rules {
		r := &p.rules[i]
		step := RuleExplanation{Index: i, Description: r.description, Problem: r.problem}
		if p.enabled && decided == NoRule && r.logic != nil {
			tree, d := r.logic.ExplainWithin(budget, context)
			if tree == nil && d.Matched {
				tree, _ = r.logic.Explain(context)
			}
			step.Evaluated, step.Matched, step.Logic, step.Truncated = true, d.Matched, tree, tree == nil
			if d.Matched {
				decided, evaluation = i, r.serve(i, d)
			}
		}
		out.Rules = append(out.Rules, step)
	}
	if decided == NoRule {
		evaluation = p.serveRest()
	}
	return evaluation, out
}
