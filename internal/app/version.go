package app

// version is set by the linker.
var version = "dev"

// Version returns the version of this build.
func Version() string { return version }
