package flageval

import "github.com/signalbox/signalbox/client/jsonlogic"

// Explanation shows the steps of an evaluation as JSON.
type Explanation struct {
	Environment string `json:"environment"`
	// Configured reports whether the flag has a configuration for the environment.
	Configured bool `json:"configured"`
	Enabled    bool `json:"enabled"`
	// Rules are all rules of the environment in order, including those that were not evaluated.
	Rules []RuleExplanation `json:"rules"`
}

// RuleExplanation shows the evaluation of one rule.
type RuleExplanation struct {
	Index       int    `json:"index"`
	Description string `json:"description,omitempty"`
	// Evaluated is false for rules after the match, rules of a disabled environment, and rules with a problem.
	Evaluated bool `json:"evaluated"`
	Matched   bool `json:"matched"`
	// Problem is why the rule can never match.
	Problem string `json:"problem,omitempty"`
	// Logic is the rule's tree with a result at every node.
	Logic *jsonlogic.Explanation `json:"logic,omitempty"`
	// Truncated reports that the tree did not fit in the remaining budget. A rule that matched always has its tree.
	Truncated bool `json:"truncated,omitempty"`
}

// budgetRules times the budget of one rule is the budget of an explanation.
const budgetRules = 4

// Explain evaluates like Evaluate and also returns every step. It is slow: use it to explain a value, not to serve it.
func (f *Flag) Explain(environment string, context jsonlogic.Value) (Evaluation, *Explanation) {
	return f.ExplainWithin(nil, environment, context)
}

// ExplainWithin is Explain with steps for the rules whose trees do not fit in the explanation.
func (f *Flag) ExplainWithin(steps *jsonlogic.Steps, environment string, context jsonlogic.Value) (Evaluation, *Explanation) {
	p := f.plan(environment)
	out := &Explanation{Environment: environment, Enabled: p.enabled, Configured: p != f.absent, Rules: []RuleExplanation{}}
	decided, budget := NoRule, jsonlogic.NewBudget(budgetRules).WithSteps(steps)
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
			switch {
			case d.Matched:
				decided, evaluation = i, r.serve(i, d)
			case d.Err == jsonlogic.ErrSteps: //nolint:errorlint // it is never wrapped
				return failed(General), out
			}
		}
		out.Rules = append(out.Rules, step)
	}
	if decided == NoRule {
		evaluation = p.serveFallback()
	}
	return evaluation, out
}
