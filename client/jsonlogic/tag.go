package jsonlogic

// tag is the start and the length of a string in one word. Keys of up to seven bytes are equal if their tags are; longer
// keys with different tags differ.
type tag uint64

// tagText is the number of the string's bytes in a tag.
const tagText = 7

func tagOf(s string) tag {
	n := len(s)
	var t uint64
	switch {
	case n > tagText:
		t = load4(s, 0) | load4(s, 4)<<32
		t &= 1<<56 - 1
	case n >= 4:
		t = load4(s, 0) | load4(s, n-4)<<(8*(n-4)) // where the halves overlap, they have the same bytes
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
