package signalbox_test

import (
	"context"
	"fmt"

	signalbox "github.com/signalbox/signalbox/client"
)

// Show the account, and put its environments in order.
func ExampleAccountAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	account, err := client.Account.Get(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.Name, "has the plan", account.Plans["jobs"])
	settings, err := client.Account.Settings(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	draft := settings.Draft() // with the members that this program does not know
	draft.EnvironmentOrder = []string{"staging", "production"}
	settings, err = client.Account.ReplaceSettings(ctx, draft, signalbox.IfMatch(settings.ETag))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(settings.EnvironmentOrder)
	// Output:
	// Acme has the plan free
	// [staging production]
}

// Show the person who created the key, and set that person's own order of environments.
func ExampleUserAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	user, err := client.User.Get(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(user.Name, user.Role)
	settings, err := client.User.ReplaceSettings(ctx, signalbox.SettingsDraft{EnvironmentOrder: []string{"production"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(settings.EnvironmentOrder)
	// Output:
	// Ada ADMIN
	// [production]
}

// Find a person by name, and limit them to reading.
func ExampleUsersAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	page, err := client.Users.List(ctx, signalbox.UserParams{SearchParams: signalbox.SearchParams{Search: "bob"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, user := range page.Items {
		draft := user.Draft()
		draft.Role = signalbox.RoleViewer
		changed, err := client.Users.Replace(ctx, user.ID, draft)
		if err != nil { // such as that of the last OWNER: see IsLastOwner
			fmt.Println(err)
			return
		}
		fmt.Println(changed.Email, changed.Role)
	}
	// Output:
	// bob@acme.example VIEWER
}

// Invite somebody, and send them the link.
func ExampleInvitationsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for invitation, err := range client.Invitations.All(ctx, signalbox.InvitationParams{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(invitation.Email, "has not joined yet")
	}
	invited, err := client.Invitations.Create(ctx, signalbox.InvitationDraft{Email: "dan@acme.example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(invited.Email, invited.Link)
	// Output:
	// carol@acme.example has not joined yet
	// dan@acme.example https://signalbox.example/join?token=t
}

// Withdraw the links that would set somebody's password.
func ExampleLinksAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	page, err := client.Links.List(ctx, signalbox.LinkParams{User: "u-2"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, link := range page.Items {
		if err := client.Links.Delete(ctx, link.ID); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("withdrew", link.ID)
	}
	// Output:
	// withdrew l-1
}

// End all other sessions of the signed-in person.
func ExampleSessionsAPI() {
	ctx, client := context.Background(), connect() // signalbox.SignIn(ctx, url, email, password)
	current, err := client.Sessions.Current(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := client.Sessions.List(ctx, signalbox.SessionParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, session := range page.Items {
		if session.ID == current.ID {
			continue
		}
		if err := client.Sessions.Delete(ctx, session.ID); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("ended", session.Client)
	}
	// Output:
	// ended signalbox/1.0
}

// Create a key that a service reads with. Its secret is shown only once.
func ExampleKeysAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for key, err := range client.Keys.All(ctx, signalbox.KeyParams{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(key.Name, key.Role, key.Status)
	}
	created, err := client.Keys.Create(ctx, signalbox.KeyDraft{Name: "shop", Role: signalbox.RoleViewer})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(created.Name, created.Secret)
	// Output:
	// deploy MEMBER ACTIVE
	// shop sk_api_once
}

func ExampleKeysAPI_Current() {
	client := connect() // signalbox.New(url, key)
	key, err := client.Keys.Current(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(key.Name, key.Role)
	// Output: deploy MEMBER
}

// Send failing jobs to another system, and test the webhook.
func ExampleWebhooksAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	webhook, err := client.Webhooks.Create(ctx, signalbox.WebhookDraft{Name: "On call", URL: "https://ops.example/hook", Events: []string{"job.*"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("keep this secret:", webhook.Secret)
	test, err := client.Webhooks.Test(ctx, webhook.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(test.Type, test.Status)
	// Output:
	// keep this secret: whsec_b25jZQ==
	// webhook.test pending
}

func ExampleClient_Send() {
	client := connect() // signalbox.New(url, key)
	body, err := client.Send(context.Background(), "GET", "/api/v1/accounts/current", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(body))
	// Output: {"data":{"id":"current","attributes":{"key":"default","name":"Acme","plans":{"jobs":"free"}}}}
}
