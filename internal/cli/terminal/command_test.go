package terminal_test

import (
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func TestFlagRules(t *testing.T) {
	t.Parallel()
	run := func(args ...string) error {
		cmd := &cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
		for _, name := range []string{"file", "name", "color", "size", "on", "off"} {
			cmd.Flags().Bool(name, false, "")
		}
		_ = cmd.MarkFlagRequired("file")
		cmd.MarkFlagsOneRequired("name", "color", "size")
		cmd.MarkFlagsMutuallyExclusive("on", "off")
		cmd.SetArgs(args)
		cmd.SetErr(io.Discard)
		return terminal.FlagRules(cmd.Execute())
	}
	tests := map[string]struct {
		args []string
		want string // "" is no error
	}{
		"all is well":   {[]string{"--file", "--name"}, ""},
		"one missing":   {[]string{"--name"}, "this needs --file"},
		"none of some":  {[]string{"--file"}, "this needs --name, --color or --size"},
		"both of two":   {[]string{"--file", "--name", "--on", "--off"}, "these cannot be used together: --on and --off"},
		"one unknown":   {[]string{"--nothing"}, "unknown flag: --nothing"},
		"an error only": {[]string{"--file", "--name", "--on=maybe"}, `invalid argument "maybe" for "--on" flag: strconv.ParseBool: parsing "maybe": invalid syntax`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(test.args...)
			if (err != nil) != (test.want != "") || err != nil && err.Error() != test.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestUnprefixed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"signalbox: GET /api/v1/flags: refused":             "GET /api/v1/flags: refused",
		"reading it: signalbox: GET /api/v1/flags: refused": "reading it: GET /api/v1/flags: refused",
		"the program signalbox is not there":                "the program signalbox is not there",
	} {
		t.Run(text, func(t *testing.T) {
			cause := errors.New(text)
			if got := terminal.Unprefixed(cause); got.Error() != want || !errors.Is(got, cause) {
				t.Errorf("got %v", got)
			}
		})
	}
	if terminal.Unprefixed(nil) != nil {
		t.Error("nothing becomes an error")
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		most int
		want string // the error; "" is none
	}{
		"2": {10, ""}, "10": {10, ""}, "11": {10, "it must be a number from 2 to 10"}, "-4": {10, "it must be a number from 2 to 10"},
		"many": {10, "it must be a number from 2 to 10"}, "1": {math.MaxInt, "it must be a number of at least 2"}, "99": {math.MaxInt, ""},
	}
	for given, test := range tests {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			var got int
			cmd := &cobra.Command{}
			terminal.AddCount(cmd, &got, "retry", 0, 2, test.most, "")
			err := cmd.Flags().Parse([]string{"--retry=" + given})
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			if err == nil && strconv.Itoa(got) != given {
				t.Errorf("got %d", got)
			}
		})
	}
}
