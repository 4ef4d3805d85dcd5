package jsonlogic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// ValueOf converts nil, booleans, numbers, strings, slices and maps of these, Values and json.RawMessage directly, and
// anything else through encoding/json. The result shares only string bytes with v.
func ValueOf(v any) (Value, error) {
	return valueOf(v, MaxDataDepth)
}

func valueOf(v any, depth int) (Value, error) {
	if depth == 0 {
		return Value{}, errTooDeep
	}
	switch v := v.(type) {
	case nil:
		return Null(), nil
	case Value:
		return v, nil
	case bool:
		return Bool(v), nil
	case string:
		return String(valid(v)), nil
	case []any:
		return arrayOf(v, depth)
	case []string:
		return arrayOf(v, depth)
	case map[string]any:
		return objectOf(v, depth)
	case map[string]string:
		return objectOf(v, depth)
	case json.RawMessage:
		return Parse(v)
	}
	if f, ok := floatOf(v); ok {
		return Number(f), nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return Value{}, fmt.Errorf("convert %T to JSON: %w", v, err)
	}
	return Parse(text)
}

// floatOf converts common number types.
func floatOf(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case float32:
		return float64(n), true
	case int:
		return float64(n), true
	case int32:
		return float64(n), true
	case int64:
		return float64(n), true
	case uint32:
		return float64(n), true
	case uint64:
		return float64(n), true
	}
	return 0, false
}

func arrayOf[T any](list []T, depth int) (Value, error) {
	items := make([]Value, len(list))
	for i := range list {
		v, err := valueOf(list[i], depth-1)
		if err != nil {
			return Value{}, err
		}
		items[i] = v
	}
	return Array(items...), nil
}

// objectOf sorts the keys, so that equal maps have the same JSON.
func objectOf[T any](m map[string]T, depth int) (Value, error) {
	members := make([]Member, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v, err := valueOf(m[key], depth-1)
		if err != nil {
			return Value{}, err
		}
		members = append(members, Member{Key: key, Value: v})
	}
	return Object(members...), nil
}

// String returns JavaScript's String(v).
func (v Value) String() string { return toText(v) }

// MarshalJSON writes v as JavaScript's JSON.stringify does: undefined, NaN and infinities are null.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// UnmarshalJSON reads any JSON value.
func (v *Value) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	*v = parsed
	return err
}

// AppendJSON appends the JSON of v to dst.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.kind {
	case KindBool:
		return append(dst, toText(v)...)
	case KindNumber:
		if f := v.float(); f-f == 0 {
			return appendNumber(dst, f)
		}
	case KindString:
		return appendQuoted(dst, v.text())
	case KindArray:
		return v.appendItems(dst)
	case KindObject:
		return v.appendMembers(dst)
	}
	return append(dst, "null"...)
}

func (v Value) appendItems(dst []byte) []byte {
	dst = append(dst, '[')
	for i, item := range v.array().items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item.AppendJSON(dst)
	}
	return append(dst, ']')
}

func (v Value) appendMembers(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range v.object().members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, m.Key), ':')
		dst = m.Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// appendQuoted appends s as a JSON string, escaping only what JSON requires.
func appendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
