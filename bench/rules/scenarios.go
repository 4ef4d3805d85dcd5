package rules

import "encoding/json"

// scenario is one rule, written for each engine. It matches the user in match and none of the users in misses.
type scenario struct {
	name   string
	logic  string   // JSON Logic
	expr   string   // expr-lang
	rules  []clause // for the engines whose rules are lists of conditions: one clause per rule, all of which must hold
	misses []User
}

type clause []condition

// condition compares an attribute of the user with values; equality holds for any of them.
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

// Env is the context for expr, which is fastest on a struct.
type Env struct {
	User User `expr:"user"`
}

// User is the user whom the rules test.
type User struct {
	Key     string  `expr:"key" json:"key"`
	Email   string  `expr:"email" json:"email"`
	Plan    string  `expr:"plan" json:"plan"`
	Age     float64 `expr:"age" json:"age"`
	Country string  `expr:"country" json:"country"`
}

func match() User {
	return User{Key: "u-1234", Email: "ada@example.com", Plan: "pro", Age: 36, Country: "NL"}
}

// but returns the matching user with a change.
func but(change func(*User)) User {
	u := match()
	change(&u)
	return u
}

// contextJSON returns a context with the user and further members.
func contextJSON(u User) []byte {
	text, _ := json.Marshal(map[string]any{"user": u, "service": map[string]any{"key": "checkout"}})
	return text
}

func scenarios() []scenario {
	plan := func(name string) condition { return condition{attribute: "plan", values: []any{name}} }
	otherPlan := but(func(u *User) { u.Plan = "enterprise" })
	return []scenario{
		{
			name:  "==",
			logic: `{"==": [{"var": "user.plan"}, "pro"]}`,
			expr:  `user.plan == "pro"`,
			rules: []clause{{plan("pro")}}, misses: []User{otherPlan},
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
			misses: []User{otherPlan, but(func(u *User) { u.Age = 17 }), but(func(u *User) { u.Country = "US" })},
		},
		{
			name: "five branches",
			logic: `{"if": [{"==": [{"var": "user.plan"}, "free"]}, "a", {"==": [{"var": "user.plan"}, "trial"]}, "b",
				{"==": [{"var": "user.plan"}, "basic"]}, "c", {"==": [{"var": "user.plan"}, "team"]}, "d",
				{"==": [{"var": "user.plan"}, "pro"]}, "e", null]}`,
			expr: `user.plan == "free" ? "a" : user.plan == "trial" ? "b" : user.plan == "basic" ? "c" : ` +
				`user.plan == "team" ? "d" : user.plan == "pro" ? "e" : ""`,
			rules:  []clause{{plan("free")}, {plan("trial")}, {plan("basic")}, {plan("team")}, {plan("pro")}},
			misses: []User{otherPlan},
		},
	}
}
