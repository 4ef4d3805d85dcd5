// Package accounts owns who may do what: accounts, their users and settings,
// API keys, roles, sessions, and the authentication of a request.
//
// Everything belongs to one account and nothing crosses. A Caller is an
// authenticated key or person as the rest of the domain sees it; every service
// method takes one and acts only inside its account.
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
// # Authority at the write
//
// A request is authenticated by its headers, and its body may come much later. So a
// write does not trust the Caller that it is given: Write and Do confirm it in the
// transaction, under the account's lock. While the access version is the one that the
// credential was read at, that costs a comparison; PostgreSQL returns the version with
// the lock. If it has moved, the key or session is read again, and the fresh Caller
// must still meet what the route Needs.
//
// # People
//
// A person joins with a link, signs in with an e-mail address and a password, and
// has a session from then on. Attempts are limited by person and address, by address and
// by network before anything is hashed, and networks take turns at hashing. A link works
// while its maker may give what it gives, which is decided when it is used. Links and
// sessions are 256 random bits of which only
// the SHA-256 is stored; passwords are argon2id, and Passwords bounds the memory
// that they take. A password is verified between two transactions, because it
// takes long: the second checks that nothing has changed meanwhile. A session that
// was made with a key is resolved to the key, so that it never is more. A code is a
// link of sixty bits that people can type: it gives a terminal a session of its own.
//
// Sessions are remembered like keys. Their ends are recorded changes, as those of
// users are, and so the account's version tells that one must be looked up again.
//
// That a key or a session was used is told to package observations at most every ten seconds,
// so that a request costs no write.
package accounts
