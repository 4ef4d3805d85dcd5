// Package openid signs people in with an OpenID Connect provider: the authorization
// code flow with PKCE, state and nonce.
//
// It owns what is said to the provider and what is believed of its answers. Who may
// sign in with the identity that comes out, and as what, is decided by accounts;
// cookies and redirects belong to api.
//
// # A sign-in
//
// Start makes a flow: a random state, nonce and PKCE verifier, and where the browser
// returns to. The flow is sealed with the server's key ring and kept by the browser
// in a cookie, so that visitors cost no memory and any node can finish what another
// began. Finish opens it, compares the state, exchanges the code with the verifier,
// checks the signature, audience, expiry and nonce of the ID token, and asks the
// userinfo endpoint for what the token lacks.
//
// # A provider that is away
//
// The provider's configuration is read when somebody first signs in, and not at the
// start of the server, which must not depend on it. Requests to the provider are
// bounded in time, size and number. A failed attempt is not repeated for a few
// seconds: whoever signs in meanwhile is told at once.
package openid
