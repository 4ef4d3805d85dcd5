package cli_test

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/signalbox/signalbox/internal/cli"
	output "github.com/signalbox/signalbox/internal/cli/terminal"
)

// enumerates matches help texts that list the values of a flag: two words with a comma or "or" between them, in the same case.
var enumerates = regexp.MustCompile(`^(?:[^(:]*: )?(?:[A-Z]{3,}|[a-z]{4,})(?:, (?:[A-Z]{3,}|[a-z]{4,}))* or [A-Za-z]{3,}\b`)

// Every flag that takes one of a few words, or a profile, completes them.
func TestCompletion_EnumeratedFlags(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, command := range commandsOf(cli.New(&output.Terminal{Out: io.Discard, Err: io.Discard})) {
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			if _, completes := command.GetFlagCompletionFunc(flag.Name); completes {
				found[flag.Name] = true
			} else if flag.Name == "profile" || flag.Value.Type() != "duration" && enumerates.MatchString(flag.Usage) {
				t.Errorf("%s --%s completes nothing, and takes %s", command.CommandPath(), flag.Name, flag.Usage)
			}
		})
	}
	for name := range strings.FieldsSeq("output environment profile type role access plan bootstrap-plan log-level log-format method status kind group job parent") {
		if !found[name] {
			t.Errorf("--%s completes nothing", name)
		}
	}
}

func TestCompletion_Words(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	for args, want := range map[string]string{
		"admin users invite ada@example.com --role": "VIEWER\nMEMBER\nADMIN\nOWNER\n",
		"admin users role ada@example.com":          "VIEWER\nMEMBER\nADMIN\nOWNER\n",
		"admin keys create Deploy --access":         "full\nevaluate\nlevels\n",
		"admin accounts plan acme":                  "free\npro\nstandard\n",
		"serve --log-level":                         "debug\ninfo\nwarn\nerror\n",
	} {
		t.Run(args, func(t *testing.T) {
			got := term.run(append(append([]string{"__complete"}, strings.Fields(args)...), "")...).stdout
			if !strings.HasPrefix(got, want+":") {
				t.Errorf("%s: got %q, want %q", args, got, want)
			}
		})
	}
}
