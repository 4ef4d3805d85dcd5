package assistant

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// confirmationLife is how long a person may take to agree.
	confirmationLife = 10 * time.Minute
	// maxPending limits the writes that an assistant can ask for without confirming them.
	maxPending = 100
)

// confirmations remembers the writes that were shown, so that only these are done. A confirmation works for one call with
// the same arguments.
type confirmations struct {
	now     func() time.Time
	mu      sync.Mutex
	pending map[string]shownWrite
}

// shownWrite is a write that was shown and may be confirmed.
type shownWrite struct {
	call string // the tool and its arguments
	// state is the resource's state when the write was shown, such as its ETag.
	state   string
	expires time.Time
}

func newConfirmations(now func() time.Time) *confirmations {
	return &confirmations{now: now, pending: map[string]shownWrite{}}
}

// offer remembers a write that was shown and returns its confirmation.
func (c *confirmations) offer(call, state string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for token, write := range c.pending {
		if !write.expires.After(c.now()) {
			delete(c.pending, token)
		}
	}
	if len(c.pending) >= maxPending {
		return "", fmt.Errorf("%d writes already wait for a confirmation: confirm one, or wait until they expire after %s", maxPending, confirmationLife)
	}
	token := rand.Text()
	c.pending[token] = shownWrite{call: call, state: state, expires: c.now().Add(confirmationLife)}
	return token, nil
}

// take removes a confirmation and returns the state that its write was shown with.
func (c *confirmations) take(token, call string) (state string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	write, known := c.pending[token]
	switch {
	case !known || !write.expires.After(c.now()):
		return "", errors.New("there is no such confirmation, or it was used or expired: call without one to see what would happen now")
	case write.call != call:
		return "", errors.New("the confirmation is for a call with other arguments: call without one to see what this would do")
	}
	delete(c.pending, token)
	return write.state, nil
}

// callOf identifies a call by its tool and its arguments, without the confirmation.
func callOf(tool string, input any) (string, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return "", err
	}
	var arguments map[string]json.RawMessage
	if err := json.Unmarshal(text, &arguments); err != nil {
		return "", err
	}
	delete(arguments, "confirmation")
	text, err = json.Marshal(arguments) // Marshal sorts the names
	return tool + string(text), err
}
