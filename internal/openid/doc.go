// Package openid signs people in with an OpenID Connect provider: the authorization
// code flow with PKCE, state and nonce.
//
// It owns the requests to the provider and the checks of its answers. Package accounts
// decides whether an identity may sign in, and with which role. Package api owns the
// cookies and redirects.
//
// # A sign-in
//
// Start creates a flow: a random state, nonce and PKCE verifier, and the path to which the
// browser returns. The flow is sealed with the server's key ring and stored in a cookie. So
// visitors cost no memory, and any node can finish the sign-in. Finish opens the flow, compares
// the state, and exchanges the code with the verifier. It checks the signature, audience,
// expiry and nonce of the ID token, and asks the userinfo endpoint for claims that the token
// does not have.
//
// # An unreachable provider
//
// The first sign-in reads the provider's configuration. The start of the server does not,
// because it must not depend on the provider. Requests to the provider are limited in time,
// size and number. After a failed attempt, sign-ins fail at once for a few seconds.
package openid
