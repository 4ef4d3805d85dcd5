package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// flagdExport has the flags of an export in the format of flagd.
type flagdExport struct{ format, environment string }

func (f *flagdExport) addFlags(s *shell, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.format, "format", "", "print flags in another `FORMAT`: flagd")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"flagd"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVarP(&f.environment, "environment", "e", "production", "the environment's `ID`, for --format")
	_ = cmd.RegisterFlagCompletionFunc("environment", s.completeFlag(environmentKind().ids))
}

// run prints the file that the server serves to flagd's providers.
func (f *flagdExport) run(ctx context.Context, c *call) error {
	if f.format != "flagd" {
		return terminal.Usagef("there is no format %q; there is flagd", f.format)
	}
	if slices.ContainsFunc([]string{"kind", "secrets"}, c.changed) {
		return terminal.Usagef("--format flagd has flags only; leave out --kind and --secrets")
	}
	text, err := c.client.Send(ctx, http.MethodGet, "/flagd/v1/flags/"+url.PathEscape(f.environment), nil)
	if err != nil {
		return err
	}
	var definitions struct {
		Metadata struct {
			Omitted string `json:"signalbox.omitted"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &definitions); err != nil {
		return fmt.Errorf("the server's answer is no definition of flagd: %w", err)
	}
	if omitted := definitions.Metadata.Omitted; omitted != "" {
		_, _ = fmt.Fprintf(c.Err, "Left out, because flagd cannot express them: %s\n", omitted)
	}
	_, err = c.Out.Write(text)
	return err
}
