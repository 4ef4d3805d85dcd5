package jsonlogic

// Equal reports whether two values are the same JSON: numbers by value, members in any order, arrays and objects by
// content. Undefined equals only undefined, and NaN equals NaN.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case KindNumber:
		a, b := v.float(), w.float()
		return a == b || a != a && b != b
	case KindString:
		return v.text() == w.text()
	case KindArray:
		return equalItems(v.array().items, w.array().items)
	case KindObject:
		return equalMembers(v, w)
	}
	return v.bits == w.bits
}

func equalItems(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

func equalMembers(v, w Value) bool {
	a, b := v.object(), w.object()
	if len(a.members) != len(b.members) {
		return false
	}
	for _, m := range a.members {
		i := b.find(m.Key, tagOf(m.Key))
		if i < 0 || !m.Value.Equal(b.members[i].Value) {
			return false
		}
	}
	return true
}
