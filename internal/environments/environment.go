package environments

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
)

// Kind is the JSON:API type of an environment.
const Kind = "environment"

// The environments of a new account. Production cannot be demoted or deleted.
const (
	Production = "production"
	staging    = "staging"
)

const (
	maxName = 255
	maxKey  = 100
	// maxReported is the number of environments up to which reports may create more. The hard
	// cap, maxEnvironments, is twice that. So people can still create environments when
	// programs have created too many.
	maxReported     = 1000
	maxEnvironments = 2 * maxReported
)

var colorPattern = regexp.MustCompile(`^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$`)

// Classification decides who sees an environment by default.
type Classification string

// Everybody sees a standard environment. A user sees an ad-hoc environment only after adding it
// to their own order.
const (
	Standard Classification = "STANDARD"
	AdHoc    Classification = "AD_HOC"
)

// ParseClassification parses a classification in any case.
func ParseClassification(text string) (Classification, bool) {
	classification := Classification(strings.ToUpper(text))
	return classification, classification == Standard || classification == AdHoc
}

// IsKey reports whether text may be the key of an environment.
func IsKey(text string) bool { return naming.IsKey(text, maxKey) }

// Environment is a deployment target.
type Environment struct {
	Account        string         `json:"-"`
	Key            string         `json:"-"`
	Name           string         `json:"name"`
	Color          *string        `json:"color"`
	Classification Classification `json:"classification"`
	Managed        bool           `json:"managed"`
	CreatedAt      time.Time      `json:"created_at"`
	UpdatedAt      time.Time      `json:"updated_at"`
}

// Usage counts the values that the products have for an environment.
type Usage struct {
	FlagRules       int `json:"flag_rules"`
	FlagEnvDefaults int `json:"flag_env_defaults"`
	ConfigOverrides int `json:"config_overrides"`
	LoggerOverrides int `json:"logger_overrides"`
}

// Filter narrows a list of environments. Zero members do not filter.
type Filter struct {
	Search         string
	Classification Classification
	Managed        optional.Value[bool]
}

// Draft is the environment that a caller asks for, not yet validated. If a replace omits
// classification or managed, the stored value stays.
type Draft struct {
	Key            optional.Value[string]
	Name           optional.Value[string]
	Color          optional.Value[string]
	Classification optional.Value[string]
	Managed        optional.Value[bool]
	// Restores says that the draft is an earlier state of the environment.
	Restores bool
	// Problems starts with the problems found while reading the input.
	Problems fault.Problems
}

// Writable refuses to write a value for an environment that is unmanaged or
// does not exist. managed has every environment of the account.
func Writable(managed map[string]bool, key string) error {
	isManaged, exists := managed[key]
	if isManaged {
		return nil
	}
	refusal := fault.New(fault.EnvironmentUnmanaged, "The environment %q does not exist.%s",
		key, naming.DidYouMean(key, slices.Sorted(maps.Keys(managed))))
	if exists {
		refusal = fault.New(fault.EnvironmentUnmanaged,
			"The environment %q is not managed: its values are frozen. Promote it first: signalbox environments promote %s", key, key)
	}
	return refusal.With("environment", key)
}

func (d *Draft) validate() error {
	naming.RequireName(&d.Problems, d.Name, maxName)
	if color, sent := d.Color.Get(); sent && !colorPattern.MatchString(color) {
		d.Problems.Attribute("color", "must be null or a hex color: #rgb, #rrggbb or #rrggbbaa")
	}
	if text, sent := d.Classification.Get(); sent {
		if _, known := ParseClassification(text); !known {
			d.Problems.Attribute("classification", "must be STANDARD or AD_HOC")
		}
	}
	return d.Problems.Err()
}

// over applies the draft to a stored environment.
func (d *Draft) over(stored Environment, now time.Time) Environment {
	after := stored
	after.Name, after.Color, after.UpdatedAt = d.Name.Or(stored.Name), d.Color.Pointer(), now
	after.Managed = d.Managed.Or(stored.Managed)
	if text, sent := d.Classification.Get(); sent {
		after.Classification, _ = ParseClassification(text)
	}
	return after
}
