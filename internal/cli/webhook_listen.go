package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// listenFlags are the flags of webhooks listen.
type listenFlags struct {
	webhookFlags

	address, public string
	count           int
}

func (s *shell) listen() *cobra.Command {
	var flags listenFlags
	return s.command(action{
		use: "listen", short: "Receive messages through a temporary webhook and print them",
		long: `Print the messages that a webhook sends, for trying. The command listens on this machine, makes a webhook for itself, sends it a
test, prints each message as one line of JSON, and deletes the webhook at the end. The server must be able to reach this machine:
--target sets the URL for that, and for addresses that are not public the server needs SIGNALBOX_ALLOW_NETWORKS.`,
		example: "signalbox webhooks listen --events 'job.*,change.flag' --count 1",
		flags: func(cmd *cobra.Command) {
			flags.add(s, cmd)
			cmd.Flags().StringVar(&flags.address, "listen", "127.0.0.1:0", "the `ADDRESS` to listen on")
			cmd.Flags().StringVar(&flags.public, "target", "", "the `URL` under which the server reaches that address")
			cmd.Flags().IntVar(&flags.count, "count", 0, "end after this `NUMBER` of messages; 0 goes on")
		},
		run: func(ctx context.Context, c *call) error { return c.listen(ctx, &flags) },
	})
}

// message is a request that a listener received.
type message struct {
	header http.Header
	body   []byte
}

func (c *call) listen(ctx context.Context, flags *listenFlags) (err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", flags.address)
	if err != nil {
		return err
	}
	received := make(chan message)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const limit = 1 << 20
		body, err := io.ReadAll(io.LimitReader(r.Body, limit))
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		select {
		case received <- message{r.Header, body}:
			w.WriteHeader(http.StatusNoContent)
		case <-ctx.Done():
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		closed := server.Close()
		if failed := <-served; !errors.Is(failed, http.ErrServerClosed) {
			err = errors.Join(err, failed)
		}
		err = errors.Join(err, closed)
	}()
	return c.receive(ctx, flags, cmp.Or(flags.public, "http://"+listener.Addr().String()+"/"), received)
}

// receive makes a webhook for a URL, prints the received messages, and deletes the webhook.
func (c *call) receive(ctx context.Context, flags *listenFlags, url string, received <-chan message) (err error) {
	draft := signalbox.WebhookDraft{Name: "signalbox webhooks listen", URL: url, Events: []string{"*"}}
	if err := flags.apply(c.cmd, &draft); err != nil {
		return err
	}
	webhook, err := c.client.Webhooks.Create(ctx, draft)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, c.client.Webhooks.Delete(ending, webhook.ID))
	}()
	c.Note("listening for %s; the secret is %s", url, webhook.Secret)
	test, err := c.client.Webhooks.Test(ctx, webhook.ID)
	if err != nil {
		return err
	}
	refused := make(chan error, 1)
	go func() { refused <- c.reached(ctx, test, url) }()
	for seen := 0; flags.count == 0 || seen < flags.count; {
		select {
		case <-ctx.Done():
			return nil
		case err := <-refused:
			if err != nil {
				return err
			}
		case each := <-received:
			seen++
			if err := c.printMessage(webhook, each); err != nil {
				return err
			}
		}
	}
	return nil
}

// reached waits for the test and returns an error if the server cannot reach the URL.
func (c *call) reached(ctx context.Context, test signalbox.Delivery, url string) error {
	sent, err := c.attempted(ctx, test)
	if err != nil || sent.Status == signalbox.DeliveryDelivered {
		return nil //nolint:nilerr // the command has ended
	}
	return fmt.Errorf("the server does not reach %s: %s. Give a --target that it reaches, or allow the network with SIGNALBOX_ALLOW_NETWORKS", url, deliveryAnswer(sent))
}

// printMessage prints a message in one line. A message that the webhook has not signed is marked.
func (c *call) printMessage(webhook signalbox.Webhook, received message) error {
	if _, err := signalbox.VerifyWebhook(webhook.Secret, received.header, received.body); webhook.Format == signalbox.WebhookStandard && err != nil {
		c.Note("the next message is not genuine: %v", terminal.Unprefixed(err))
	}
	c.Say("%s\n", received.body)
	return nil
}
