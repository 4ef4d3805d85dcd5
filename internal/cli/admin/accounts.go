package admin

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/plans"
)

// accountView is an account as --json prints it.
type accountView struct {
	ID string `json:"id"`
	accounts.Account
}

// createdView is a new account or key as --json prints it. Key is the plaintext, which is shown only here.
type createdView struct {
	Account string `json:"account"`
	Key     string `json:"key"`
	KeyID   string `json:"key_id"`
}

func (c *commands) accounts() *cobra.Command {
	return terminal.Group("accounts", "Manage the accounts of this server", c.createAccount(), c.listAccounts(), c.planAccount())
}

func (c *commands) createAccount() *cobra.Command {
	var plan string
	run := func(ctx context.Context, store *app.Operator, args []string) (result, error) {
		account, key, err := store.CreateAccount(ctx, args[0], plan)
		return result{createdView{Account: account.Key, Key: key.Plaintext, KeyID: key.ID},
			sentence("The account %s is created. Its API key, with the role OWNER, is shown only now:\n\n    %s\n\n", account.Key, key.Plaintext)}, err
	}
	cmd := c.onStore(app.MakeOperator, "create NAME", "Make an account and print its first key", `signalbox admin accounts create Acme --plan free`, run)
	cmd.Flags().StringVar(&plan, "plan", "pro", "free, standard or pro, or one per product: jobs=pro,logging=free")
	return cmd
}

func (c *commands) listAccounts() *cobra.Command {
	return c.onStore(app.OpenOperator, "list", "List the accounts", `signalbox admin accounts list`, func(ctx context.Context, store *app.Operator, _ []string) (result, error) {
		list, err := store.Accounts(ctx)
		views := make([]accountView, len(list))
		for i, account := range list {
			views[i] = accountView{ID: account.ID, Account: account}
		}
		return result{views, func(w io.Writer) {
			terminal.Fprintf(w, "KEY\tNAME\tPLANS\tCREATED\n")
			for _, account := range list {
				terminal.Fprintf(w, "%s\t%s\t%s\t%s\n", account.Key, account.Name, planText(account.Plans), account.CreatedAt.Format("2006-01-02"))
			}
		}}, err
	})
}

func (c *commands) planAccount() *cobra.Command {
	run := func(ctx context.Context, store *app.Operator, args []string) (result, error) {
		account, err := store.SetPlan(ctx, args[0], args[1])
		return result{accountView{ID: account.ID, Account: account}, sentence("Account %s is now on %s.\n", account.Key, planText(account.Plans))}, err
	}
	cmd := c.onStore(app.OpenOperator, "plan ACCOUNT PLAN", "Put an account on another plan", `signalbox admin accounts plan acme jobs=pro,logging=free`, run)
	cmd.Long = `Put an account on another plan: free, standard or pro for every product, or one per product, such as
jobs=pro,logging=free. Products that are not named keep their plan.`
	return completeSecond(cmd, plans.BuiltIn().Names())
}

func planText(held plans.Held) string {
	parts := make([]string, 0, len(held))
	for _, product := range plans.Products() {
		parts = append(parts, fmt.Sprintf("%s=%s", product, held[product]))
	}
	return strings.Join(parts, ",")
}
