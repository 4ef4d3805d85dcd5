package jsonlogic

import (
	"fmt"
	"strconv"
	"strings"
)

// The limits of a rule. Depth counts operations, arrays and objects inside each other, but not the list that holds an
// operation's arguments; nodes are operations, arrays, objects and scalars, again without argument lists.
const (
	MaxDepth  = 64
	MaxNodes  = 2000
	MaxSource = 64 << 10
)

// maxRuleNesting is what the parser allows: a rule of MaxDepth has at most two brackets a level, and what is deeper
// than that should be refused with the pointer that only the tree knows.
const maxRuleNesting = MaxDataDepth

type nodeKind uint8

const (
	literalNode nodeKind = iota
	arrayNode
	operationNode
)

// node is one place of the rule.
type node struct {
	kind     nodeKind
	op       string // an operation's operator
	operator operator
	args     []*node // an operation's arguments, an array's elements
	value    Value   // a literal's value
	size     int     // nodes in this subtree, itself included
	parent   *node
	step     string // from the parent to here, as the end of a JSON pointer
}

// pointer returns the place of n in the rule.
func (n *node) pointer() string {
	if n.parent == nil {
		return ""
	}
	return n.parent.pointer() + n.step
}

// builder turns parsed JSON into nodes and counts.
type builder struct {
	nodes int
}

func (b *builder) build(v Value, parent *node, step string, depth int) (*node, error) {
	n := &node{parent: parent, step: step, value: v}
	before := b.nodes
	err := b.fill(n, depth)
	n.size = b.nodes - before
	return n, err
}

func (b *builder) fill(n *node, depth int) error {
	if err := b.admit(n, depth); err != nil {
		return err
	}
	members := n.value.Members()
	switch {
	case n.value.kind == KindArray:
		n.kind = arrayNode
		return b.arguments(n, n.value.Items(), "", depth)
	case len(members) == 1:
		return b.operation(n, members[0], depth)
	}
	return b.data(n, depth)
}

// admit counts one more node at a depth and holds it against the limits.
func (b *builder) admit(n *node, depth int) error {
	b.nodes++
	if b.nodes > MaxNodes {
		return refuse(CodeTooManyNodes, n.pointer(), fmt.Sprintf("a rule may have at most %d nodes", MaxNodes))
	}
	if n.value.kind >= KindArray && depth >= MaxDepth {
		return refuse(CodeTooDeep, n.pointer(), fmt.Sprintf("a rule may be at most %d levels deep", MaxDepth))
	}
	return nil
}

// operation reads an object with one key. A lone argument need not stand in a list.
func (b *builder) operation(n *node, m Member, depth int) error {
	n.kind, n.op = operationNode, m.Key
	step := "/" + escapePointer(n.op)
	var known bool
	if n.operator, known = operators[n.op]; !known {
		return refuse(CodeUnknownOperator, n.pointer()+step, "unknown operator "+strconv.Quote(n.op))
	}
	if m.Value.kind == KindArray {
		return b.arguments(n, m.Value.Items(), step, depth)
	}
	arg, err := b.build(m.Value, n, step, depth+1)
	n.args = []*node{arg}
	return err
}

func (b *builder) arguments(n *node, items []Value, step string, depth int) error {
	n.args = make([]*node, len(items))
	for i, item := range items {
		arg, err := b.build(item, n, step+"/"+strconv.Itoa(i), depth+1)
		if err != nil {
			return err
		}
		n.args[i] = arg
	}
	return nil
}

// data walks what stays a literal, whatever is inside it: its size counts all the same.
func (b *builder) data(n *node, depth int) error {
	for i, item := range n.value.Items() {
		if err := b.datum(item, n, "/"+strconv.Itoa(i), depth+1); err != nil {
			return err
		}
	}
	for _, m := range n.value.Members() {
		if err := b.datum(m.Value, n, "/"+escapePointer(m.Key), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) datum(v Value, parent *node, step string, depth int) error {
	n := &node{parent: parent, step: step, value: v}
	if err := b.admit(n, depth); err != nil {
		return err
	}
	return b.data(n, depth)
}

func refuse(code Code, pointer, detail string) error {
	return &Error{Code: code, Pointer: pointer, Detail: detail}
}

// escapePointer escapes a key for a JSON pointer (RFC 6901).
func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
