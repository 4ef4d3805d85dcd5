// Package plans has the limits of each plan. A Table, built in or read from a
// file, maps plan names to limits. An account holds one plan per product. An
// Entitlement is one limit of one account. It decides whether a slot is free,
// inside the transaction that takes the slot.
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

// The products. Platform has no plan: it names limits that all products share.
const (
	Jobs     Product = "jobs"
	Flags    Product = "flags"
	Logging  Product = "logging"
	Config   Product = "config"
	Platform Product = "platform"
)

// Products returns the products that an account holds a plan for.
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

// Free is the default plan of a product. Every table has it.
const Free = "free"

// Unlimited is the value that means no limit.
const Unlimited = -1

// Table has the limits of each plan.
type Table map[string]map[Limit]int

// BuiltIn returns the default table; the operator may replace it.
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

// Names returns the names of the plans, sorted.
func (t Table) Names() []string { return slices.Sorted(maps.Keys(t)) }

// Held is the plan an account has for each product.
type Held map[Product]string

// Held parses "pro" (every product) or "jobs=pro,logging=free" (the others are
// on the free plan). Names that are not in the table are errors.
func (t Table) Held(text string) (Held, error) {
	free := Held{}
	for _, product := range Products() {
		free[product] = Free
	}
	return t.Change(free, text)
}

// Change is like Held, but products that are not named keep their plan.
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
	products := []Product{Product(product)}
	if !named {
		products, plan = Products(), part
	}
	if _, known := t[plan]; !known {
		return fmt.Errorf("there is no plan %q; the plans are %s", plan, strings.Join(t.Names(), ", "))
	}
	if !slices.Contains(Products(), products[0]) {
		return fmt.Errorf("there is no product %q; the products are jobs, flags, logging and config", product)
	}
	for _, each := range products {
		held[each] = plan
	}
	return nil
}

// Entitlement is a limit as it applies to one account.
type Entitlement struct {
	Limit   Limit
	Maximum int // Unlimited or more than or equal to zero
	Plan    string
	Product Product
}

// Entitlement returns a limit for an account. A limit of the platform is granted
// by the best paid plan of any product.
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

// Limits returns the maximum of every limit for an account.
func (t Table) Limits(held Held) map[Limit]int {
	limits := map[Limit]int{}
	for limit := range t[Free] {
		limits[limit] = t.Entitlement(held, limit).Maximum
	}
	return limits
}

func (t Table) entitlement(held Held, product Product, limit Limit) Entitlement {
	plan := held[product]
	if _, known := t[plan]; !known {
		plan = Free // it was removed from the table
	}
	return Entitlement{Limit: limit, Plan: plan, Product: product, Maximum: t[plan][limit]}
}

// exceeds reports whether e grants more than other. A paid plan also exceeds the
// free plan if it grants as much, so that its product is named.
func (e Entitlement) exceeds(other Entitlement) bool {
	if other.Maximum == Unlimited {
		return other.Product == Platform && e.Maximum == Unlimited
	}
	return e.Maximum == Unlimited || e.Maximum > other.Maximum || (other.Product == Platform && e.Maximum == other.Maximum)
}

// Take returns an error if current slots are the maximum.
func (e Entitlement) Take(current int) error {
	if e.Maximum == Unlimited || current < e.Maximum {
		return nil
	}
	return e.Exceeded(current)
}

// Exceeded returns the refusal of a write that would exceed the limit.
func (e Entitlement) Exceeded(current int) *fault.Error {
	refusal := fault.New(fault.LimitReached, "The %s plan allows %d of %s and %d are in use. Free a slot or move to a larger plan.",
		e.Plan, e.Maximum, e.Limit, current)
	refusal.Meta = map[string]any{"limit_key": string(e.Limit), "current": current, "maximum": e.Maximum, "plan": e.Plan}
	if strings.HasPrefix(string(e.Limit), string(Platform)) {
		refusal.Meta["product"] = string(e.Product)
	}
	return refusal
}
