package configs

import (
	"encoding/json"
	"time"
)

// schemas are those that a write has to do with. They are compiled once: what
// is sent before the account's lock is taken, and the stored ones when values
// must fit them.
type schemas struct {
	work  *budget
	known map[string]knownSchema // by their text
}

// knownSchema is a compiled schema, or why there is none.
type knownSchema struct {
	schema

	unusable []breach
}

func newSchemas() *schemas { return &schemas{work: newBudget(), known: map[string]knownSchema{}} }

// compile gives the schema of a text, or why it cannot be used.
func (s *schemas) compile(text json.RawMessage) knownSchema {
	found, known := s.known[string(text)]
	if !known {
		found.schema, found.unusable = compileSchema(text, s.work)
		if !s.work.spent() { // with more work, it may be usable
			s.known[string(text)] = found
		}
	}
	return found
}

// check gives the places where a value breaks any of the schemas.
func (s *schemas) check(texts []json.RawMessage, value json.RawMessage) []breach {
	found := s.validate(texts, value)
	if s.work.spent() {
		return refused("takes too much work to check; make the value or the schema simpler")
	}
	return found
}

func (s *schemas) validate(texts []json.RawMessage, value json.RawMessage) (found []breach) {
	if s.work.spend(reading(value)); s.work.spent() {
		return nil
	}
	document := plain(value)
	for _, text := range texts {
		schema := s.compile(text)
		switch {
		case s.work.spent():
			return nil
		case schema.unusable != nil:
			// It was usable once: another version stored it.
			found = append(found, breach{detail: "cannot be checked, because the schema " + schema.unusable[0].detail})
		default:
			found = append(found, schema.validate(document)...)
		}
	}
	if len(found) > 0 {
		s.work.spend(time.Duration(len(value)) * priceOfByte) // sentences name members
	}
	return found
}
