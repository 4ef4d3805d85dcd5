package flags

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/client/flageval"
)

// TestFlag_Decimals: where one number that a flag may serve has a fraction, all are sent with one.
func TestFlag_Decimals(t *testing.T) {
	t.Parallel()
	number := func(text string) json.RawMessage { return json.RawMessage(text) }
	in := func(base string, rules ...string) map[string]Environment {
		environment := Environment{Enabled: true}
		if base != "" {
			environment.Default = number(base)
		}
		for _, value := range rules {
			environment.Rules = append(environment.Rules, Rule{Logic: number(`{}`), Value: number(value)})
		}
		return map[string]Environment{"qa": environment, "other": {Enabled: true}}
	}
	for name, c := range map[string]struct {
		flag Flag
		want map[string]string // what differs from how it is configured
	}{
		"whole numbers":                   {Flag{Default: number("1"), Environments: in("2", "3")}, nil},
		"whole, however they are spelled": {Flag{Default: number("1.0"), Environments: in("1e2", "2")}, nil},
		"whole with a negative exponent":  {Flag{Default: number("100e-2"), Environments: in("2")}, nil},
		"a fraction in the default":       {Flag{Default: number("0.5"), Environments: in("2", "-3")}, map[string]string{"2": "2.0", "-3": "-3.0"}},
		"in an environment":               {Flag{Default: number("1"), Environments: in("1.50", "0")}, map[string]string{"1": "1.0", "0": "0.0"}},
		"in a rule":                       {Flag{Default: number("1"), Environments: in("", "0.5")}, map[string]string{"1": "1.0"}},
		"in a value nobody serves":        {Flag{Default: number("1"), Values: []Choice{{Value: number("1")}, {Value: number("2.5")}}}, map[string]string{"1": "1.0"}},
		"by its exponent":                 {Flag{Default: number("1"), Environments: in("5e-1")}, map[string]string{"1": "1.0", "5e-1": "5.0e-1"}},
		"numbers of any size":             {Flag{Default: number("0.1"), Environments: in("1E+300", "12345678901234567890123", "-0", "1.0e2")}, map[string]string{"1E+300": "1.0E+300", "12345678901234567890123": "12345678901234567890123.0", "-0": "-0.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.flag.Type = flageval.Numeric
			decimals := c.flag.decimals()
			if len(decimals) != len(c.want) {
				t.Errorf("got %s", decimals)
			}
			for from, to := range c.want {
				if got := decimals.of(number(from)); string(got) != to || !json.Valid(got) {
					t.Errorf("%s is sent as %s, want %s", from, got, to)
				}
			}
		})
	}
	text := Flag{Type: flageval.JSON, Default: number("1"), Environments: in("0.5")}
	if text.decimals() != nil {
		t.Error("numbers of a JSON flag are changed")
	}
}
