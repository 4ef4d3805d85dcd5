package jsonlogic

// tag packs the length and the first bytes of a string into one word. Strings with different tags differ. Strings of up
// to seven bytes with the same tag are equal.
type tag uint64

// tagText is how many bytes of the string a tag holds.
const tagText = 7

func tagOf(s string) tag {
	n := len(s)
	var t uint64
	switch {
	case n > tagText:
		t = load4(s, 0) | load4(s, 4)<<32
		t &= 1<<56 - 1
	case n >= 4:
		t = load4(s, 0) | load4(s, n-4)<<(8*(n-4)) // bytes in both halves are the same
	default:
		for i := range n {
			t |= uint64(s[i]) << (8 * i)
		}
	}
	return tag(t | uint64(min(n, 255))<<56)
}

func load4(s string, i int) uint64 {
	s = s[i : i+4]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// whole reports whether the tag contains the whole string.
func (t tag) whole() bool { return t>>56 <= tagText }
