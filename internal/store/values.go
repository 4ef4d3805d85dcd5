package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// How values are stored, and read again.

// micros is how instants are stored.
func micros(at time.Time) int64 { return at.UnixMicro() }

// instant is the opposite of micros.
func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

func microsOrNull(at *time.Time) *int64 {
	if at == nil {
		return nil
	}
	stored := micros(*at)
	return &stored
}

func instantOrNil(micros *int64) *time.Time {
	if micros == nil {
		return nil
	}
	at := instant(*micros)
	return &at
}

// encode gives JSON as people wrote it: < stays <.
func encode(value any) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

func decode(text string, into any) error {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("stored JSON is damaged: %w", err)
	}
	return nil
}

func rawOrNil(text *string) json.RawMessage {
	if text == nil {
		return nil
	}
	return json.RawMessage(*text)
}

func textOrNull(document json.RawMessage) *string {
	if document == nil {
		return nil
	}
	text := string(document)
	return &text
}

func scanInt(r row) (n int, err error) { err = r.Scan(&n); return n, err }

func scanString(r row) (text string, err error) { err = r.Scan(&text); return text, err }

func scanPair(r row) (pair [2]string, err error) { err = r.Scan(&pair[0], &pair[1]); return pair, err }
