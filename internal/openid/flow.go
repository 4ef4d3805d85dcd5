package openid

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/sealed"
)

// FlowAge is how long a person has to sign in at the provider.
const FlowAge = 10 * time.Minute

// flow is a sign-in that has begun. The browser keeps it in sealed form.
type flow struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Redirect string    `json:"redirect"`
	Return   string    `json:"return"`
	Expires  time.Time `json:"expires"`
}

// flowPlace returns the place for which flows are sealed, so that no other sealed value is accepted as a flow.
func flowPlace() sealed.Place { return sealed.Place{Table: "cookies", Column: "openid", Row: "flow"} }

// Begun is a sign-in that the browser continues at the provider.
type Begun struct {
	Location string // the provider's page
	Flow     string // the sealed flow, which the browser keeps for Finish
}

// Start begins a sign-in. The provider sends the browser back to redirect. After the sign-in the browser goes to path.
func (p *Provider) Start(ctx context.Context, redirect, path string) (begun Begun, err error) {
	err = p.ask(ctx, func(_ context.Context, discovered *oidc.Provider) error {
		started := flow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Redirect: redirect, Return: path,
			Expires: p.now().Add(FlowAge)}
		begun.Location = p.config(discovered, redirect).AuthCodeURL(started.State, oidc.Nonce(started.Nonce), oauth2.S256ChallengeOption(started.Verifier))
		begun.Flow, err = p.seal(started)
		return err
	})
	return begun, err
}

func (p *Provider) seal(started flow) (string, error) {
	text, err := json.Marshal(started)
	if err != nil {
		return "", fmt.Errorf("encoding a sign-in: %w", err)
	}
	closed, err := p.sealer.Seal(flowPlace(), text)
	if err != nil {
		return "", fmt.Errorf("sealing a sign-in: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(closed), nil
}

// open returns the flow that a browser sent, if it is valid and has not expired.
func (p *Provider) open(text string) (flow, error) {
	var started flow
	closed, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		closed, err = p.sealer.Unseal(flowPlace(), closed)
	}
	if err == nil {
		err = json.Unmarshal(closed, &started)
	}
	if err == nil && !p.now().Before(started.Expires) {
		err = errors.New("it has expired")
	}
	if err != nil {
		return flow{}, errState(err)
	}
	return started, nil
}

func errState(cause error) error {
	return fault.New(fault.Unauthorized, "This sign-in was begun more than %d minutes ago, in another browser, or by somebody else. Sign in again.",
		int(FlowAge.Minutes())).With("reason", ReasonState).Because(cause)
}

// Finish ends a sign-in, given the browser's flow and the provider's answer. It returns the identity
// that signed in and the path to which the browser goes.
func (p *Provider) Finish(ctx context.Context, kept string, answer url.Values) (accounts.Identity, string, error) {
	started, err := p.open(kept)
	if err == nil {
		err = p.check(started, answer)
	}
	if err != nil {
		return accounts.Identity{}, "", err
	}
	var identity accounts.Identity
	err = p.ask(ctx, func(ctx context.Context, discovered *oidc.Provider) error {
		identity, err = p.identify(ctx, discovered, started, answer.Get("code"))
		return err
	})
	return identity, started.Return, err
}

// check refuses an answer that belongs to a different sign-in or is not a success.
func (p *Provider) check(started flow, answer url.Values) error {
	if subtle.ConstantTimeCompare([]byte(started.State), []byte(answer.Get("state"))) != 1 {
		return errState(errors.New("the state differs"))
	}
	if issuer := answer.Get("iss"); issuer != "" && issuer != p.options.Issuer { // RFC 9207
		return errProvider(fmt.Errorf("the answer comes from %q", issuer))
	}
	switch problem := answer.Get("error"); {
	case problem == "access_denied":
		return fault.New(fault.Unauthorized, "You did not sign in at the OpenID Connect provider, or it did not let you.").With("reason", ReasonCanceled)
	case problem != "":
		return errProvider(fmt.Errorf("%s: %s", problem, answer.Get("error_description")))
	case answer.Get("code") == "":
		return errProvider(errors.New("the answer has no code"))
	}
	return nil
}

// identify exchanges the code and returns the identity in the ID token.
func (p *Provider) identify(ctx context.Context, discovered *oidc.Provider, started flow, code string) (accounts.Identity, error) {
	tokens, err := p.config(discovered, started.Redirect).Exchange(ctx, code, oauth2.VerifierOption(started.Verifier))
	if err != nil {
		return accounts.Identity{}, exchangeError(err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := discovered.Verifier(&oidc.Config{ClientID: p.options.ClientID, Now: p.now}).Verify(ctx, raw)
	if err != nil {
		return accounts.Identity{}, errProvider(err)
	}
	if subtle.ConstantTimeCompare([]byte(started.Nonce), []byte(token.Nonce)) != 1 {
		return accounts.Identity{}, errProvider(errors.New("the nonce differs"))
	}
	found := claims{}
	if err := token.Claims(&found); err != nil {
		return accounts.Identity{}, errProvider(err)
	}
	if err := p.complete(ctx, discovered, tokens, token.Subject, found); err != nil {
		return accounts.Identity{}, err
	}
	return found.identity(token.Issuer, token.Subject, p.options.RoleClaim), nil
}

// complete adds the claims of the userinfo endpoint if found does not have all that are needed.
func (p *Provider) complete(ctx context.Context, discovered *oidc.Provider, tokens *oauth2.Token, subject string, found claims) error {
	if found.complete(p.options.RoleClaim) || discovered.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := discovered.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return errUnavailable(err)
	}
	if info.Subject != subject {
		return errProvider(errors.New("the userinfo endpoint returned another subject"))
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return errProvider(err)
	}
	found.add(more)
	return nil
}
