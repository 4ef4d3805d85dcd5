package logging

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/levelfiles"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/page"
)

// releasedFor is how long files list a released logger. Some frameworks keep the last level until they are told to drop it.
const releasedFor = 24 * time.Hour

// Spelling is a name of a logger that a service reported, where it differs from the normalized name.
type Spelling struct{ Logger, Name string }

// Released is a logger that was managed until an instant.
type Released struct {
	Key  string    `json:"key"`
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

// FileLogger is a logger as level files need it.
type FileLogger struct {
	Key   string   `json:"key"`
	Names []string `json:"names"`
	Levels
	Group   string `json:"group,omitempty"`
	Managed bool   `json:"managed"`
}

// FileGroup is a group as level files need it.
type FileGroup struct {
	Key string `json:"key"`
	Levels
}

// FileLevels are the levels of an environment, for level files. Besides the loggers that InEnvironment returns, they have
// all loggers below a managed or released one: a framework may have a level of its own for them.
type FileLevels struct {
	Environment string       `json:"environment"`
	Modified    time.Time    `json:"modified"`
	Loggers     []FileLogger `json:"loggers"`
	Groups      []FileGroup  `json:"groups"`
	Released    []Released   `json:"released"`
}

// FileTx has the reads that only level files need.
type FileTx interface {
	ReadTx
	// LevelsModified returns when a logger or group last changed. Two changes never have the same second.
	LevelsModified(ctx context.Context, account string) (time.Time, error)
	// LoggerSpellings returns the distinct spellings that services report, sorted by logger.
	LoggerSpellings(ctx context.Context, account string) ([]Spelling, error)
	// ReleasedLoggers returns the loggers that were released since an instant, sorted by key.
	ReleasedLoggers(ctx context.Context, account string, since time.Time) ([]Released, error)
}

// ForFiles reads the levels of an environment for level files.
func ForFiles(ctx context.Context, tx FileTx, account, environment string) (FileLevels, error) {
	found := FileLevels{Environment: environment}
	var err error
	if found.Modified, err = tx.LevelsModified(ctx, account); err != nil {
		return FileLevels{}, err
	}
	if found.Released, err = tx.ReleasedLoggers(ctx, account, tx.Now().Add(-releasedFor)); err != nil {
		return FileLevels{}, err
	}
	spellings, err := tx.LoggerSpellings(ctx, account)
	if err != nil {
		return FileLevels{}, err
	}
	loggers, err := allLoggers(ctx, tx, account)
	if err != nil {
		return FileLevels{}, err
	}
	groups, err := page.All(func(request page.Request) (page.List[Group], error) {
		return tx.LogGroups(ctx, account, GroupFilter{}, request)
	})
	found.add(loggers, groups, byLogger(spellings))
	return found, err
}

func allLoggers(ctx context.Context, tx ReadTx, account string) ([]Logger, error) {
	return page.All(func(request page.Request) (page.List[Logger], error) {
		return tx.Loggers(ctx, account, Filter{}, request)
	})
}

func byLogger(spellings []Spelling) map[string][]string {
	names := map[string][]string{}
	for _, each := range spellings {
		names[each.Logger] = append(names[each.Logger], each.Name)
	}
	return names
}

// add adds the loggers and groups that levels in the environment depend on.
func (f *FileLevels) add(loggers []Logger, groups []Group, spellings map[string][]string) {
	kept := map[string]bool{}
	for _, logger := range controlled(loggers) {
		kept[logger.Key] = true
	}
	over := map[string]bool{}
	for _, each := range f.Released {
		over[each.Key] = true
	}
	for _, logger := range loggers {
		if logger.Managed {
			over[logger.Key] = true
		}
	}
	for _, logger := range loggers {
		if kept[logger.Key] || isBelow(logger.Key, over) {
			logger.Environments = overrides.Only(logger.Environments, f.Environment)
			f.Loggers = append(f.Loggers, FileLogger{Key: logger.Key, Names: levelfiles.Names(logger.Key, logger.Name, spellings[logger.Key]),
				Levels: logger.Levels, Group: logger.Group, Managed: logger.Managed})
		}
	}
	for _, group := range groups {
		group.Environments = overrides.Only(group.Environments, f.Environment)
		f.Groups = append(f.Groups, FileGroup{group.Key, group.Levels})
	}
}

// Unexpired returns the levels that have not expired at an instant.
func (f *FileLevels) Unexpired(at time.Time) *FileLevels {
	left := &FileLevels{Environment: f.Environment, Modified: f.Modified, Released: slices.Clip(f.Released)} // concurrent calls append to it
	for _, logger := range f.Loggers {
		var ended bool
		if logger.Levels, ended = logger.expired(at); ended && logger.empty() && logger.Group == "" && logger.Managed {
			logger.Managed = false
			left.Released = append(left.Released, Released{Key: logger.Key, Name: logger.Key, At: at})
		}
		left.Loggers = append(left.Loggers, logger)
	}
	for _, group := range f.Groups {
		group.Levels, _ = group.expired(at)
		left.Groups = append(left.Groups, group)
	}
	return left
}

// NextExpiry returns when the next level expires, or nil if none does.
func (f *FileLevels) NextExpiry() (next *time.Time) {
	note := func(at *time.Time) {
		if at != nil && (next == nil || at.Before(*next)) {
			next = at
		}
	}
	for _, logger := range f.Loggers {
		note(logger.NextExpiry())
	}
	for _, group := range f.Groups {
		note(group.NextExpiry())
	}
	return next
}

// At returns the loggers for a file at an instant: controlled loggers with their levels, and loggers that were released
// within releasedFor.
func (f *FileLevels) At(now time.Time) []levelfiles.Logger {
	tree, names := f.tree()
	loggers := levelfiles.Resolve(tree, f.Environment, func(key string) []string { return names[key] })
	released := map[string]bool{}
	for _, each := range f.Released {
		if now.Sub(each.At) > releasedFor {
			continue
		}
		released[each.Key] = true
		if tree.Controls(each.Key) {
			continue
		}
		known := names[each.Key]
		if known == nil {
			known = levelfiles.Names(each.Key, each.Name, nil)
		}
		loggers = append(loggers, levelfiles.Logger{Names: known})
	}
	for _, logger := range f.Loggers {
		if logger.Level == loglevel.None && !released[logger.Key] && !tree.Controls(logger.Key) && isBelow(logger.Key, released) {
			loggers = append(loggers, levelfiles.Logger{Names: logger.Names})
		}
	}
	return loggers
}

// tree returns the tree of the loggers, and their names by key.
func (f *FileLevels) tree() (*loglevel.Tree, map[string][]string) {
	nodes, names := make([]loglevel.Logger, len(f.Loggers)), make(map[string][]string, len(f.Loggers))
	for i, each := range f.Loggers {
		nodes[i] = loglevel.Logger{Key: each.Key, Level: each.Level, Environments: each.plain(), Group: each.Group, Managed: each.Managed}
		names[each.Key] = each.Names
	}
	groups := make([]loglevel.Group, len(f.Groups))
	for i, each := range f.Groups {
		groups[i] = loglevel.Group{Key: each.Key, Level: each.Level, Environments: each.plain()}
	}
	return loglevel.NewTree(nodes, groups), names
}
