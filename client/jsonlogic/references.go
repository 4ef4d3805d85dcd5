package jsonlogic

// Reference is one place where a rule reads its data. Reads of a loop's current element are not listed.
type Reference struct {
	// Path is the dotted name; "" is the whole data.
	Path string `json:"path"`
	// Dynamic marks a name that the rule computes; then Path is empty.
	Dynamic bool `json:"dynamic,omitempty"`
	// Operator is var, missing, missing_some, or fractional for the targeting key.
	Operator string `json:"operator"`
	// Pointer is the operator's JSON pointer in the rule.
	Pointer string `json:"pointer"`
}

// Comparison is one place where a rule compares a variable with a literal: by ==, ===, != or !==, or by `in` with a list
// of literals.
type Comparison struct {
	Path     string `json:"path"`
	Operator string `json:"operator"`
	Literal  Value  `json:"literal"`
	Pointer  string `json:"pointer"`
}

// References lists the places where the rule reads data, in the order of the rule.
func (r *Rule) References() []Reference {
	var list []Reference
	r.root.visit(false, func(n *node, scoped bool) {
		switch {
		case n.op == "fractional":
			list = append(list, n.targetingReferences()...)
		case scoped:
		case n.op == "var":
			list = append(list, n.reference(n.name()))
		case n.op == "missing":
			list = append(list, n.nameReferences(n.args)...)
		case n.op == "missing_some" && len(n.args) > 1:
			list = append(list, n.nameReferences(n.args[1:2])...)
		}
	})
	return list
}

// Comparisons lists the places where the rule compares a variable with a literal, in the order of the rule.
func (r *Rule) Comparisons() []Comparison {
	var list []Comparison
	r.root.visit(false, func(n *node, scoped bool) {
		if scoped || len(n.args) < 2 {
			return
		}
		switch n.op {
		case "==", "===", "!=", "!==":
			list = append(list, n.comparisons(n.args[0], n.args[1])...)
			list = append(list, n.comparisons(n.args[1], n.args[0])...)
		case "in":
			if n.args[1].kind == arrayNode {
				list = append(list, n.comparisons(n.args[0], n.args[1].args...)...)
			}
		}
	})
	return list
}

// visit calls see for n and all its descendants. scoped reports whether the node is in a loop's body, where `var` reads
// the current element.
func (n *node) visit(scoped bool, see func(n *node, scoped bool)) {
	see(n, scoped)
	for i, arg := range n.args {
		arg.visit(scoped || n.isBody(i), see)
	}
}

// name returns the first argument of a `var`; nil is the whole data.
func (n *node) name() *node {
	if len(n.args) == 0 {
		return nil
	}
	return n.args[0]
}

func (n *node) reference(name *node) Reference {
	ref := Reference{Operator: n.op, Pointer: n.pointer()}
	switch {
	case name == nil:
	case name.kind != literalNode:
		ref.Dynamic = true
	case name.value.kind > KindNull:
		ref.Path = toText(name.value)
	}
	return ref
}

// nameReferences returns the references of `missing` and `missing_some`. names holds names, or one list of names. A
// name can also be a list [name, default].
func (n *node) nameReferences(names []*node) []Reference {
	if len(names) > 0 && names[0].kind == arrayNode {
		names = names[0].args
	}
	var list []Reference
	for _, name := range names {
		if name.kind == arrayNode {
			name = name.name()
		}
		list = append(list, n.reference(name))
	}
	return list
}

// targetingReferences returns the references of `fractional`: the targeting key, unless the first argument is a string.
func (n *node) targetingReferences() []Reference {
	if len(n.args) == 0 || n.args[0].kind == literalNode && n.args[0].value.kind == KindString {
		return nil
	}
	targeting, user := n.reference(nil), n.reference(nil)
	targeting.Path, user.Path = targetingKeyName, userName+"."+keyName
	return []Reference{targeting, user}
}

// comparisons returns the comparisons of variable with each scalar literal in others.
func (n *node) comparisons(variable *node, others ...*node) []Comparison {
	p, static := staticPath(variable)
	if !static {
		return nil
	}
	var list []Comparison
	for _, other := range others {
		if other.kind == literalNode && other.value.kind < KindArray {
			c := Comparison{Path: p.name(), Operator: n.op, Literal: other.value, Pointer: n.pointer()}
			list = append(list, c)
		}
	}
	return list
}
