package configs

import (
	"encoding/json"
	"strconv"
)

// typeOf returns the type of a value.
func typeOf(value json.RawMessage) Type {
	switch value[0] {
	case '"':
		return String
	case 't', 'f':
		return Boolean
	case '{', '[', 'n':
		return JSON
	}
	return Number
}

// fits reports whether a value has the type. A number must fit into 64 bits.
func (t Type) fits(value json.RawMessage) bool {
	if t != Number || typeOf(value) != Number {
		return t == JSON || typeOf(value) == t
	}
	_, err := strconv.ParseFloat(string(value), 64)
	return err == nil
}

// noun returns a phrase for messages that describes a value of the type.
func (t Type) noun() string {
	return map[Type]string{String: "a string", Number: "a number that fits 64 bits", Boolean: "true or false", JSON: "JSON"}[t]
}
