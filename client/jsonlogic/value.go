package jsonlogic

import (
	"math"
	"unsafe"
)

// Kind is the JavaScript type of a Value.
type Kind uint8

// The kinds of values. A missing argument, for example, is undefined.
const (
	KindUndefined Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// Value is one immutable JSON value, or undefined. The zero Value is undefined.
//
// A Value is three words, so that it is passed in registers; log/slog does the same. Arrays and objects compare by
// identity, which is their pointer. Unsafe conversions are only in this file.
type Value struct {
	ptr  unsafe.Pointer // the string's bytes, *array or *object
	bits uint64         // the number's bits, 1 for true, the string's length
	kind Kind
}

// Member is one key and value of an object.
type Member struct {
	Key   string
	Value Value
}

type array struct {
	items  []Value
	extent extent
}

type object struct {
	members  []Member
	tags     []tag          // one for each key: scanning tags touches little memory
	index    map[string]int // only for large objects
	extent   extent
	tagSpace [scanLimit]tag // backs tags
}

// extent is the size of a value's JSON, which can be far larger than the value in memory: reduce can put one array a
// million times into another.
type extent struct {
	depth  int
	weight int
}

// scanLimit is the largest object that is searched member by member, which is faster than hashing the key.
const scanLimit = 8

// fewMembers is the largest number of members that are allocated together with their object.
const fewMembers = 4

// maxExtentWeight keeps sums of weights from overflowing.
const maxExtentWeight = 1 << 40

// Null returns null.
func Null() Value { return Value{kind: KindNull} }

// Bool returns true or false.
func Bool(b bool) Value {
	if b {
		return Value{kind: KindBool, bits: 1}
	}
	return Value{kind: KindBool}
}

// Number returns a number.
func Number(f float64) Value { return Value{kind: KindNumber, bits: math.Float64bits(f)} }

// String returns a string, which should be UTF-8.
func String(s string) Value {
	return Value{kind: KindString, ptr: unsafe.Pointer(unsafe.StringData(s)), bits: uint64(len(s))}
}

// Array returns a new array that owns items.
func Array(items ...Value) Value {
	a := &array{items: items, extent: extent{depth: 1, weight: 1}}
	for i := range items {
		a.extent.include(items[i])
	}
	return Value{kind: KindArray, ptr: unsafe.Pointer(a)}
}

// Object returns a new object. If a key is repeated, the last member wins.
func Object(members ...Member) Value {
	o := newObject(len(members))
	for _, m := range members {
		o.set(m)
	}
	return o.value()
}

func newObject(size int) *object {
	if size > fewMembers {
		return emptyObject(&object{}, make([]Member, 0, size))
	}
	small := &struct {
		object
		space [fewMembers]Member
	}{}
	return emptyObject(&small.object, small.space[:0])
}

func emptyObject(o *object, members []Member) *object {
	o.members, o.tags, o.extent = members, o.tagSpace[:0], extent{depth: 1, weight: 1}
	return o
}

func (o *object) value() Value { return Value{kind: KindObject, ptr: unsafe.Pointer(o)} }

// set adds or replaces a member while the object is being built, and reports whether it replaced one.
func (o *object) set(m Member) bool {
	o.extent.include(m.Value)
	t := tagOf(m.Key)
	if i := o.find(m.Key, t); i >= 0 {
		o.members[i].Value = m.Value
		return true
	}
	o.members = append(o.members, m)
	switch {
	case o.index != nil:
		o.index[m.Key] = len(o.members) - 1
	case len(o.members) <= scanLimit:
		o.tags = append(o.tags, t)
	default:
		o.index = make(map[string]int, 2*len(o.members))
		for i := range o.members {
			o.index[o.members[i].Key] = i
		}
	}
	return false
}

// find returns the index of a key, or -1. t is the tag of the key.
func (o *object) find(key string, t tag) int {
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range o.tags {
		if o.tags[i] == t && (t.whole() || o.members[i].Key == key) {
			return i
		}
	}
	return -1
}

func (o *object) get(key string, t tag) Value {
	if i := o.find(key, t); i >= 0 {
		return o.members[i].Value
	}
	return Value{}
}

func (e *extent) include(v Value) {
	child := v.extent()
	e.depth = max(e.depth, child.depth+1)
	e.weight = min(e.weight+child.weight, maxExtentWeight)
}

// extent returns the nesting levels of v and the approximate size of its JSON in bytes.
func (v Value) extent() extent {
	switch v.kind {
	case KindArray:
		return v.array().extent
	case KindObject:
		return v.object().extent
	case KindString:
		return extent{weight: 2 + int(v.bits)}
	}
	return extent{weight: 8}
}

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// These accessors are valid only for their kind.

func (v Value) text() string    { return unsafe.String((*byte)(v.ptr), int(v.bits)) }
func (v Value) float() float64  { return math.Float64frombits(v.bits) }
func (v Value) array() *array   { return (*array)(v.ptr) }
func (v Value) object() *object { return (*object)(v.ptr) }

// Text returns the string in v, and whether v is a string.
func (v Value) Text() (string, bool) {
	if v.kind != KindString {
		return "", false
	}
	return v.text(), true
}

// Float returns the number in v, and whether v is a number.
func (v Value) Float() (float64, bool) {
	if v.kind != KindNumber {
		return 0, false
	}
	return v.float(), true
}

// Items returns the elements of an array, else nil. They must not be changed.
func (v Value) Items() []Value {
	if v.kind != KindArray {
		return nil
	}
	return v.array().items
}

// Members returns the members of an object in order, else nil. They must not be changed.
func (v Value) Members() []Member {
	if v.kind != KindObject {
		return nil
	}
	return v.object().members
}

// Get returns a member of an object, or undefined.
func (v Value) Get(key string) Value {
	if v.kind != KindObject {
		return Value{}
	}
	return v.object().get(key, tagOf(key))
}

// Truthy reports whether v is truthy as in JavaScript, except that an empty array is false.
func (v Value) Truthy() bool {
	switch v.kind {
	case KindBool, KindString:
		return v.bits != 0
	case KindNumber:
		f := v.float()
		return f != 0 && f == f
	case KindArray:
		return len(v.array().items) > 0
	}
	return v.kind == KindObject
}
