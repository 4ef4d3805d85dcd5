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
// The Authenticator remembers the keys it has seen, each with its account's access
// version: the number of the last change that decides access. The key and the
// version are read in one statement. Every request asks for the account's current
// versions, which is cheap and which its answer needs anyway, and a key is looked
// up again when the access version is another. So a revocation, a deletion and a
// lowered role count for every request that begins after they were acknowledged,
// on every node.
//
// The Authenticator also forgets a key when the change feed reports a change of
// it: nodes of an older version do not maintain the access version.
//
// Wrong keys cost little: a key that was not found is refused without the database
// until any key changes, a few seconds at most, and an address that sends many has
// unknown keys looked up slowly. Keys that worked once are looked up whatever else
// comes from their address, which may be that of a proxy.
//
// That a key was used is told to package observations at most every ten seconds,
// so that a request costs no write.
package accounts
