package settings

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"
)

// AddFlags registers a flag for every setting, for commands that run the service.
func AddFlags(fs *pflag.FlagSet) { addFlags(fs, func(setting) bool { return true }) }

// AddStoreFlags registers the flags of the store's settings and of logging. Load then reads only these settings.
func AddStoreFlags(fs *pflag.FlagSet) { addFlags(fs, func(row setting) bool { return row.store }) }

// AddLinkFlags registers the flags of the settings that determine the start of links to the service.
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

// flagValue keeps a flag's text for Load, which checks all sources alike. It is empty unless the flag is given.
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
