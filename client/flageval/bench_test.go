package flageval

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

const benchContext = `{"user":{"key":"u-1234","email":"ada@example.com","plan":"pro","age":36,"country":"NL"},"service":{"key":"checkout"}}`

func benchLogic() map[string]string {
	return map[string]string{
		"equal":      `{"==":[{"var":"user.plan"},"pro"]}`,
		"conditions": `{"and":[{"==":[{"var":"user.plan"},"pro"]},{">=":[{"var":"user.age"},18]},{"in":[{"var":"user.country"},["DE","FR","BE","AT","NL"]]}]}`,
		"rollout":    `{"fractional":[[true,99],[false,1]]}`,
	}
}

// benchLive is a thousand flags with one rule each.
func benchLive(logic string) *Live {
	flags := make([]*Flag, 1000)
	for i := range flags {
		flags[i] = Compile(Definition{
			Key: fmt.Sprintf("flag-%d", i), Type: Boolean, Default: json.RawMessage("false"),
			Environments: map[string]Environment{"production": {Enabled: true, Rules: []Rule{{Logic: json.RawMessage(logic), Value: json.RawMessage("true")}}}},
		})
	}
	live := new(Live)
	live.Store(NewView("production", flags...))
	return live
}

func BenchmarkView_Read(b *testing.B) {
	context, err := jsonlogic.Parse([]byte(benchContext))
	if err != nil {
		b.Fatal(err)
	}
	for name, logic := range benchLogic() {
		live := benchLive(logic)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if value, _ := live.Load().Bool("flag-500", context, false); !value {
					b.Fatal("the rule must match")
				}
			}
		})
	}
}
