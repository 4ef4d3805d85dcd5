package live

import (
	"fmt"
	"time"
)

// Status is how current the values of a box are.
type Status uint8

// The states of a box.
const (
	// Starting means that the server has not answered yet.
	Starting Status = iota
	// Live means that the values are the server's current values.
	Live
	// Stale means that the server cannot be reached, or cannot reach its database. The last known values are served.
	Stale
	// Refused means that the server does not accept the key, or that no server is asked because settings are missing or wrong.
	// The last known values are served.
	Refused
)

// String returns the name of the status, such as "LIVE".
func (s Status) String() string {
	names := [...]string{"STARTING", "LIVE", "STALE", "REFUSED"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// MarshalText returns the name of the status.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// State is how current the values of a box are, and why.
type State struct {
	Status Status `json:"status"`
	// Since is when the status began. For values of the cache or the bootstrap file it is when they were saved.
	Since time.Time `json:"since"`
	// Err is why the status is Stale or Refused, or why a Live box polls; else nil.
	Err error `json:"-"`
	// Polling reports whether the box polls because no event socket can be opened. Changes then arrive up to 30 s late.
	Polling bool `json:"polling"`
	// Seq is the number of the account's last change that the box knows.
	Seq int64 `json:"seq"`
}

// String returns the state as a line of text.
func (s State) String() string {
	text := s.Status.String() + " since " + s.Since.UTC().Format(time.RFC3339)
	if s.Polling {
		text += ", polling"
	}
	if s.Err != nil {
		text += ": " + s.Err.Error()
	}
	return text
}
