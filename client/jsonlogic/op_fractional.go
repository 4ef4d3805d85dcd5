package jsonlogic

import "math"

// bucket is one share of a split: what it gives, and its weight against the others'.
type bucket struct {
	variant Value
	weight  int64
}

// split is a checked list of buckets.
type split struct {
	buckets []bucket
	total   uint64
}

// compileFractional: picks one of weighted variants by a hash, so that the same key always gets the same one.
//
//	{"fractional": [["on", 10], ["off", 90]]}              by flag key and targeting key
//	{"fractional": [{"var": "account.key"}, ["a"], ["b"]]}  by a string of the rule's own; weights default to 1
//
// What flagd refuses (a weight that is no integer, no targeting key, no buckets) gives null.
func compileFractional(c *compiler, n *node) evalFunc {
	args := c.values(n.args)
	computed := computedFractional(args, c.flagKey)
	if fixed, ok := c.fixedSplit(n.args); ok {
		return fixedFractional(constant(Null()), fixed, computed, c.flagKey)
	}
	if len(args) == 0 {
		return computed
	}
	if fixed, ok := c.fixedSplit(n.args[1:]); ok {
		return fixedFractional(args[0], fixed, computed, c.flagKey)
	}
	return computed
}

// fixedSplit reads buckets that stand in the rule.
func (c *compiler) fixedSplit(args []*node) (split, bool) {
	items := make([]Value, len(args))
	for i, arg := range args {
		if c.traced || !arg.isScalarList() {
			return split{}, false
		}
		items[i] = arg.value
	}
	return newSplit(items)
}

// fixedFractional compiles the usual case: only the value to hash by is left to find. Another first argument than a
// string or null may be one more bucket.
func fixedFractional(by evalFunc, fixed split, computed evalFunc, flagKey string) evalFunc {
	return func(st *state, data Value) Value {
		key := by(st, data)
		if key.kind != KindNull && key.kind != KindString {
			return computed(st, data)
		}
		return fixed.pick(st, flagKey, key)
	}
}

// computedFractional evaluates all arguments first, as every operator of the reference does.
func computedFractional(args []evalFunc, flagKey string) evalFunc {
	return func(st *state, data Value) Value {
		items := make([]Value, len(args))
		for i, arg := range args {
			items[i] = arg(st, data)
		}
		var by Value
		if len(items) > 0 && (items[0].kind == KindString || items[0].kind == KindNull) {
			by, items = items[0], items[1:]
		}
		computed, ok := newSplit(items)
		if !ok {
			return Null()
		}
		return computed.pick(st, flagKey, by)
	}
}

// newSplit checks buckets as flagd does: a scalar variant, an integer weight that is 1 when left out and 0 when
// negative, and a sum that fits 31 bits.
func newSplit(items []Value) (split, bool) {
	s := split{buckets: make([]bucket, len(items))}
	for i, item := range items {
		entry := item.Items()
		if len(entry) == 0 || entry[0].kind >= KindArray {
			return split{}, false
		}
		weight, ok := bucketWeight(entry)
		if !ok {
			return split{}, false
		}
		s.buckets[i] = bucket{variant: orNull(entry[0]), weight: weight}
		s.total += uint64(weight)
	}
	return s, s.total > 0 && s.total <= math.MaxInt32
}

func bucketWeight(entry []Value) (int64, bool) {
	if len(entry) < 2 || entry[1].kind <= KindNull {
		return 1, true
	}
	weight, ok := entry[1].Float()
	if !ok || weight != math.Trunc(weight) || weight > math.MaxInt32 {
		return 0, false
	}
	return int64(max(weight, 0)), true
}

// pick maps the hash onto the weights. Without a value to hash by, it is the flag's key and the targeting key.
func (s *split) pick(st *state, flagKey string, by Value) Value {
	if by.kind == KindString {
		flagKey = ""
	} else if by = targetingKey(st.root); by.kind != KindString || by.bits == 0 {
		return Null()
	}
	st.split = true
	var space [128]byte // keys are short: hashing them together allocates nothing
	hash := murmur3(append(append(space[:0], flagKey...), by.text()...))
	place, end := uint64(hash)*s.total>>32, uint64(0)
	for i := range s.buckets {
		end += uint64(s.buckets[i].weight)
		if place < end {
			return s.buckets[i].variant
		}
	}
	return Null()
}

// Where the targeting key stands in the data.
const (
	targetingKeyName = "targetingKey"
	userName         = "user"
	keyName          = "key"
)

// targetingKey finds who is being decided about: `targetingKey`, else `user.key`. Numbers count by their text.
func targetingKey(data Value) Value {
	key := data.Get(targetingKeyName)
	if key.kind <= KindNull {
		key = data.Get(userName).Get(keyName)
	}
	if key.kind == KindNumber {
		return String(toText(key))
	}
	return key
}
