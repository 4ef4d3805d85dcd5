package plans_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/plans"
)

// The limits as the interface promises them.
func TestBuiltIn(t *testing.T) {
	t.Parallel()
	promised := map[plans.Limit][3]int{
		"jobs.included_runs":            {3000, 100000, -1},
		"jobs.active_jobs":              {10, 100, -1},
		"jobs.max_timeout_seconds":      {30, 300, 900},
		"logging.managed_loggers":       {15, 250, -1},
		"logging.groups":                {3, 50, -1},
		"platform.managed_environments": {2, 5, -1},
		"flags.items":                   {-1, -1, -1},
		"flags.rules":                   {5, 25, -1},
		"config.items":                  {10, 100, -1},
	}
	want := plans.Table{}
	for i, plan := range []string{"free", "standard", "pro"} {
		want[plan] = map[plans.Limit]int{}
		for limit, values := range promised {
			want[plan][limit] = values[i]
		}
	}
	if diff := cmp.Diff(want, plans.BuiltIn()); diff != "" {
		t.Errorf("the plans differ (-promised +built in):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"free", "pro", "standard"}, plans.BuiltIn().Names()); diff != "" {
		t.Error(diff)
	}
}

func held(jobs, flags, logging, config string) plans.Held {
	return plans.Held{plans.Jobs: jobs, plans.Flags: flags, plans.Logging: logging, plans.Config: config}
}

func TestTable_Held(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]plans.Held{
		"free":                                 held("free", "free", "free", "free"),
		"pro":                                  held("pro", "pro", "pro", "pro"),
		"jobs=pro,logging=free":                held("pro", "free", "free", "free"),
		" jobs=pro , flags=standard ":          held("pro", "standard", "free", "free"),
		"standard,jobs=pro":                    held("pro", "standard", "standard", "standard"),
		"jobs=pro,standard":                    held("standard", "standard", "standard", "standard"),
		"config=pro,config=free":               held("free", "free", "free", "free"),
		"jobs=pro,flags=pro,logging=pro":       held("pro", "pro", "pro", "free"),
		"config=standard":                      held("free", "free", "free", "standard"),
		"jobs=pro,flags=pro,config=pro":        held("pro", "pro", "free", "pro"),
		"logging=standard,jobs=pro,config=pro": held("pro", "free", "standard", "pro"),
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			got, err := plans.BuiltIn().Held(text)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
			}
		})
	}
}

func TestTable_HeldUnknown(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                 `no plan ""`,
		"gold":             `no plan "gold"; the plans are free, pro, standard`,
		"Pro":              `no plan "Pro"`,
		"jobs=gold":        `no plan "gold"`,
		"tea=pro":          `no product "tea"`,
		"platform=pro":     `no product "platform"`,
		"=pro":             `no product ""`,
		"jobs=":            `no plan ""`,
		"jobs=pro,":        `no plan ""`,
		"jobs=pro=free":    `no plan "pro=free"`,
		"jobs = pro":       `no plan " pro"`,
		"jobs=pro;flags=x": `no plan`,
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			got, err := plans.BuiltIn().Held(text)
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%q gives %v, %v; want an error with %q", text, got, err, says)
			}
		})
	}
}

func TestTable_ChangeKeepsOthers(t *testing.T) {
	t.Parallel()
	before := held("pro", "standard", "free", "pro")
	after, err := plans.BuiltIn().Change(before, "flags=free")
	if diff := cmp.Diff(held("pro", "free", "free", "pro"), after); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if before[plans.Flags] != "standard" {
		t.Error("the plans that were held have changed themselves")
	}
	if _, err := plans.BuiltIn().Change(before, "flags=gold"); err == nil {
		t.Error("an unknown plan was accepted")
	}
}

func TestTable_EntitlementOfProduct(t *testing.T) {
	t.Parallel()
	account := held("pro", "standard", "free", "gone")
	for limit, want := range map[plans.Limit]plans.Entitlement{
		plans.JobsActiveJobs:        {Maximum: -1, Plan: "pro", Product: plans.Jobs},
		plans.JobsMaxTimeoutSeconds: {Maximum: 900, Plan: "pro", Product: plans.Jobs},
		plans.FlagsRules:            {Maximum: 25, Plan: "standard", Product: plans.Flags},
		plans.LoggingGroups:         {Maximum: 3, Plan: "free", Product: plans.Logging},
		plans.ConfigItems:           {Maximum: 10, Plan: "free", Product: plans.Config}, // a plan that left the table
	} {
		t.Run(string(limit), func(t *testing.T) {
			want.Limit = limit
			if got := plans.BuiltIn().Entitlement(account, limit); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	if got := plans.BuiltIn().Entitlement(nil, plans.JobsActiveJobs); got.Plan != "free" || got.Maximum != 10 {
		t.Errorf("an account without plans has %+v", got)
	}
}

func TestTable_EntitlementOfPlatform(t *testing.T) {
	t.Parallel()
	const limit = plans.PlatformManagedEnvironments
	equal := plans.BuiltIn()
	equal["standard"][limit] = equal["free"][limit]
	worse := plans.BuiltIn()
	worse["standard"][limit] = 1
	generous := plans.BuiltIn()
	generous["free"][limit] = plans.Unlimited
	for name, each := range map[string]struct {
		table plans.Table
		held  plans.Held
		want  plans.Entitlement
	}{
		"all free":                        {plans.BuiltIn(), held("free", "free", "free", "free"), plans.Entitlement{Maximum: 2, Plan: "free", Product: plans.Platform}},
		"nothing held":                    {plans.BuiltIn(), nil, plans.Entitlement{Maximum: 2, Plan: "free", Product: plans.Platform}},
		"one paid":                        {plans.BuiltIn(), held("free", "free", "standard", "free"), plans.Entitlement{Maximum: 5, Plan: "standard", Product: plans.Logging}},
		"the best of two":                 {plans.BuiltIn(), held("standard", "free", "free", "pro"), plans.Entitlement{Maximum: -1, Plan: "pro", Product: plans.Config}},
		"the best comes first":            {plans.BuiltIn(), held("pro", "standard", "standard", "standard"), plans.Entitlement{Maximum: -1, Plan: "pro", Product: plans.Jobs}},
		"a tie is the first product's":    {plans.BuiltIn(), held("free", "standard", "standard", "free"), plans.Entitlement{Maximum: 5, Plan: "standard", Product: plans.Flags}},
		"a tie of unlimited":              {plans.BuiltIn(), held("free", "free", "pro", "pro"), plans.Entitlement{Maximum: -1, Plan: "pro", Product: plans.Logging}},
		"a plan that left the table":      {plans.BuiltIn(), held("gone", "free", "free", "free"), plans.Entitlement{Maximum: 2, Plan: "free", Product: plans.Platform}},
		"a paid plan that grants as much": {equal, held("free", "standard", "free", "free"), plans.Entitlement{Maximum: 2, Plan: "standard", Product: plans.Flags}},
		"a paid plan that grants less":    {worse, held("free", "standard", "free", "free"), plans.Entitlement{Maximum: 2, Plan: "free", Product: plans.Platform}},
		"free is unlimited":               {generous, held("standard", "pro", "free", "free"), plans.Entitlement{Maximum: -1, Plan: "pro", Product: plans.Flags}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each.want.Limit = limit
			if got := each.table.Entitlement(each.held, limit); got != each.want {
				t.Errorf("got %+v, want %+v", got, each.want)
			}
		})
	}
}

func TestTable_Limits(t *testing.T) {
	t.Parallel()
	limits := plans.BuiltIn().Limits(held("standard", "free", "free", "pro"))
	want := map[plans.Limit]int{
		plans.JobsIncludedRuns: 100000, plans.JobsActiveJobs: 100, plans.JobsMaxTimeoutSeconds: 300,
		plans.LoggingManagedLoggers: 15, plans.LoggingGroups: 3, plans.PlatformManagedEnvironments: plans.Unlimited,
		plans.FlagsItems: plans.Unlimited, plans.FlagsRules: 5, plans.ConfigItems: plans.Unlimited,
	}
	if !maps.Equal(limits, want) {
		t.Errorf("got %v, want %v", limits, want)
	}
}

// Whatever an account holds, it gets the best of it and never less than free.
func TestTable_EntitlementIsBestOfHeld(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		maximum := rapid.IntRange(plans.Unlimited, 6)
		table := plans.Table{}
		for _, plan := range []string{"free", "a", "b", "c"} {
			table[plan] = map[plans.Limit]int{plans.PlatformManagedEnvironments: maximum.Draw(t, plan)}
		}
		account := plans.Held{}
		for _, product := range plans.Products() {
			account[product] = rapid.SampledFrom([]string{"free", "a", "b", "c", "gone"}).Draw(t, string(product))
		}
		got := table.Entitlement(account, plans.PlatformManagedEnvironments)
		for _, plan := range append([]string{"free"}, values(account)...) {
			if limits, known := table[plan]; known && exceeds(limits[plans.PlatformManagedEnvironments], got.Maximum) {
				t.Fatalf("%v with %v gives %+v", account, table, got)
			}
		}
		if got.Maximum != table[got.Plan][plans.PlatformManagedEnvironments] {
			t.Fatalf("%+v names a plan that grants something else", got)
		}
		if got.Product != plans.Platform && account[got.Product] != got.Plan {
			t.Fatalf("%+v names a product on another plan", got)
		}
	})
}

func values(account plans.Held) (held []string) {
	for _, plan := range account {
		held = append(held, plan)
	}
	return held
}

func exceeds(a, b int) bool { return b != plans.Unlimited && (a == plans.Unlimited || a > b) }

func TestEntitlement_Take(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		maximum, current int
		allowed          bool
	}{
		"room":         {2, 1, true},
		"full":         {2, 2, false},
		"over":         {2, 3, false}, // after a downgrade
		"nothing":      {0, 0, false},
		"unlimited":    {plans.Unlimited, 1 << 40, true},
		"the first":    {1, 0, true},
		"empty, wide":  {100, 0, true},
		"nearly full":  {100, 99, true},
		"just reached": {100, 100, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := plans.Entitlement{Limit: plans.LoggingGroups, Maximum: each.maximum, Plan: "free", Product: plans.Logging}.Take(each.current)
			if (err == nil) != each.allowed || err != nil && !fault.Is(err, fault.LimitReached) {
				t.Error(err)
			}
		})
	}
}

func TestEntitlement_Exceeded(t *testing.T) {
	t.Parallel()
	for _, each := range []struct {
		entitlement plans.Entitlement
		want        map[string]any
	}{
		{plans.Entitlement{Limit: plans.LoggingGroups, Maximum: 3, Plan: "free", Product: plans.Logging},
			map[string]any{"limit_key": "logging.groups", "current": 7, "maximum": 3, "plan": "free"}},
		{plans.Entitlement{Limit: plans.PlatformManagedEnvironments, Maximum: 5, Plan: "standard", Product: plans.Jobs},
			map[string]any{"limit_key": "platform.managed_environments", "current": 7, "maximum": 5, "plan": "standard", "product": "jobs"}},
		{plans.Entitlement{Limit: plans.PlatformManagedEnvironments, Maximum: 2, Plan: "free", Product: plans.Platform},
			map[string]any{"limit_key": "platform.managed_environments", "current": 7, "maximum": 2, "plan": "free", "product": "platform"}},
	} {
		t.Run(fmt.Sprint(each.entitlement.Limit), func(t *testing.T) {
			refusal := each.entitlement.Exceeded(7)
			if diff := cmp.Diff(each.want, refusal.Meta); diff != "" || refusal.Code != fault.LimitReached {
				t.Errorf("%s (-want +got):\n%s", refusal.Code, diff)
			}
			for _, fact := range []string{fmt.Sprint(each.entitlement.Maximum), "7", each.entitlement.Plan} {
				if !strings.Contains(refusal.Detail, fact) {
					t.Errorf("%q does not say %s", refusal.Detail, fact)
				}
			}
		})
	}
}
