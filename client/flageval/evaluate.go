package flageval

import (
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// Reason is why a flag has the value it has, in OpenFeature's terms.
type Reason uint8

// The reasons. The zero Reason is that of an evaluation that served nothing.
const (
	Error          Reason = iota // nothing could be served
	Static                       // the environment has no rules for the flag
	TargetingMatch               // a rule matched
	Split                        // a rule matched by a bucket of `fractional`
	Default                      // no rule matched
	Disabled                     // the flag is switched off in the environment
)

// String returns the reason's name on the wire.
func (r Reason) String() string {
	switch r {
	case Static:
		return "STATIC"
	case TargetingMatch:
		return "TARGETING_MATCH"
	case Split:
		return "SPLIT"
	case Default:
		return "DEFAULT"
	case Disabled:
		return "DISABLED"
	}
	return "ERROR"
}

// MarshalText writes the reason's name, also in JSON.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the reason's name, also in JSON.
func (r *Reason) UnmarshalText(text []byte) error {
	for known := Error; known <= Disabled; known++ {
		if known.String() == string(text) {
			*r = known
			return nil
		}
	}
	return fmt.Errorf("%q is no reason of an evaluation", text)
}

// Code is why nothing was served, in OpenFeature's terms.
type Code uint8

// The error codes.
const (
	None         Code = iota
	FlagNotFound      // no such flag
	TypeMismatch      // the flag has another type than the reader asked for
	ParseError        // the flag's definition has no usable default
)

// String returns the code's name on the wire, "" for None.
func (c Code) String() string {
	switch c {
	case FlagNotFound:
		return "FLAG_NOT_FOUND"
	case TypeMismatch:
		return "TYPE_MISMATCH"
	case ParseError:
		return "PARSE_ERROR"
	}
	return ""
}

// MarshalText writes the code's name, also in JSON.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// NoRule is the Rule of an evaluation that no rule decided.
const NoRule = -1

// Evaluation is a decision: a value, and how it came about.
type Evaluation struct {
	served *served
	Rule   int // index of the rule that decided, or NoRule
	Reason Reason
	Code   Code // None unless the reason is Error
}

// Raw returns the value's JSON text as the flag's owner wrote it, not to be changed; nil when nothing was served.
func (e Evaluation) Raw() json.RawMessage {
	if e.served == nil {
		return nil
	}
	return e.served.raw
}

// Bool returns the value of a BOOLEAN flag, and whether it is one.
func (e Evaluation) Bool() (value, ok bool) {
	if e.served == nil || e.served.typ != Boolean {
		return false, false
	}
	return e.served.boolean, true
}

// Text returns the value of a STRING flag, and whether it is one.
func (e Evaluation) Text() (value string, ok bool) {
	if e.served == nil || e.served.typ != String {
		return "", false
	}
	return e.served.text, true
}

// Number returns the value of a NUMERIC flag, and whether it is one. Raw has digits that a float64 may not hold.
func (e Evaluation) Number() (value float64, ok bool) {
	if e.served == nil || e.served.typ != Numeric {
		return 0, false
	}
	return e.served.number, true
}

// JSON returns the text of a JSON flag's value, not to be changed, and whether it is one.
func (e Evaluation) JSON() (value json.RawMessage, ok bool) {
	if e.served == nil || e.served.typ != JSON {
		return nil, false
	}
	return e.served.raw, true
}

func failed(code Code) Evaluation { return Evaluation{Rule: NoRule, Code: code} }

// mismatch is what a reader of another type gets: the reason why there was no value stays.
func (e Evaluation) mismatch() Evaluation {
	if e.Code != None {
		return e
	}
	return failed(TypeMismatch)
}

func (p *plan) evaluate(context jsonlogic.Value) Evaluation {
	if p.enabled {
		for i := range p.rules {
			r := &p.rules[i]
			if r.logic == nil {
				continue
			}
			if d := r.logic.Decide(context); d.Matched {
				return r.serve(i, d)
			}
		}
	}
	return p.serveRest()
}

func (r *rule) serve(index int, d jsonlogic.Decision) Evaluation {
	e := Evaluation{served: r.value, Rule: index, Reason: TargetingMatch}
	if d.Split {
		e.Reason = Split
	}
	return e
}

// serveRest is what happens when no rule decides.
func (p *plan) serveRest() Evaluation {
	switch {
	case p.rest == nil:
		return failed(ParseError)
	case !p.enabled:
		return Evaluation{served: p.rest, Rule: NoRule, Reason: Disabled}
	case len(p.rules) == 0:
		return Evaluation{served: p.rest, Rule: NoRule, Reason: Static}
	}
	return Evaluation{served: p.rest, Rule: NoRule, Reason: Default}
}
