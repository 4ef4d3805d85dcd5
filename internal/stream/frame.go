package stream

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/changes"
)

// frame is an event, or several that belong together, encoded once for all
// sockets.
type frame struct {
	seq int64
	// at is when the change was made, in microseconds.
	at     int64
	text   []byte
	events int
	// restart makes sockets forget which numbers they know: the history was
	// rewound, and numbers are given again.
	restart bool
}

// appendFrame encodes a whole frame as servers send it: not masked, and not
// compressed, because events are smaller than what compressing would cost.
func appendFrame(to []byte, kind int, payload []byte) []byte {
	const final, mediumLength, smallest = 0x80, 126, 125
	to = append(to, final|byte(kind))
	switch {
	case len(payload) <= smallest:
		to = append(to, byte(len(payload)))
	default: // no payload of ours has 64 KiB
		to = append(to, mediumLength)
		to = binary.BigEndian.AppendUint16(to, uint16(len(payload))) //nolint:gosec // see above
	}
	return append(to, payload...)
}

func textFrame(payload []byte) []byte {
	return appendFrame(make([]byte, 0, len(payload)+4), websocket.TextMessage, payload)
}

func closeFrame(code int, reason string) []byte {
	return appendFrame(nil, websocket.CloseMessage, websocket.FormatCloseMessage(code, reason))
}

// eventFrame encodes the event of a change; false when there is none.
func eventFrame(change changes.Change) (frame, bool) {
	name := change.Event()
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
	return frame{seq: change.Seq, at: change.CreatedAt.UnixMicro(), text: textFrame(append(text, '}')), events: 1}, true
}

// connectedFrame is what every stream begins with.
func connectedFrame(seq int64, server string) []byte {
	text := strconv.AppendInt([]byte(`{"type":"connected","seq":`), seq, 10)
	text = append(append(text, `,"server":`...), quoted(server)...)
	return textFrame(append(text, '}'))
}

// product is what clients load as a whole, by the kinds of resource it has.
type product []string

// products are all there are, in the order of their bulk events.
func products() []product {
	return []product{{"flag"}, {"config"}, {"logger", "log_group"}}
}

// bulkFrame is the event that makes clients load a whole product.
func (p product) bulkFrame(seq int64) frame {
	made, _ := eventFrame(changes.Change{Kind: p[0], Key: changes.AllKeys, Seq: seq})
	return made
}

// everything are the events that make clients load everything.
func everything(seq int64) frame {
	whole := frame{seq: seq}
	for _, each := range products() {
		part := each.bulkFrame(seq)
		whole.text, whole.events = append(whole.text, part.text...), whole.events+part.events
	}
	return whole
}

// quoted is a JSON string. Keys are shown as they are: no browser takes the
// stream for HTML.
func quoted(text string) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}

// level takes the base level out of a logger's document; a logger that
// inherits has none.
func level(document json.RawMessage) []byte {
	var logger struct {
		Level *string `json:"level"`
	}
	if json.Unmarshal(document, &logger) != nil || logger.Level == nil {
		return []byte("null")
	}
	return quoted(*logger.Level)
}
