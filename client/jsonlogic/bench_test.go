package jsonlogic

import "testing"

// benchRules returns the rules that the benchmarks of the project compare with other engines.
func benchRules() map[string]string {
	return map[string]string{
		"equal":      `{"==":[{"var":"user.plan"},"pro"]}`,
		"conditions": `{"and":[{"==":[{"var":"user.plan"},"pro"]},{">=":[{"var":"user.age"},18]},{"in":[{"var":"user.country"},["DE","FR","NL","BE","AT"]]}]}`,
		"branches": `{"if":[{"==":[{"var":"user.plan"},"free"]},"a",{"==":[{"var":"user.plan"},"basic"]},"b",{"==":[{"var":"user.plan"},"team"]},"c",
			{"==":[{"var":"user.plan"},"pro"]},"d","e"]}`,
		"rollout": `{"fractional":[[true,90],[false,10]]}`,
		"roles":   `{"some":[{"var":"user.roles"},{"in":[{"var":""},["admin","owner"]]}]}`,
		"version": `{"sem_ver":[{"var":"app.version"},">=","2.3.0"]}`,
		"email":   `{"ends_with":[{"var":"user.email"},"@example.com"]}`,
	}
}

const benchData = `{"user":{"key":"u-1234","email":"ada@example.com","plan":"pro","age":36,"country":"NL","roles":["dev","admin"]},
	"app":{"version":"2.10.1"},"service":{"key":"checkout"}}`

func BenchmarkRules(b *testing.B) {
	data, err := Parse([]byte(benchData))
	if err != nil {
		b.Fatal(err)
	}
	for name, source := range benchRules() {
		rule, err := Compile([]byte(source), FlagKey("checkout-v2"))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/decide", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if d := rule.Decide(data); !d.Matched {
					b.Fatal("the rule must match")
				}
			}
		})
		b.Run(name+"/evaluate", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v, err := rule.Evaluate(data); err != nil || !v.Truthy() {
					b.Fatal("the rule must match")
				}
			}
		})
	}
}

// BenchmarkParse parses a context.
func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	text := []byte(benchData)
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompile compiles a rule.
func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	text := []byte(benchRules()["conditions"])
	for b.Loop() {
		if _, err := Compile(text); err != nil {
			b.Fatal(err)
		}
	}
}
