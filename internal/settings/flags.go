package settings

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"
)

// AddFlags registers a flag for every setting, for the command that runs the server.
func AddFlags(fs *pflag.FlagSet) { addFlags(fs, func(setting) bool { return true }) }

// AddStoreFlags registers the flags of the settings for the store and for logging. Load then reads only these settings.
func AddStoreFlags(fs *pflag.FlagSet) { addFlags(fs, func(row setting) bool { return row.store }) }

// AddLinkFlags registers the flags of the settings that links to the service depend on.
func AddLinkFlags(fs *pflag.FlagSet) { addFlags(fs, func(row setting) bool { return row.links }) }

func addFlags(fs *pflag.FlagSet, wanted func(setting) bool) {
	for _, row := range table {
		if wanted(row) {
			fs.Var(&flagValue{kind: row.value}, row.flag(), row.usage())
		}
	}
}

// usage returns the help text of the flag, with the variable and the default.
func (r setting) usage() string {
	if text := cmp.Or(r.note, r.fallback); text != "" {
		return fmt.Sprintf("%s (%s, default: %s)", r.help, r.name, text)
	}
	return fmt.Sprintf("%s (%s)", r.help, r.name)
}

// flagValue keeps a flag's text for Load, which checks all sources alike. It is empty if the flag is absent.
type flagValue struct{ text, kind string }

// String returns the text given on the command line.
func (v *flagValue) String() string { return v.text }

// Set stores the text given on the command line.
func (v *flagValue) Set(text string) error {
	v.text = text
	return nil
}

// Type returns the value's placeholder in help texts.
func (v *flagValue) Type() string { return v.kind }
