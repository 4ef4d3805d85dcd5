package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// patience is how long a server may take to start, answer or stop. A slower one counts as hanging.
const patience = 60 * time.Second

// version is the version of the program that the tests build.
const version = "v9.8.7-e2e"

// ownerKey is the key that servers are bootstrapped with.
const ownerKey = "sk_api_e2e-owner-key-of-the-first-account-000000000"

// binary is the program under test, as a release has it.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	_ = os.Unsetenv("GOGC") // of make test: the programs that these tests start are measured
	folder, err := os.MkdirTemp("", "signalbox-e2e")
	if err == nil {
		defer os.RemoveAll(folder)
		binary = filepath.Join(folder, "signalbox")
		err = build(binary, "./cmd/signalbox")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build builds a program as make build does.
func build(to, program string) error {
	command := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X github.com/signalbox/signalbox/internal/app.version="+version, "-o", to, program)
	command.Dir = ".."
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w\n%s", err, output)
	}
	return nil
}

func TestScripts_Both(t *testing.T) {
	t.Parallel()
	runScripts(t, "both", "sqlite", "postgres")
}

// TestScripts_Either: scripts about the command line, which is the same on each database,
// run on the quicker one. Under make soak they run on both.
func TestScripts_Either(t *testing.T) {
	t.Parallel()
	runScripts(t, "either", suite.Scale([]string{"sqlite"}, []string{"sqlite", "postgres"})...)
}

func runScripts(t *testing.T, folder string, kinds ...string) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			storetest.Need(t, kind)
			testscript.Run(t, params(kind, filepath.Join("testdata", folder)))
		})
	}
}

func TestScripts_Postgres(t *testing.T) {
	t.Parallel()
	runScripts(t, "postgres", "postgres")
}

func params(kind, folder string) testscript.Params {
	return testscript.Params{
		Dir:                folder,
		RequireUniqueNames: true,
		Setup:              func(env *testscript.Env) error { return prepare(env, kind) },
		Condition: func(condition string) (bool, error) {
			if condition == "sqlite" || condition == "postgres" {
				return condition == kind, nil
			}
			return false, fmt.Errorf("there is no condition %q", condition)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"signalbox": runProgram, "exits": exits,
			"serve": serve, "terminate": terminate, "crash": crash,
			"http": sendHTTP, "json": compareJSON, "count": count, "let": let, "cookie": cookie, "token": token, "printedkey": printedKey,
			"mode": mode, "certificate": certificate, "everyroute": everyRoute, "assistant": assistant,
			"sql": runSQL, "wipe": wipe, "outage": outage,
		},
	}
}

// prepare returns a script its database and its variables.
func prepare(env *testscript.Env, kind string) error {
	t, is := env.T().(testing.TB)
	if !is {
		return errors.New("scripts need a testing.TB to get a database")
	}
	database := storetest.New(t, kind)
	env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("SIGNALBOX_DATA", "data")
	env.Setenv("SIGNALBOX_DATABASE", database.URL)
	env.Setenv("KEY", ownerKey)
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
	nodes := &nodes{folder: env.WorkDir, running: map[string]*node{}, settings: []string{
		"SIGNALBOX_LISTEN=127.0.0.1:0", "SIGNALBOX_DATA=data", "SIGNALBOX_DATABASE=" + database.URL, "SIGNALBOX_BOOTSTRAP_KEY=" + ownerKey,
	}}
	env.Values[nodesKey{}] = nodes
	env.Defer(nodes.end)
	return nil
}
