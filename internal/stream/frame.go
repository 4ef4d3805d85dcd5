package stream

import (
	"encoding/binary"
	"encoding/json"
	"strconv"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// frame is one event, or several events that belong together. It is encoded once for all sockets.
type frame struct {
	seq     int64
	at      int64  // when the change was committed, in microseconds
	text    []byte // for sockets; nil if the frame is not for them
	refetch []byte // for OFREP event streams; nil if the frame is not for them
	events  int
	restart bool // the history was rewound, and sequence numbers are used again
	other   bool // only for sockets that want all topics
	flags   bool // evaluations may have changed
}

// appendFrame encodes a whole frame as servers send it, unmasked. Events are too small to compress.
func appendFrame(to []byte, kind int, payload []byte) []byte {
	const final, mediumLength, smallest = 0x80, 126, 125
	to = append(to, final|byte(kind))
	if len(payload) <= smallest {
		to = append(to, byte(len(payload)))
	} else { // our payloads are smaller than 64 KiB
		to = append(to, mediumLength)
		to = binary.BigEndian.AppendUint16(to, uint16(len(payload))) //nolint:gosec // see above
	}
	return append(to, payload...)
}

func textFrame(payload []byte) []byte {
	return appendFrame(make([]byte, 0, len(payload)+4), websocket.TextMessage, payload)
}

// eventFrame encodes the event of a change. It returns false if the change has no event.
func eventFrame(change changes.Change) (frame, bool) {
	name := change.Event()
	other := name == ""
	if other {
		name = change.OtherEvent()
	}
	if name == "" {
		return frame{}, false
	}
	text := append([]byte(`{"event":"`), name...)
	text = append(text, '"')
	if change.Key != changes.AllKeys {
		text = append(append(text, `,"id":`...), quoted(change.Key)...)
	}
	if name == "logger_changed" {
		text = append(append(text, `,"level":`...), level(change.After)...)
	}
	text = strconv.AppendInt(append(text, `,"seq":`...), change.Seq, 10)
	return frame{seq: change.Seq, at: change.CreatedAt.UnixMicro(), text: textFrame(append(text, '}')), events: 1, other: other, flags: altersEvaluation(change)}, true
}

// connectedFrame encodes the first frame of every stream.
func connectedFrame(seq int64, server string) []byte {
	text := strconv.AppendInt([]byte(`{"type":"connected","seq":`), seq, 10)
	text = append(append(text, `,"server":`...), quoted(server)...)
	return textFrame(append(text, '}'))
}

// product is a list of kinds of resources that clients load together.
type product []string

// products returns all products, in the order of their bulk events.
func products() []product {
	return []product{{"flag"}, {"config"}, {"logger", "log_group"}}
}

// bulkFrame encodes the event that makes clients load all resources of a product.
func (p product) bulkFrame(seq int64) frame {
	bulk, _ := eventFrame(changes.Change{Kind: p[0], Key: changes.AllKeys, Seq: seq})
	return bulk
}

// reloadFrame encodes the events that make clients load everything.
func reloadFrame(seq, at int64) frame {
	reload := frame{seq: seq, at: at, refetch: refetchEvent(seq), flags: true}
	for _, each := range products() {
		bulk := each.bulkFrame(seq)
		reload.text, reload.events = append(reload.text, bulk.text...), reload.events+bulk.events
	}
	return reload
}

// quoted returns a text as a JSON string without HTML escapes.
func quoted(text string) []byte {
	encoded, _ := rawjson.Encode(text) // a string always encodes
	return encoded
}

// level returns the base level in a logger's document as JSON. It is null if the level is inherited.
func level(document json.RawMessage) []byte {
	var logger struct {
		Level *string `json:"level"`
	}
	if json.Unmarshal(document, &logger) != nil || logger.Level == nil {
		return []byte("null")
	}
	return quoted(*logger.Level)
}
