package flagdtest

// ruler makes random rules.
type ruler struct {
	Random
	percentages bool
}

func apply(operator string, arguments ...any) object { return object{operator: arguments} }

// read reads an attribute, sometimes with a default.
func (r ruler) read(name string, otherwise any) object {
	path := "user." + name
	if r.IntN(8) == 0 {
		return object{"var": []any{path, otherwise}}
	}
	return object{"var": path}
}

func (r ruler) rule(depth int) any {
	if depth > 0 {
		switch r.IntN(9) {
		case 0:
			return apply("and", r.rule(depth-1), r.rule(depth-1))
		case 1:
			return apply("or", r.rule(depth-1), r.rule(depth-1))
		case 2:
			return apply("!", r.rule(depth-1))
		case 3:
			return apply("if", r.rule(depth-1), r.rule(depth-1), r.rule(depth-1))
		}
	}
	made := []func() any{r.text, r.text, r.number, r.number, r.boolean, r.list, r.version, r.missing, r.mixed}
	if r.percentages {
		made = append(made, r.percentage)
	}
	return made[r.IntN(len(made))]()
}

func (r ruler) equality() string { return one(r.Random, "==", "===", "!=", "!==") }

func (r ruler) text() any {
	plan, country, email := r.read("plan", "free"), r.read("country", "US"), r.read("email", "")
	return one(
		r.Random,
		apply(r.equality(), plan, one[any](r.Random, "pro", "", "7", nil)),
		apply(r.equality(), one(r.Random, "pro", "free"), plan),
		apply(r.equality(), plan, country),
		apply("in", country, []any{"US", "DE"}),
		apply("in", country, []any{"US", nil}),
		apply("in", plan, []any{""}),
		apply("in", plan, []any{"pro", object{"var": "tenant.plan"}}),
		apply("in", "@example.com", email),
		apply("in", country, "DE US"),
		apply("starts_with", email, one(r.Random, "ada", "")),
		apply("ends_with", email, "example.com"),
		apply(r.equality(), apply(one(r.Random, "starts_with", "ends_with"), email, "ada"), one[any](r.Random, true, false, nil, 0)),
		apply("in", apply("starts_with", email, "ada"), []any{false, true}),
		apply("starts_with", apply("cat", country, "-", plan), "DE-p"),
		apply("ends_with", apply("cat", country, plan), "pro"),
		apply(r.equality(), apply("cat", country, "-", plan), one(r.Random, "DE-pro", "-", "US-")),
		apply(r.equality(), apply("cat", "plan:", plan), one(r.Random, "plan:pro", "plan:", "x")),
		apply("cat", plan, country),
		apply(r.equality(), apply("substr", email, 0, 3), one(r.Random, "ada", "ad", "adam", "")),
		apply(r.equality(), apply("substr", email, -4), one(r.Random, ".com", "com", "")),
		apply("!!", plan),
		apply("!", email),
		apply("==", apply("if", r.read("beta", false), plan, country), "DE"),
		apply("==", apply("or", plan, country), "DE"),
		apply("==", apply("and", plan, country), "DE"),
		apply("==", object{"var": "tenant.plan"}, plan),
		apply("==", object{"var": "user.key"}, "user-7"),
		apply("==", object{"var": "targetingKey"}, "user-7"),
		apply("<", plan, "m"),
	)
}

func (r ruler) number() any {
	age, score, seats := r.read("age", 18), r.read("score", 1.5), object{"var": "tenant.seats"}
	compare := one(r.Random, "<", "<=", ">", ">=", "==", "!=", "===", "!==")
	limit := one[any](r.Random, 0, 18, 42, 0.5, -1)
	return one(
		r.Random,
		apply(compare, age, limit),
		apply(compare, limit, score),
		apply(compare, age, score),
		apply(compare, age, apply("+", seats, one(r.Random, 1, 0))),
		apply(compare, apply("-", age, score), limit),
		apply(compare, apply("*", score, 2), limit),
		apply(compare, apply("/", age, one(r.Random, 2, -4, 0)), limit),
		apply(compare, apply("%", age, one(r.Random, 2, -5)), limit),
		apply(compare, apply("max", age, score, 1), limit),
		apply(compare, apply("min", age, seats), limit),
		apply(compare, apply("-", age), limit),
		apply("<", 0, age, 42),
		apply("<=", 0, score, apply("+", age, 1)),
		apply("in", age, []any{0, 18, 42}),
		apply("in", score, []any{0.5, nil}),
		apply("+", age, score),
		apply("!!", age),
		apply("!", score),
		apply("==", apply("if", apply("<", age, 18), 1, 2), 1),
	)
}

func (r ruler) boolean() any {
	beta, staff := r.read("beta", true), r.read("staff", false)
	return one[any](
		r.Random,
		beta,
		apply(r.equality(), beta, one[any](r.Random, true, false, nil)),
		apply(r.equality(), beta, staff),
		apply("!", staff),
		apply(r.equality(), apply("!", beta), apply("==", r.read("plan", ""), "pro")),
		apply("in", beta, []any{true}),
		true,
		apply("==", 1, 1),
		apply("in", beta, []any{true, 1}),
	)
}

func (r ruler) list() any {
	groups, ids, element := r.read("groups", nil), r.read("ids", nil), object{"var": ""}
	loop := one(r.Random, "some", "all", "none")
	return one(
		r.Random,
		apply("in", "staff", groups),
		apply("in", r.read("plan", ""), groups),
		apply("in", 7, ids),
		apply(loop, groups, apply("==", element, one(r.Random, "staff", ""))),
		apply(loop, groups, apply("in", element, []any{"staff", "sales"})),
		apply(loop, ids, apply(one(r.Random, ">", "<=", "=="), element, one(r.Random, 0, 7))),
		apply(loop, ids, apply("and", element, apply("<", element, 50))),
		apply(loop, groups, true),
		apply("!!", groups),
		apply("!", ids),
		apply("some", []any{1, 2}, apply("==", element, 2)),
		apply("==", object{"var": "user.groups.0"}, "staff"),
	)
}

func (r ruler) version() any {
	operator := one(r.Random, "=", "!=", "<", "<=", ">", ">=", "^", "~")
	compared := apply("sem_ver", r.read("version", "2.0.0"), operator, one(r.Random, "2.0.0", "2.0.1", "v2.1", "2", "10.0.0"))
	return one[any](r.Random, compared, compared, compared, apply(r.equality(), compared, one[any](r.Random, true, false, nil)))
}

func (r ruler) missing() any {
	return one(
		r.Random,
		apply("missing", "user.plan"),
		apply("missing", "user.age", "tenant.plan"),
		apply("!", apply("missing", "user.key")),
		apply("missing_some", 1, []any{"user.plan", "user.beta"}),
		apply("missing_some", 2, []any{"user.plan", "user.beta"}),
	)
}

// mixed returns rules of imports, whose lists have a value in several types.
func (r ruler) mixed() any {
	return one(
		r.Random,
		apply("in", object{"var": "user.plan"}, []any{"7", 7}),
		apply("in", object{"var": "user.plan"}, []any{"true", true, ""}),
		apply("merge", r.read("groups", nil), []any{1}),
		apply("==", apply("+", r.read("age", 0)), r.read("age", 0)),
		apply("===", apply("cat", r.read("plan", "")), r.read("plan", "")),
	)
}

func (r ruler) percentage() any {
	key := apply("cat", object{"var": "$flagd.flagKey"}, r.read("email", ""))
	return one[any](
		r.Random,
		apply("fractional", []any{"on", 30}, []any{"", 70}),
		apply("fractional", []any{true, 30}, []any{false, 70}),
		apply("==", apply("fractional", []any{"a", 1}, []any{"b", 2}, []any{"c", 1}), one(r.Random, "a", "b")),
		apply("in", apply("fractional", []any{"a"}, []any{"b"}, []any{"c"}), []any{"a", "c"}),
		apply("==", apply("fractional", key, []any{"a", 50}, []any{"b", 50}), "a"),
		apply("==", apply("fractional", r.read("country", "US"), []any{"a", 50}, []any{"b", 50}), r.read("plan", "")),
		apply("==", apply("fractional", []any{1, 50}, []any{2, 50}), r.read("age", 1)),
		apply("fractional", []any{"a", 1}),
		apply("==", apply("fractional", []any{"a", 0}), nil),
	)
}
