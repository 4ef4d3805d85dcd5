// Package module knows the version of the client's module.
package module

import (
	"runtime/debug"
	"strings"
)

const path = "github.com/signalbox/signalbox/client"

// Version returns the module's version in the running program, such as 1.4.0. It is "dev" when the module is replaced or
// unknown, as in a checkout.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
}

func versionIn(info *debug.BuildInfo) string {
	if info == nil {
		return "dev"
	}
	for _, each := range info.Deps {
		if each.Path == path && each.Replace == nil && strings.HasPrefix(each.Version, "v") {
			return each.Version[1:]
		}
	}
	return "dev"
}
