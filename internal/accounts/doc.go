// Package accounts owns who may do what: accounts, their users and settings,
// API keys, roles, and the authentication of a request.
//
// Everything belongs to one account and nothing crosses. A Caller is an
// authenticated key as the rest of the domain sees it; every service method
// takes one and acts only inside its account.
//
// A key is 256 random bits, shown once. Only its SHA-256 is stored: a fast hash
// is right for a secret that cannot be guessed.
//
// # Authentication without the database
//
// The Authenticator remembers the keys it has seen. It forgets one when the
// change feed reports a change of it, on whichever node it was made, and looks
// every key up while the feed is not live. A lookup notes the memory's generation
// first and is remembered only if no change arrived meanwhile.
//
// Wrong keys cost little: a key that was not found is refused without the database
// until any key changes, a few seconds at most, and an address that sends many has
// unknown keys looked up slowly. Keys that worked once are looked up whatever else
// comes from their address, which may be that of a proxy.
//
// That a key was used is told to package observations at most every ten seconds,
// so that a request costs no write.
package accounts
