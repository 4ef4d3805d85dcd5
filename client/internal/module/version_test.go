package module

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	other := &debug.Module{Path: "example.com/other", Version: "v9.9.9"}
	for name, each := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"a release":        {&debug.BuildInfo{Deps: []*debug.Module{other, {Path: path, Version: "v1.4.0"}}}, "1.4.0"},
		"a checkout":       {&debug.BuildInfo{Deps: []*debug.Module{other, {Path: path, Version: "v0.0.0", Replace: &debug.Module{Path: "./client"}}}}, "dev"},
		"the module alone": {&debug.BuildInfo{Main: debug.Module{Path: path, Version: "(devel)"}}, "dev"},
		"a workspace":      {&debug.BuildInfo{Deps: []*debug.Module{{Path: path, Version: "(devel)"}}}, "dev"},
		"no information":   {nil, "dev"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := versionIn(each.info); got != each.want {
				t.Errorf("%q, want %q", got, each.want)
			}
		})
	}
}
