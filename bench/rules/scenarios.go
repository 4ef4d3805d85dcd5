package rules

// scenario is one rule, spelled for each engine, that matches the context.
type scenario struct {
	name  string
	logic string   // JSON Logic
	expr  string   // expr-lang
	rules []clause // for the engines whose rules are lists of clauses: one inner list per rule, all of which must hold
}

type clause []condition

// condition compares an attribute of the user with values: any of them for equality.
type condition struct {
	attribute string
	operator  operator
	values    []any
}

type operator int

const (
	oneOf operator = iota
	atLeast
)

// The context that every engine sees.
const contextJSON = `{
	"user": {"key": "u-1234", "email": "ada@example.com", "plan": "pro", "age": 36, "country": "NL"},
	"service": {"key": "checkout"}
}`

// Env is the context for expr, which is fastest on a struct.
type Env struct {
	User User `expr:"user"`
}

// User is the part of the context that the rules read.
type User struct {
	Key     string  `expr:"key"`
	Email   string  `expr:"email"`
	Plan    string  `expr:"plan"`
	Age     float64 `expr:"age"`
	Country string  `expr:"country"`
}

func env() Env {
	return Env{User: User{Key: "u-1234", Email: "ada@example.com", Plan: "pro", Age: 36, Country: "NL"}}
}

func scenarios() []scenario {
	plan := func(name string) condition { return condition{attribute: "plan", values: []any{name}} }
	return []scenario{
		{
			name:  "==",
			logic: `{"==": [{"var": "user.plan"}, "pro"]}`,
			expr:  `user.plan == "pro"`,
			rules: []clause{{plan("pro")}},
		},
		{
			name: "three conditions",
			logic: `{"and": [{"==": [{"var": "user.plan"}, "pro"]}, {">=": [{"var": "user.age"}, 18]},
				{"in": [{"var": "user.country"}, ["DE", "FR", "BE", "AT", "NL"]]}]}`,
			expr: `user.plan == "pro" && user.age >= 18 && user.country in ["DE", "FR", "BE", "AT", "NL"]`,
			rules: []clause{{
				plan("pro"),
				{attribute: "age", operator: atLeast, values: []any{18.0}},
				{attribute: "country", values: []any{"DE", "FR", "BE", "AT", "NL"}},
			}},
		},
		{
			name: "five branches",
			logic: `{"if": [{"==": [{"var": "user.plan"}, "free"]}, "a", {"==": [{"var": "user.plan"}, "trial"]}, "b",
				{"==": [{"var": "user.plan"}, "basic"]}, "c", {"==": [{"var": "user.plan"}, "team"]}, "d",
				{"==": [{"var": "user.plan"}, "pro"]}, "e", null]}`,
			expr: `user.plan == "free" ? "a" : user.plan == "trial" ? "b" : user.plan == "basic" ? "c" : ` +
				`user.plan == "team" ? "d" : user.plan == "pro" ? "e" : ""`,
			rules: []clause{{plan("free")}, {plan("trial")}, {plan("basic")}, {plan("team")}, {plan("pro")}},
		},
	}
}
