package plans

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/fault"
)

// Product is a part of Signalbox that an account holds a plan for.
type Product string

// The products. Platform is not held; it names what all products share.
const (
	Jobs     Product = "jobs"
	Flags    Product = "flags"
	Logging  Product = "logging"
	Config   Product = "config"
	Platform Product = "platform"
)

// Products lists what an account holds a plan for.
func Products() []Product { return []Product{Jobs, Flags, Logging, Config} }

// Limit names something that is counted, as "<product>.<thing>".
type Limit string

// The limits.
const (
	JobsIncludedRuns            Limit = "jobs.included_runs"
	JobsActiveJobs              Limit = "jobs.active_jobs"
	JobsMaxTimeoutSeconds       Limit = "jobs.max_timeout_seconds"
	LoggingManagedLoggers       Limit = "logging.managed_loggers"
	LoggingGroups               Limit = "logging.groups"
	PlatformManagedEnvironments Limit = "platform.managed_environments"
	FlagsItems                  Limit = "flags.items"
	FlagsRules                  Limit = "flags.rules"
	ConfigItems                 Limit = "config.items"
)

// Free is the plan that costs nothing. Every table has it, and every product
// that no plan was named for is on it.
const Free = "free"

// Unlimited is the value of a limit that never binds.
const Unlimited = -1

// Table says what each plan allows.
type Table map[string]map[Limit]int

// BuiltIn is the table used unless the operator gives another.
func BuiltIn() Table {
	return Table{
		Free: {
			JobsIncludedRuns: 3000, JobsActiveJobs: 10, JobsMaxTimeoutSeconds: 30,
			LoggingManagedLoggers: 15, LoggingGroups: 3, PlatformManagedEnvironments: 2,
			FlagsItems: Unlimited, FlagsRules: 5, ConfigItems: 10,
		},
		"standard": {
			JobsIncludedRuns: 100000, JobsActiveJobs: 100, JobsMaxTimeoutSeconds: 300,
			LoggingManagedLoggers: 250, LoggingGroups: 50, PlatformManagedEnvironments: 5,
			FlagsItems: Unlimited, FlagsRules: 25, ConfigItems: 100,
		},
		"pro": {
			JobsIncludedRuns: Unlimited, JobsActiveJobs: Unlimited, JobsMaxTimeoutSeconds: 900,
			LoggingManagedLoggers: Unlimited, LoggingGroups: Unlimited, PlatformManagedEnvironments: Unlimited,
			FlagsItems: Unlimited, FlagsRules: Unlimited, ConfigItems: Unlimited,
		},
	}
}

// Names lists the plans of the table.
func (t Table) Names() []string { return slices.Sorted(maps.Keys(t)) }

// Held is the plan an account has for each product.
type Held map[Product]string

// Held makes a Held out of "pro" (every product) or "jobs=pro,logging=free"
// (the others stay on the free plan), refusing names that are not in the table.
func (t Table) Held(text string) (Held, error) {
	free := Held{}
	for _, product := range Products() {
		free[product] = Free
	}
	return t.Change(free, text)
}

// Change makes a Held out of another: products that the text does not name
// keep their plan.
func (t Table) Change(from Held, text string) (Held, error) {
	held := maps.Clone(from)
	for part := range strings.SplitSeq(text, ",") {
		if err := t.hold(held, strings.TrimSpace(part)); err != nil {
			return nil, err
		}
	}
	return held, nil
}

func (t Table) hold(held Held, part string) error {
	product, plan, named := strings.Cut(part, "=")
	if !named {
		product, plan = "", part
	}
	if _, known := t[plan]; !known {
		return fmt.Errorf("there is no plan %q; the plans are %s", plan, strings.Join(t.Names(), ", "))
	}
	if !named {
		for _, each := range Products() {
			held[each] = plan
		}
		return nil
	}
	if !slices.Contains(Products(), Product(product)) {
		return fmt.Errorf("there is no product %q; the products are jobs, flags, logging and config", product)
	}
	held[Product(product)] = plan
	return nil
}

// Entitlement is a limit as it applies to one account.
type Entitlement struct {
	Limit   Limit
	Maximum int // Unlimited or more than or equal to zero
	Plan    string
	Product Product
}

// Entitlement finds what an account may use of a limit. What the platform
// limits is granted by the best paid plan held for any product.
func (t Table) Entitlement(held Held, limit Limit) Entitlement {
	product, _, _ := strings.Cut(string(limit), ".")
	if Product(product) != Platform {
		return t.entitlement(held, Product(product), limit)
	}
	best := Entitlement{Limit: limit, Plan: Free, Product: Platform, Maximum: t[Free][limit]}
	for _, each := range Products() {
		if candidate := t.entitlement(held, each, limit); candidate.Plan != Free && candidate.exceeds(best) {
			best = candidate
		}
	}
	return best
}

func (t Table) entitlement(held Held, product Product, limit Limit) Entitlement {
	plan := held[product]
	if _, known := t[plan]; !known {
		plan = Free // a plan that has left the table grants what costs nothing
	}
	return Entitlement{Limit: limit, Plan: plan, Product: product, Maximum: t[plan][limit]}
}

// exceeds tells whether e grants more than other; a paid plan that grants the
// same as none still names its product.
func (e Entitlement) exceeds(other Entitlement) bool {
	if other.Maximum == Unlimited {
		return other.Product == Platform && e.Maximum == Unlimited
	}
	return e.Maximum == Unlimited || e.Maximum > other.Maximum ||
		(other.Product == Platform && e.Maximum == other.Maximum)
}

// Take decides whether one more slot may be used when current are in use.
func (e Entitlement) Take(current int) error {
	if e.Maximum == Unlimited || current < e.Maximum {
		return nil
	}
	return e.Exceeded(current)
}

// Exceeded is the refusal of a write that would go past the limit.
func (e Entitlement) Exceeded(current int) *fault.Error {
	refusal := fault.New(fault.LimitReached,
		"The %s plan allows %d of %s and %d are in use. Free a slot or move to a larger plan.",
		e.Plan, e.Maximum, e.Limit, current)
	refusal.Meta = map[string]any{
		"limit_key": string(e.Limit), "current": current, "maximum": e.Maximum, "plan": e.Plan,
	}
	if strings.HasPrefix(string(e.Limit), string(Platform)) {
		refusal.Meta["product"] = string(e.Product)
	}
	return refusal
}
