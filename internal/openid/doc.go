// Package openid signs people in with an OpenID Connect provider: the authorization
// code flow with PKCE, state and nonce.
//
// It owns the requests to the provider and the checks of its answers. Package accounts
// decides whether an identity may sign in, and with which role. Package api owns the
// cookies and redirects.
//
// # A sign-in
//
// Start makes a flow: a random state, nonce and PKCE verifier, and the path that the
// browser returns to. The flow is sealed with the server's key ring and kept in a
// cookie, so that visitors cost no memory and any node can finish the sign-in. Finish
// opens the flow, compares the state, exchanges the code with the verifier, checks the
// signature, audience, expiry and nonce of the ID token, and asks the userinfo endpoint
// for claims that the token lacks.
//
// # A provider that is away
//
// The first sign-in reads the provider's configuration. The start of the server does
// not, because it must not depend on the provider. Requests to the provider are limited
// in time, size and number. A failed attempt is not repeated for a few seconds: sign-ins
// in that time fail at once.
package openid
