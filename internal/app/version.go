package app

// version is set by the linker.
var version = "dev" //nolint:gochecknoglobals // the linker can set nothing else

// Version is the version of this build.
func Version() string { return version }
