package egress

import (
	"bytes"
	"net/http"
)

// isPlain tells whether there is one way only to read where an answer ends. The reader takes what it can; a connection is
// kept only after an answer that no other reader, such as a proxy in between, could have understood differently.
func isPlain(answer *http.Response, heads []byte) bool {
	if answer.ProtoMajor != 1 || answer.ProtoMinor != 1 || answer.Close {
		return false
	}
	framing, ok := framingOf(heads)
	if !ok {
		return false
	}
	switch answer.StatusCode {
	case http.StatusSwitchingProtocols:
		return false
	case http.StatusNoContent, http.StatusNotModified:
		// They have no body. One that says how long its body is may yet send it.
		return framing.encodings == 0 && (framing.lengths == 0 || framing.lengths == 1 && answer.Header.Get("Content-Length") == "0")
	}
	return framing.lengths+framing.encodings == 1
}

// framing counts the headers that say where an answer ends, those of interim answers included.
type framing struct{ lengths, encodings int }

// framingOf reads the heads of an answer as they came. They are not ok with control characters, which stand for lines
// that end in another way, with lines that continue the last one, and with spaces in names.
func framingOf(heads []byte) (found framing, ok bool) {
	isStatus := true
	for line := range bytes.SplitSeq(heads, []byte("\r\n")) {
		if bytes.ContainsFunc(line, isControl) {
			return found, false
		}
		if len(line) == 0 || isStatus {
			isStatus = len(line) == 0 // another answer follows an interim one
			continue
		}
		name, _, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.ContainsAny(name, " \t"):
			return found, false
		case bytes.EqualFold(name, []byte("Content-Length")):
			found.lengths++
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			found.encodings++
		}
	}
	return found, true
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
