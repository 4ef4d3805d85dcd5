package jsonlogic

// strictEqual is JavaScript's ===. Arrays and objects are equal only to themselves.
func strictEqual(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case KindString:
		return a.text() == b.text()
	case KindNumber:
		return a.float() == b.float()
	case KindArray, KindObject:
		return a.ptr == b.ptr
	}
	return a.bits == b.bits
}

// sameValue is strictEqual with the signature of looseEqual.
func sameValue(_ *state, a, b Value) bool { return strictEqual(a, b) }

// looseEqual is JavaScript's ==.
func looseEqual(st *state, a, b Value) bool {
	if a.kind == b.kind {
		return strictEqual(a, b)
	}
	if a.kind <= KindNull || b.kind <= KindNull {
		return a.kind <= KindNull && b.kind <= KindNull
	}
	if a.kind >= KindArray && b.kind >= KindArray {
		return false
	}
	a, b = toPrimitive(st.coerced(a)), toPrimitive(st.coerced(b))
	if a.kind == KindString && b.kind == KindString {
		return a.text() == b.text()
	}
	return toNumber(a) == toNumber(b)
}

// less is JavaScript's a < b; with orEqual it is a <= b.
func less(st *state, a, b Value, orEqual bool) bool {
	if a.kind == KindNumber && b.kind == KindNumber {
		return lessNumber(a.float(), b.float(), orEqual)
	}
	a, b = toPrimitive(st.coerced(a)), toPrimitive(st.coerced(b))
	if a.kind == KindString && b.kind == KindString {
		order := compareText(a.text(), b.text())
		return order < 0 || orEqual && order == 0
	}
	return lessNumber(toNumber(a), toNumber(b), orEqual)
}

func lessNumber(a, b float64, orEqual bool) bool {
	return a < b || orEqual && a == b
}

// compareText orders strings by UTF-16 code units, as JavaScript does. UTF-16 differs from the order of bytes in one case:
// characters beyond U+FFFF, which are surrogates in UTF-16, come before U+E000 to U+FFFF.
func compareText(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] == b[i] {
			continue
		}
		return int(utf16Rank(a[i])) - int(utf16Rank(b[i]))
	}
	return len(a) - len(b)
}

// utf16Rank moves the lead bytes of U+E000 to U+FFFF (EE, EF) behind the lead bytes of higher characters (F0 to F4).
func utf16Rank(c byte) byte {
	if c == 0xEE || c == 0xEF {
		return c + 0x10
	}
	return c
}
