package live

import (
	"slices"
	"strings"
	"sync"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
)

// maxLoggers is how many loggers a box controls. It is the maximum of an account.
const maxLoggers = 10_000

// Logger is a named logger of a logging framework.
type Logger struct {
	// Name is the logger's name in any spelling.
	Name string
	// Level is the level that the code has set for this logger; None when it inherits, as most do.
	Level loglevel.Level
	// Uses is the level that the logger has without Signalbox.
	Uses loglevel.Level
}

// Adapter connects a logging framework. Package slogadapter has one for log/slog.
type Adapter interface {
	// Loggers returns the loggers that exist.
	Loggers() []Logger
	// SetLevel sets the level of a logger. None restores the level that the code has set.
	SetLevel(name string, level loglevel.Level)
	// OnNew sets the function to call with every new logger. The adapter must not hold a lock that SetLevel needs while it
	// calls the function.
	OnNew(func(Logger))
}

// Adapt lets the box set the levels of the adapter's loggers. It sets only loggers that are managed in Signalbox or have a
// managed ancestor. A logger that becomes unmanaged gets the level of the code again.
func (b *Box) Adapt(adapter Adapter) {
	add := func(logger Logger) {
		if b.levels.add(adapter, logger) {
			b.reports.newDeclaration()
		}
	}
	adapter.OnNew(add)
	for _, logger := range adapter.Loggers() {
		add(logger)
	}
}

// levelTable sets the levels of all loggers.
type levelTable struct {
	environment string

	mu      sync.Mutex
	tree    *loglevel.Tree
	loggers []*controlled
	index   map[loggerIdentity]*controlled
}

type loggerIdentity struct {
	adapter Adapter
	name    string
}

// controlled is a logger of an adapter.
type controlled struct {
	Logger
	adapter    Adapter
	key        string
	applied    loglevel.Level // None while the level of the code applies
	unreported bool           // the next report must have it
}

func newLevelTable(environment string) *levelTable {
	return &levelTable{environment: environment, tree: loglevel.NewTree(nil, nil), index: map[loggerIdentity]*controlled{}}
}

// add sets the level of a new logger, before its first record. It returns false for a known logger.
func (t *levelTable) add(adapter Adapter, logger Logger) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	identity := loggerIdentity{adapter, logger.Name}
	if known := t.index[identity]; known != nil || len(t.loggers) >= maxLoggers {
		return false
	}
	added := &controlled{Logger: logger, adapter: adapter, key: loglevel.Normalize(logger.Name), unreported: true}
	t.index[identity] = added
	t.loggers = append(t.loggers, added)
	t.apply(added)
	return true
}

// replace applies the levels of tree to all loggers. It reports whether one changed.
func (t *levelTable) replace(tree *loglevel.Tree) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tree = tree
	changed := false
	for _, each := range t.loggers {
		changed = t.apply(each) || changed
	}
	return changed
}

func (t *levelTable) apply(logger *controlled) bool {
	level := loglevel.None
	if t.tree.Controls(logger.key) {
		level = t.tree.Resolve(logger.key, t.environment).Level
	}
	if level == logger.applied {
		return false
	}
	logger.adapter.SetLevel(logger.Name, level)
	logger.applied, logger.unreported = level, true
	return true
}

// resolved returns the level that the logger uses.
func (c *controlled) resolved() loglevel.Level {
	if c.applied != loglevel.None {
		return c.applied
	}
	return c.Uses
}

// all returns a copy of the loggers.
func (t *levelTable) all() []controlled {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]controlled, len(t.loggers))
	for i, each := range t.loggers {
		list[i] = *each
	}
	return list
}

// ControlledLogger is a logger whose level Signalbox decides.
type ControlledLogger struct {
	ID    string
	Name  string // the display name
	Level loglevel.Level
}

// ControlledLoggers returns the managed loggers and the loggers with a level below them, sorted by id. It is for programs that
// hand levels on; others use [Box.Adapt].
func (b *Box) ControlledLoggers() []ControlledLogger {
	b.applying.Lock() // so that the levels and the names are of one state
	defer b.applying.Unlock()
	b.levels.mu.Lock()
	tree := b.levels.tree
	b.levels.mu.Unlock()
	var found []ControlledLogger
	for key, logger := range b.contents.Load().loggers {
		if tree.Controls(key) {
			found = append(found, ControlledLogger{key, logger.Name, tree.Resolve(key, b.settings.environment).Level})
		}
	}
	slices.SortFunc(found, func(a, b ControlledLogger) int { return strings.Compare(a.ID, b.ID) })
	return found
}

// takeUnreported returns the loggers that were not reported yet, or all of them.
func (t *levelTable) takeUnreported(all bool) []controlled {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []controlled
	for _, each := range t.loggers {
		if all || each.unreported {
			list = append(list, *each)
			each.unreported = false
		}
	}
	return list
}

// putBack remembers that loggers still have to be reported.
func (t *levelTable) putBack(list []controlled) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, each := range list {
		if known := t.index[loggerIdentity{each.adapter, each.Name}]; known != nil {
			known.unreported = true
		}
	}
}

// newTree returns the tree that resolves the levels of the contents.
func newTree(loggers map[string]signalbox.Logger, groups map[string]signalbox.LogGroup) *loglevel.Tree {
	var nodes []loglevel.Logger
	for key, each := range loggers {
		node := loglevel.Logger{Key: key, Level: each.Level, Environments: overrides(each.Environments), Managed: each.Managed}
		if each.Group != nil {
			node.Group = *each.Group
		}
		nodes = append(nodes, node)
	}
	var sets []loglevel.Group
	for key, each := range groups {
		sets = append(sets, loglevel.Group{Key: key, Level: each.Level, Environments: overrides(each.Environments)})
	}
	return loglevel.NewTree(slices.Clip(nodes), sets)
}

func overrides(list map[string]signalbox.LevelOverride) map[string]loglevel.Level {
	levels := make(map[string]loglevel.Level, len(list))
	for environment, each := range list {
		levels[environment] = each.Level
	}
	return levels
}
