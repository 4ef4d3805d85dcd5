package observations

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
)

// The JSON:API types of this package.
const (
	KindService     = "service"
	KindContextType = "context_type"
	KindContext     = "context"
)

const (
	maxTypeKey    = 100
	maxAttributes = 16 << 10 // bytes of JSON
	maxKnownNames = 200      // attributes of a context type
)

// ReportingService is a program that reports to Signalbox.
type ReportingService struct {
	Account   string    `json:"-"`
	Key       string    `json:"-"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ContextType is a type of contexts that rules may use, such as "user".
type ContextType struct {
	Account string `json:"-"`
	Key     string `json:"-"`
	Name    string `json:"name"`
	// Attributes has a member for every attribute that was reported for contexts of this type.
	Attributes json.RawMessage `json:"attributes"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
}

// Context is one context of a type, such as the user "alice".
type Context struct {
	Account    string          `json:"-"`
	Type       string          `json:"context_type"`
	Key        string          `json:"key"`
	Name       string          `json:"name"`
	Attributes json.RawMessage `json:"attributes"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
}

// Definition returns the members that people change. Services report the others.
func (c Context) Definition() any {
	return struct {
		Name      string
		CreatedAt time.Time
	}{c.Name, c.CreatedAt}
}

// ID returns the context's id in the API, which is type:key.
func (c Context) ID() string { return c.Type + ":" + c.Key }

// SplitContextID splits an id at its first colon.
func SplitContextID(id string) (typeKey, key string, ok bool) { return strings.Cut(id, ":") }

// Filter narrows a list of services, contexts or context types.
type Filter struct {
	Search      string
	ContextType string // contexts only
}

// Draft is the service, context or context type that a caller asks for.
type Draft struct {
	Key        optional.Value[string]
	Name       optional.Value[string]
	Attributes optional.Value[json.RawMessage] // context types only
	Problems   fault.Problems
}

func (d *Draft) validate() error {
	naming.CheckName(&d.Problems, d.Name, maxName)
	if attributes, sent := d.Attributes.Get(); sent && len(attributes) > maxAttributes {
		d.Problems.Attribute("attributes", "must have at most %d bytes", maxAttributes)
	}
	return d.Problems.Err()
}

// brokenPathRule returns the rule that a key breaks, or "". Programs choose these keys, and the
// keys are segments of URL paths.
func brokenPathRule(key string, maximum int) string {
	if !naming.InPath(key) {
		return naming.PathRule
	}
	return brokenRule(key, maximum)
}

// brokenTypeRule returns the rule that the key of a context type breaks, or "".
func brokenTypeRule(key string) string {
	if strings.Contains(key, ":") {
		return "must not contain a colon"
	}
	return brokenPathRule(key, maxTypeKey)
}

// brokenRule returns the rule that a key chosen by a program breaks, or "".
func brokenRule(key string, maximum int) string {
	if !naming.Fits(key, 1, maximum) {
		return "must have 1 to " + strconv.Itoa(maximum) + " characters"
	}
	return naming.HiddenRule(key)
}
