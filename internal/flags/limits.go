package flags

import (
	"context"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/overrides"
)

// Hard caps per account.
const (
	MaxFlags = 10_000
	// MaxLargeBytes limits the total size of the flags with more than SmallBytes:
	// all flags of an account are held in memory, and listed.
	MaxLargeBytes = 64 << 20
)

// Limits of one flag. The plan limits the number of its rules; on an unlimited
// plan maxDefinitionBytes does.
const (
	maxValues          = 1000
	maxValueBytes      = 64 << 10
	maxDefinitionBytes = 1 << 20
	// SmallBytes is the largest size of a flag that does not count toward
	// MaxLargeBytes, and so the largest default that a report may declare.
	SmallBytes = 8 << 10
)

func checkCounts(problems *fault.Problems, flag Flag) bool {
	if len(flag.Values) > maxValues {
		problems.Attribute("values", "must have at most %d entries", maxValues)
	}
	return overrides.CheckCount(problems, len(flag.Environments)) && len(flag.Values) <= maxValues
}

// checkSize refuses a flag that is too large as a whole, and names its largest part.
func checkSize(problems *fault.Problems, flag Flag) bool {
	if flag.bytes() <= maxDefinitionBytes {
		return true
	}
	part, most := "default", len(flag.Default)
	if size := choicesBytes(flag.Values); size > most {
		part, most = "values", size
	}
	if environmentsBytes(flag.Environments) > most {
		part = "environments"
	}
	problems.Attribute(part, "must be smaller: the default, the values and the environments may have %d bytes together", maxDefinitionBytes)
	return false
}

// bytes returns the approximate size of the flag as JSON.
func (f Flag) bytes() int {
	return len(f.Default) + choicesBytes(f.Values) + environmentsBytes(f.Environments)
}

// framing is the approximate size of the member names of a JSON object.
const framing = 40

func choicesBytes(choices []Choice) int {
	size := 0
	for _, choice := range choices {
		size += framing + len(choice.Name) + len(choice.Value)
	}
	return size
}

func environmentsBytes(environments map[string]Environment) int {
	size := 0
	for key, environment := range environments {
		size += framing + len(key) + len(environment.Default)
		for _, rule := range environment.Rules {
			size += framing + len(rule.Description) + len(rule.Logic) + len(rule.Value)
		}
	}
	return size
}

// checkTotalSize refuses a flag that was just written if it grew and the large
// flags of the account now exceed MaxLargeBytes.
func checkTotalSize(ctx context.Context, tx ReadTx, before, after Flag) error {
	if after.bytes() <= max(SmallBytes, before.bytes()) {
		return nil
	}
	total, err := tx.LargeFlagBytes(ctx, after.Account)
	if err != nil || total <= MaxLargeBytes {
		return err
	}
	return fault.RowLimit("flags.large_flag_bytes", MaxLargeBytes,
		"Flags with more than %d bytes may have %d bytes together, in one account. Make some smaller, or delete some that are not used.", SmallBytes, MaxLargeBytes)
}
