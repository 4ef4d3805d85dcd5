package jsonlogic

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// objectText is the text of every object in JavaScript.
const objectText = "[object Object]"

// toNumber returns JavaScript's Number(v).
func toNumber(v Value) float64 {
	switch v.kind {
	case KindNumber:
		return v.float()
	case KindNull:
		return 0
	case KindBool:
		return float64(v.bits)
	case KindString:
		return textToNumber(v.text())
	case KindArray:
		return textToNumber(toText(v))
	}
	return math.NaN()
}

// toText returns JavaScript's String(v).
func toText(v Value) string {
	switch v.kind {
	case KindString:
		return v.text()
	case KindUndefined:
		return "undefined"
	case KindNull:
		return "null"
	case KindBool:
		return strconv.FormatBool(v.bits != 0)
	case KindObject:
		return objectText
	}
	return string(appendText(nil, v))
}

// appendText appends v as an element of a joined list: null and undefined are empty, arrays are joined with commas.
func appendText(dst []byte, v Value) []byte {
	switch v.kind {
	case KindUndefined, KindNull:
		return dst
	case KindNumber:
		return appendNumber(dst, v.float())
	case KindArray:
		for i, item := range v.array().items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, item)
		}
		return dst
	}
	return append(dst, toText(v)...)
}

// toPrimitive converts arrays and objects to strings, as JavaScript does before it compares or calculates.
func toPrimitive(v Value) Value {
	if v.kind == KindArray || v.kind == KindObject {
		return String(toText(v))
	}
	return v
}

// appendNumber appends a number as JavaScript writes it: plain digits from 1e-6 to 1e21, else an exponent.
func appendNumber(dst []byte, f float64) []byte {
	switch abs := math.Abs(f); {
	case f != f:
		return append(dst, "NaN"...)
	case abs > math.MaxFloat64:
		return append(dst, strings.TrimPrefix(strconv.FormatFloat(f, 'f', -1, 64), "+")+"inity"...)
	case f == 0:
		return append(dst, '0') // also for -0
	case abs >= 1e-6 && abs < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// strconv writes at least two digits of exponent: 1e-07 is 1e-7.
	if n := len(dst); dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// textToNumber returns JavaScript's Number(s) of a string.
func textToNumber(s string) float64 {
	s = strings.TrimFunc(s, isSpace)
	if s == "" {
		return 0
	}
	if len(s) > 2 && s[0] == '0' {
		switch s[1] | 0x20 {
		case 'x':
			return radixNumber(s[2:], 16)
		case 'o':
			return radixNumber(s[2:], 8)
		case 'b':
			return radixNumber(s[2:], 2)
		}
	}
	n, f := numberPrefix(s)
	if n < len(s) {
		return math.NaN()
	}
	return f
}

// radixNumber parses digits of a base, rounded to a float64.
func radixNumber(digits string, base int) float64 {
	if digits[0] == '+' || digits[0] == '-' {
		return math.NaN()
	}
	if n, err := strconv.ParseUint(digits, base, 53); err == nil {
		return float64(n)
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return math.NaN()
	}
	f, _ := n.Float64()
	return f
}

// parseFloat returns JavaScript's parseFloat(v): the number at the start of v's text.
func parseFloat(v Value) float64 {
	switch v.kind {
	case KindNumber:
		if v.float() == 0 {
			return 0 // -0 loses its sign in text
		}
		return v.float()
	case KindString, KindArray:
		_, f := numberPrefix(strings.TrimLeftFunc(toText(v), isSpace))
		return f
	}
	return math.NaN()
}

// numberPrefix returns the length and value of the longest decimal number or Infinity at the start of s, else 0 and NaN.
func numberPrefix(s string) (int, float64) {
	i := signLength(s)
	if strings.HasPrefix(s[i:], "Infinity") {
		return i + len("Infinity"), decimal(s[:i+len("Inf")])
	}
	whole := leadingDigits(s[i:])
	i += whole
	fraction := 0
	if i < len(s) && s[i] == '.' {
		fraction = leadingDigits(s[i+1:])
		if whole+fraction > 0 {
			i += 1 + fraction
		}
	}
	if whole+fraction == 0 {
		return 0, math.NaN()
	}
	i += exponentLength(s[i:])
	return i, decimal(s[:i])
}

// exponentLength returns the length of a complete exponent at the start of s, else 0.
func exponentLength(s string) int {
	if s == "" || s[0]|0x20 != 'e' {
		return 0
	}
	i := 1 + signLength(s[1:])
	n := leadingDigits(s[i:])
	if n == 0 {
		return 0
	}
	return i + n
}

func signLength(s string) int {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return 1
	}
	return 0
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// decimal converts a valid decimal number. Out of range, ParseFloat returns the same infinity or zero as JavaScript.
func decimal(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

// isSpace reports whether r is white space or a line terminator in JavaScript.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', '\u2028', '\u2029', '\ufeff':
		return true
	}
	return unicode.Is(unicode.Zs, r)
}
