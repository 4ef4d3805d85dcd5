package store_test

import (
	"bytes"
	"compress/flate"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/store"
)

func TestBody_Encodings(t *testing.T) {
	text := strings.Repeat(`{"id":1,"name":"Ada"},`, 200)
	var deflated bytes.Buffer
	writer, err := flate.NewWriter(&deflated, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write([]byte(text)); err != nil || writer.Close() != nil {
		t.Fatal(err)
	}
	encoding, compact := store.Compact(text)
	if encoding != "s2" || len(compact) > len(text)/10 {
		t.Errorf("a body of %d bytes is stored as %s with %d bytes", len(text), encoding, len(compact))
	}
	for name, stored := range map[string]struct {
		encoding string
		bytes    []byte
	}{"S2": {"s2", compact}, "deflate, as 0.1.0 wrote it": {"deflate", deflated.Bytes()}, "raw": {"raw", []byte(text)}} {
		t.Run(name, func(t *testing.T) {
			if got, err := store.Expand(stored.encoding, stored.bytes); err != nil || got != text {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
		})
		if stored.encoding == "raw" {
			continue
		}
		t.Run(name+", cut", func(t *testing.T) {
			got, err := store.Expand(stored.encoding, stored.bytes[:len(stored.bytes)/2])
			if err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
		})
	}
}

func TestBody_NotSmallerStaysRaw(t *testing.T) {
	text := "\x00\x9f\x31\xe7 no two bytes of this repeat"
	if encoding, stored := store.Compact(text); encoding != "raw" || string(stored) != text {
		t.Errorf("stored as %s: %q", encoding, stored)
	}
}
