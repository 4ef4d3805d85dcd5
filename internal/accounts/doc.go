// Package accounts owns who may do what: accounts, their users and settings,
// API keys, roles, and the authentication of a request.
//
// Everything in Signalbox belongs to one account and nothing crosses. A Caller
// is an authenticated key as the rest of the domain sees it; every service
// method takes one and acts only inside its account.
//
// # Keys
//
// A key is 256 random bits, shown once. Only its SHA-256 is stored: a fast hash
// is right for a secret that cannot be guessed.
//
// # Authentication without the database
//
// The Authenticator remembers the keys it has seen. An entry is dropped when
// the change feed reports a change of that key, on whichever node it was made,
// and the memory is not trusted at all while the feed is not live. A key that
// is looked up while another request changes it is not remembered: the lookup
// notes the memory's generation first and keeps its answer only if no change
// arrived meanwhile.
//
// That a key was used is told to package observations at most every ten seconds,
// so that a request costs no write.
package accounts
