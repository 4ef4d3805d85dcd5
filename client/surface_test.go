package signalbox_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exportedTypes returns what go doc shows of the exported types, by their names.
func exportedTypes(t *testing.T) map[string]*doc.Type {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, files := token.NewFileSet(), make([]*ast.File, len(paths))
	for i, path := range paths {
		if files[i], err = parser.ParseFile(fset, path, nil, parser.ParseComments); err != nil {
			t.Fatal(err)
		}
	}
	read, err := doc.NewFromFiles(fset, files, "github.com/signalbox/signalbox/client", doc.AllDecls)
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]*doc.Type{}
	for _, each := range read.Types {
		if token.IsExported(each.Name) {
			exported[each.Name] = each
		}
	}
	return exported
}

// hidden returns the names in a type that readers of go doc cannot look up: unexported types, and type parameters of such.
func hidden(exported map[string]*doc.Type, node ast.Node) []string {
	var names []string
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr: // of another package
			return false
		case *ast.Field: // its name is not a type
			names = append(names, hidden(exported, n.Type)...)
			return false
		case *ast.Ident:
			if exported[n.Name] == nil && types.Universe.Lookup(n.Name) == nil {
				names = append(names, n.Name)
			}
		}
		return true
	})
	return names
}

func TestDocumentation_NamesOnlyExportedTypes(t *testing.T) {
	t.Parallel()
	exported := exportedTypes(t)
	for name, each := range exported {
		for _, method := range slices.Concat(each.Funcs, each.Methods) {
			if names := hidden(exported, method.Decl.Type); token.IsExported(method.Name) && names != nil {
				t.Errorf("the signature of %s.%s has %v", name, method.Name, names)
			}
		}
		structure, is := each.Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType)
		if !is {
			continue
		}
		for _, field := range structure.Fields.List {
			if names := hidden(exported, field.Type); field.Names == nil && names != nil {
				t.Errorf("%s embeds %v", name, names)
			}
		}
	}
}

func TestDocumentation_APIs(t *testing.T) {
	t.Parallel()
	for name, api := range exportedTypes(t) {
		if !strings.HasSuffix(name, "API") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slices.ContainsFunc(api.Examples, func(e *doc.Example) bool { return e.Suffix == "" }) {
				t.Errorf("there is no Example%s", name)
			}
			for _, method := range api.Methods {
				if method.Doc == "" && token.IsExported(method.Name) {
					t.Errorf("%s has no comment", method.Name)
				}
			}
		})
	}
}
