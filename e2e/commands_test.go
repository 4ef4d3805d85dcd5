package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// nodes are the servers of one script.
type nodes struct {
	folder   string
	settings []string
	running  map[string]*node
}

type nodesKey struct{}

func nodesOf(ts *testscript.TestScript) *nodes { return ts.Value(nodesKey{}).(*nodes) }

// end kills the processes that a script has left running.
func (n *nodes) end() {
	for _, each := range n.running {
		_ = each.command.Process.Kill() // it may have ended
		<-each.exited
	}
}

// named removes @NAME from the arguments and returns the server of that name.
func (n *nodes) named(ts *testscript.TestScript, args []string) (name string, found *node, rest []string) {
	if len(args) > 0 && strings.HasPrefix(args[0], "@") {
		name, args = args[0][1:], args[1:]
	}
	found = n.running[name]
	if found == nil {
		ts.Fatalf("there is no server @%s", name)
	}
	return name, found, args
}

// runProgram runs the program in the foreground.
func runProgram(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("signalbox", args...)
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		ts.Fatalf("running the program: %v", err)
	}
	if (err != nil) != neg {
		ts.Fatalf("the program ended with %v", err)
	}
}

// exits runs a program and compares its exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENT…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if ended, is := errors.AsType[*exec.ExitError](err); is {
		got = ended.ExitCode()
	} else if err != nil {
		ts.Fatalf("running the program: %v", err)
	}
	if got != want {
		ts.Fatalf("the exit code is %d, not %d", got, want)
	}
}

// serve starts a server.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	all, name, suffix := nodesOf(ts), "", ""
	if len(args) > 0 && strings.HasPrefix(args[0], "@") {
		name, args = args[0][1:], args[1:]
		suffix = "_" + name
	}
	settings := slices.Clone(all.settings)
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		settings, args = append(settings, args[0]), args[1:]
	}
	started, err := startNode(all.folder, settings, args)
	if started != nil {
		all.running[name] = started
		fmt.Fprint(ts.Stdout(), started.printed())
		fmt.Fprint(ts.Stderr(), started.stderr.String())
	}
	switch {
	case neg && errors.Is(err, errRefused) && started.exit != nil:
	case neg:
		ts.Fatalf("the server did not refuse to start: %v", err)
	case err != nil:
		ts.Fatalf("%v", err)
	default:
		ts.Setenv("URL"+suffix, started.url)
		ts.Setenv("ADDRESS"+suffix, strings.TrimPrefix(started.url, "http://"))
	}
}

// terminate ends a server by SIGTERM, or by SIGINT as Ctrl-C does.
func terminate(ts *testscript.TestScript, _ bool, args []string) {
	name, target, args := nodesOf(ts).named(ts, args)
	signal := syscall.SIGTERM
	if slices.Equal(args, []string{"-INT"}) {
		signal = syscall.SIGINT
	}
	err := target.signal(signal)
	fmt.Fprint(ts.Stdout(), target.printed())
	fmt.Fprint(ts.Stderr(), target.stderr.String())
	delete(nodesOf(ts).running, name)
	ts.Check(err)
}

// crash ends a server as a power cut would end the process.
func crash(ts *testscript.TestScript, _ bool, args []string) {
	name, target, _ := nodesOf(ts).named(ts, args)
	if err := target.signal(syscall.SIGKILL); err == nil {
		ts.Fatalf("the server survived SIGKILL, or ended before it")
	}
	delete(nodesOf(ts).running, name)
}

// mode compares the permissions of a file.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: mode PERMISSIONS FILE")
	}
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if info.Mode().Perm() != fs.FileMode(want) {
		ts.Fatalf("%s has the mode %#o", args[1], info.Mode().Perm())
	}
}

// certificate writes a certificate for 127.0.0.1 that is valid now, and its key.
func certificate(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: certificate CERT KEY")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	ts.Check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
}

var (
	declaredRoute = regexp.MustCompile(`"([A-Z]+ /[^"]+)"`)
	loggedRoute   = regexp.MustCompile(`"msg":"request".*"route":"([^"]+)"`)
)

// everyRoute compares the routes that a server has answered on with the table
// of the interface, so that a new route cannot be forgotten.
func everyRoute(ts *testscript.TestScript, _ bool, args []string) {
	_, target, _ := nodesOf(ts).named(ts, args)
	table, err := os.ReadFile("../internal/api/routes.go")
	ts.Check(err)
	declared := slices.Sorted(maps.Keys(routes(declaredRoute, string(table))))
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C { // the answer may arrive before the log line is read
		answered := routes(loggedRoute, target.stderr.String())
		missing := slices.IndexFunc(declared, func(route string) bool { return !answered[route] })
		switch {
		case missing < 0:
			return
		case time.Now().After(end):
			ts.Fatalf("no request was made to %s", declared[missing])
		}
	}
}

func routes(pattern *regexp.Regexp, text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		found[match[1]] = true
	}
	return found
}
