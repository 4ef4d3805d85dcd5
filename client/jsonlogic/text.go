package jsonlogic

import (
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// JavaScript counts and cuts strings in UTF-16 code units. These functions do the same with UTF-8; half of a surrogate
// pair is U+FFFD.

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unitLength returns JavaScript's s.length.
func unitLength(s string) int {
	if isASCII(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// unitSlice returns the code units from start to end.
func unitSlice(s string, start, end int) string {
	if start >= end {
		return ""
	}
	if isASCII(s) {
		return s[start:end]
	}
	var out []byte
	at := 0
	for _, r := range s {
		next := at + utf16.RuneLen(r)
		switch {
		case at >= start && next <= end:
			out = utf8.AppendRune(out, r)
		case next > start && at < end:
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		at = next
	}
	return string(out)
}

// substring returns JavaScript's s.substr(start, length); an undefined length means to the end.
func substring(s string, start, length Value) string {
	size := unitLength(s)
	from := toInteger(start)
	if from < 0 {
		from = max(float64(size)+from, 0)
	}
	count := float64(size)
	if length.kind != KindUndefined {
		count = toInteger(length)
	}
	from = min(from, float64(size))
	to := min(from+max(count, 0), float64(size))
	return unitSlice(s, int(from), int(to))
}

// toInteger returns JavaScript's ToIntegerOrInfinity(v).
func toInteger(v Value) float64 {
	f := toNumber(v)
	if f != f {
		return 0
	}
	return math.Trunc(f)
}
