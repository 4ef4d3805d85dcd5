// Command crosscheck type-checks the packages and tests of modules for other platforms. It finds the errors of a build
// for such a platform without compiling every library, which takes minutes:
//
//	go run ./cmd/crosscheck windows/amd64,darwin/arm64 FOLDER…
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck OS/ARCHITECTURE,… FOLDER…")
		os.Exit(2)
	}
	failed := false
	for platform := range strings.SplitSeq(os.Args[1], ",") {
		target := newPlatform(platform)
		for _, folder := range os.Args[2:] {
			if err := target.check(folder); err != nil {
				fmt.Fprintf(os.Stderr, "%s cannot be built for %s:\n%v\n", folder, platform, err)
				failed = true
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}

// platform is an operating system and architecture to check modules for.
type platform struct {
	system, architecture string
	standard             map[string]*types.Package // the checked standard library, which all modules share
}

func newPlatform(name string) *platform {
	system, architecture, _ := strings.Cut(name, "/")
	return &platform{system, architecture, map[string]*types.Package{"unsafe": types.Unsafe}}
}

// listed is go list's description of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string // import paths that mean a package with another path
	Module          *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// own reports whether a package belongs to the module. Only then the bodies of its functions are checked.
func (l listed) own() bool { return l.Module != nil && l.Module.Main }

// check checks the packages of the module in a folder.
func (p *platform) check(folder string) error {
	packages, err := list(folder, "GOOS="+p.system, "GOARCH="+p.architecture, "CGO_ENABLED=0")
	if err != nil {
		return err
	}
	packages = slices.DeleteFunc(packages, func(each listed) bool {
		return p.standard[each.ImportPath] != nil || strings.HasSuffix(each.ImportPath, ".test") // a main package that go test generates
	})
	files := token.NewFileSet()
	parsed := parseAll(files, packages)
	known := maps.Clone(p.standard)
	var errs []error
	for i, each := range packages {
		if each.Error != nil {
			errs = append(errs, fmt.Errorf("%s: %s", each.ImportPath, each.Error.Err))
		}
		checked, err := p.checkPackage(files, each, parsed[i].files, known)
		errs = append(errs, parsed[i].err, err)
		known[each.ImportPath] = checked
		if each.Module == nil {
			p.standard[each.ImportPath] = checked
		}
	}
	return errors.Join(errs...)
}

// checkPackage checks a package whose imports are known.
func (p *platform) checkPackage(set *token.FileSet, each listed, files []*ast.File, known map[string]*types.Package) (*types.Package, error) {
	var errs []error
	config := types.Config{Importer: importer{each.ImportMap, known}, IgnoreFuncBodies: !each.own(),
		Sizes: types.SizesFor("gc", p.architecture), Error: func(err error) { errs = append(errs, err) }}
	if each.Module != nil && each.Module.GoVersion != "" {
		config.GoVersion = "go" + each.Module.GoVersion
	}
	path, _, _ := strings.Cut(each.ImportPath, " ")   // go list names a package with its tests "p [p.test]"
	checked, _ := config.Check(path, set, files, nil) // config.Error collects every error
	return checked, errors.Join(errs...)
}

// list returns the packages of a module, their tests and all their imports. A package comes after its imports.
func list(folder string, environment ...string) (packages []listed, err error) {
	command := exec.CommandContext(context.Background(), "go", "list", "-e", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", "./...")
	command.Dir, command.Env, command.Stderr = folder, append(os.Environ(), environment...), os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(out); ; {
		var next listed
		if err := decoder.Decode(&next); errors.Is(err, io.EOF) {
			return packages, command.Wait()
		} else if err != nil {
			return nil, errors.Join(err, command.Wait())
		}
		packages = append(packages, next)
	}
}

// parsing has the parsed files of a package.
type parsing struct {
	files []*ast.File
	err   error
}

// parseAll parses the files of packages, several at once.
func parseAll(set *token.FileSet, packages []listed) []parsing {
	all := make([]parsing, len(packages))
	var group sync.WaitGroup
	atOnce := make(chan struct{}, 8)
	for i, each := range packages {
		atOnce <- struct{}{}
		group.Go(func() {
			defer func() { <-atOnce }()
			for _, name := range each.GoFiles {
				if !filepath.IsAbs(name) {
					name = filepath.Join(each.Dir, name)
				}
				file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
				all[i].files, all[i].err = append(all[i].files, file), errors.Join(all[i].err, err)
			}
		})
	}
	group.Wait()
	return all
}

// importer finds the packages that were checked before.
type importer struct {
	renamed map[string]string
	known   map[string]*types.Package
}

// Import returns the package that an import path means.
func (i importer) Import(path string) (*types.Package, error) {
	if other, is := i.renamed[path]; is {
		path = other
	}
	if found := i.known[path]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%s was not found", path)
}
