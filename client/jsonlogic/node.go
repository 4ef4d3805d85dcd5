package jsonlogic

import (
	"fmt"
	"strconv"
	"strings"
)

// The limits of a rule. Depth counts nested operations, arrays and objects; nodes are operations, arrays, objects and
// scalars. The list around an operation's arguments adds neither a level nor a node.
const (
	MaxDepth  = 64
	MaxNodes  = 2000
	MaxSource = 64 << 10
)

type nodeKind uint8

const (
	literalNode nodeKind = iota
	arrayNode
	operationNode
)

// node is one operation, array or literal of a rule.
type node struct {
	kind     nodeKind
	op       string // an operation's operator
	operator operator
	args     []*node // an operation's arguments, an array's elements
	value    Value   // a literal's value
	size     int     // nodes in this subtree, itself included
	parent   *node
	step     string // the part of the JSON pointer after the parent's pointer
}

// pointer returns the JSON pointer of n in the rule.
func (n *node) pointer() string {
	if n.parent == nil {
		return ""
	}
	return n.parent.pointer() + n.step
}

// builder converts parsed JSON to nodes and counts them.
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
	members := n.value.Members()
	if n.value.kind != KindArray && len(members) != 1 {
		return b.data(n, depth)
	}
	if err := b.admit(n, depth); err != nil {
		return err
	}
	if n.value.kind == KindArray {
		n.kind = arrayNode
		return b.arguments(n, n.value.Items(), "", depth)
	}
	return b.operation(n, members[0], depth)
}

// admit counts a node and checks the limits.
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

// operation converts an object with one key. A single argument need not be in a list.
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

// data counts the nodes of a literal.
func (b *builder) data(n *node, depth int) error {
	if err := b.admit(n, depth); err != nil {
		return err
	}
	for i, item := range n.value.Items() {
		if err := b.data(&node{parent: n, step: "/" + strconv.Itoa(i), value: item}, depth+1); err != nil {
			return err
		}
	}
	for _, m := range n.value.Members() {
		if err := b.data(&node{parent: n, step: "/" + escapePointer(m.Key), value: m.Value}, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func refuse(code Code, pointer, detail string) error {
	return &Error{Code: code, Pointer: pointer, Detail: detail}
}

// escapePointer escapes a key for a JSON pointer (RFC 6901).
func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
