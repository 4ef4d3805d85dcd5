package flageval

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// Reason is why a flag has its value, in OpenFeature's terms.
type Reason uint8

// The reasons.
const (
	Error          Reason = iota // nothing could be served
	Static                       // the environment has no rules for the flag
	TargetingMatch               // a rule matched
	Split                        // a rule matched by a `fractional` bucket
	Default                      // no rule matched
	Disabled                     // the flag is switched off in the environment
)

//nolint:gochecknoglobals // nothing changes them
var (
	reasonNames = [...]string{Error: "ERROR", Static: "STATIC", TargetingMatch: "TARGETING_MATCH", Split: "SPLIT", Default: "DEFAULT",
		Disabled: "DISABLED"}
	codeNames = [...]string{None: "", FlagNotFound: "FLAG_NOT_FOUND", TypeMismatch: "TYPE_MISMATCH", ParseError: "PARSE_ERROR",
		General: "GENERAL"}
)

// String returns the reason's name in JSON.
func (r Reason) String() string { return reasonNames[r] }

// MarshalText returns the reason's name.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses the reason's name.
func (r *Reason) UnmarshalText(text []byte) error {
	i := slices.Index(reasonNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("%q is not the reason of an evaluation", text)
	}
	*r = Reason(i)
	return nil
}

// Code is why nothing was served, in OpenFeature's terms.
type Code uint8

// The error codes.
const (
	None         Code = iota
	FlagNotFound      // no such flag
	TypeMismatch      // the flag has another type than requested
	ParseError        // the flag has no usable default
	General           // the steps of EvaluateWithin were used up
)

// String returns the code's name in JSON; None is "".
func (c Code) String() string { return codeNames[c] }

// MarshalText returns the code's name.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// NoRule is the Rule of an evaluation in which no rule matched.
const NoRule = -1

// Evaluation is a flag's value for a context, and why.
type Evaluation struct {
	served             *served
	Rule               int // index of the rule that matched, or NoRule
	Reason             Reason
	Code               Code // None unless the reason is Error
	EnvironmentDefault bool // the value is the default of the environment, not of the flag
}

// Raw returns the value's JSON text as it was configured, nil when nothing was served. It must not be changed.
func (e Evaluation) Raw() json.RawMessage {
	if e.served == nil {
		return nil
	}
	return e.served.raw
}

// Bool returns the value of a BOOLEAN flag, and false for a flag of another type.
func (e Evaluation) Bool() (value, ok bool) {
	if e.served == nil || e.served.typ != Boolean {
		return false, false
	}
	return e.served.boolean, true
}

// Text returns the value of a STRING flag, and false for a flag of another type.
func (e Evaluation) Text() (value string, ok bool) {
	if e.served == nil || e.served.typ != String {
		return "", false
	}
	return e.served.text, true
}

// Number returns the value of a NUMERIC flag, and false for a flag of another type. Raw has the exact digits.
func (e Evaluation) Number() (value float64, ok bool) {
	if e.served == nil || e.served.typ != Numeric {
		return 0, false
	}
	return e.served.number, true
}

// JSON returns the text of a JSON flag's value, and false for a flag of another type. The text must not be changed.
func (e Evaluation) JSON() (value json.RawMessage, ok bool) {
	if e.served == nil || e.served.typ != JSON {
		return nil, false
	}
	return e.served.raw, true
}

func failed(code Code) Evaluation { return Evaluation{Rule: NoRule, Code: code} }

func (p *plan) evaluate(steps *jsonlogic.Steps, context jsonlogic.Value) Evaluation {
	if p.enabled {
		for i := range p.rules {
			r := &p.rules[i]
			if r.logic == nil {
				continue
			}
			d := r.logic.DecideWithin(steps, context)
			switch {
			case d.Matched:
				return r.serve(i, d)
			case d.Err == jsonlogic.ErrSteps: //nolint:errorlint // it is never wrapped
				return failed(General)
			}
		}
	}
	return p.serveFallback()
}

func (r *rule) serve(index int, d jsonlogic.Decision) Evaluation {
	e := Evaluation{served: r.value, Rule: index, Reason: TargetingMatch}
	if d.Split {
		e.Reason = Split
	}
	return e
}

// serveFallback returns the evaluation when no rule matches.
func (p *plan) serveFallback() Evaluation {
	reason := Default
	switch {
	case p.fallback == nil:
		return failed(ParseError)
	case !p.enabled:
		reason = Disabled
	case len(p.rules) == 0:
		reason = Static
	}
	return Evaluation{served: p.fallback, Rule: NoRule, Reason: reason, EnvironmentDefault: p.own}
}
