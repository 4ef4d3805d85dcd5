package store

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// micros returns the stored form of an instant.
func micros(at time.Time) int64 { return at.UnixMicro() }

func microsOrNull(at *time.Time) *int64 {
	if at == nil {
		return nil
	}
	return new(micros(*at))
}

// storedTime scans an instant.
type storedTime time.Time

func asTime(at *time.Time) *storedTime { return (*storedTime)(at) }

// Scan implements sql.Scanner.
func (s *storedTime) Scan(stored any) error {
	count, ok := stored.(int64)
	if !ok {
		return fmt.Errorf("stored time is damaged: %v", stored)
	}
	*s = storedTime(time.UnixMicro(count).UTC())
	return nil
}

// storedTimeOrNull scans an instant that may be absent.
type storedTimeOrNull struct{ at **time.Time }

func asTimeOrNull(at **time.Time) storedTimeOrNull { return storedTimeOrNull{at} }

// Scan implements sql.Scanner.
func (s storedTimeOrNull) Scan(stored any) error {
	if *s.at = nil; stored == nil {
		return nil
	}
	*s.at = new(time.Time)
	return asTime(*s.at).Scan(stored)
}

// storedJSON writes a value as JSON, or scans JSON into a pointer; NULL changes nothing.
type storedJSON struct{ value any }

func asJSON(value any) storedJSON { return storedJSON{value} }

// Scan implements sql.Scanner.
func (s storedJSON) Scan(stored any) error {
	switch text := stored.(type) {
	case nil:
		return nil
	case string:
		return decode(text, s.value)
	}
	return fmt.Errorf("stored JSON is damaged: it is a %T", stored)
}

// Value implements driver.Valuer.
func (s storedJSON) Value() (driver.Value, error) { return encode(s.value) }

// encode returns JSON without escapes for HTML: < stays <.
func encode(value any) (string, error) {
	text, err := rawjson.Encode(value)
	return string(text), err
}

func decode(text string, into any) error {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("stored JSON is damaged: %w", err)
	}
	return nil
}

// rawJSON scans a document as it was written; NULL is nil.
func rawJSON(document *json.RawMessage) *[]byte { return (*[]byte)(document) }

func textOrNull(document json.RawMessage) *string {
	if document == nil {
		return nil
	}
	return new(string(document))
}

func scanInt(r row) (n int, err error) { err = r.Scan(&n); return n, err }

func scanString(r row) (text string, err error) { err = r.Scan(&text); return text, err }

// setText sets a value of a string type that this package does not name.
func setText[T ~string](to *T, text string) { *to = T(text) }
