package jsonlogic

import "math"

// bucket is one variant of a split and its relative weight.
type bucket struct {
	variant Value
	weight  int64
}

// split is a valid list of buckets.
type split struct {
	buckets []bucket
	total   uint64
}

// compileFractional compiles `fractional`, which picks a weighted variant by a hash: a key always gets the same variant.
//
//	{"fractional": [["on", 10], ["off", 90]]}              by flag key and targeting key
//	{"fractional": [{"var": "account.key"}, ["a"], ["b"]]}  by a string of the rule; weights default to 1
//
// The result is null where flagd fails: a weight that is not an integer, no targeting key, no buckets.
func compileFractional(c *compiler, n *node) evalFunc {
	args := c.values(n.args)
	computed := computedFractional(args, c.flagKey)
	if fixed, ok := c.fixedSplit(n.args); ok {
		return fixedFractional(constant(Null()), fixed, computed, c.flagKey)
	}
	if len(args) > 0 {
		if fixed, ok := c.fixedSplit(n.args[1:]); ok {
			return fixedFractional(args[0], fixed, computed, c.flagKey)
		}
	}
	return computed
}

// fixedSplit returns the split of buckets that are literals.
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

// fixedFractional compiles the common case, where all arguments but the first are literal buckets. The first is the key to
// hash if it is a string or null; else it may be one more bucket.
func fixedFractional(by evalFunc, fixed split, computed evalFunc, flagKey string) evalFunc {
	return func(st *state, data Value) Value {
		key := by(st, data)
		if key.kind != KindNull && key.kind != KindString {
			return computed(st, data)
		}
		return fixed.pick(st, flagKey, key)
	}
}

// computedFractional compiles the general case: all arguments are evaluated first.
func computedFractional(args []evalFunc, flagKey string) evalFunc {
	return func(st *state, data Value) Value {
		items := evaluateAll(args, st, data)
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

// newSplit checks buckets as flagd does: a scalar variant, an integer weight (default 1, negative is 0), and a sum of at
// most 31 bits.
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

// pick chooses a variant by the hash of a string, or of the flag's key and the targeting key.
func (s *split) pick(st *state, flagKey string, by Value) Value {
	if by.kind == KindString {
		flagKey = ""
	} else if by = targetingKey(st.root); by.kind != KindString || by.bits == 0 {
		return Null()
	}
	st.split = true
	var space [128]byte // enough for most keys, so that nothing is allocated
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

// Where the targeting key is in the data.
const (
	targetingKeyName = "targetingKey"
	userName         = "user"
	keyName          = "key"
)

// targetingKey returns `targetingKey` of the data, else `user.key`; a number as text.
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
