// Package accounts decides who may do what. It owns accounts, their users and
// settings, API keys, roles, sessions, and the authentication of requests.
//
// Every resource belongs to exactly one account. A Caller is an authenticated key or person as the rest of the domain sees
// it; every service method takes a Caller and acts only inside the Caller's account. Package accounts does not know the
// products: their services say which rights each method needs.
//
// A key is 256 random bits, shown once. Only its SHA-256 is stored: a fast hash
// is right for a secret that cannot be guessed.
//
// # Authentication without the database
//
// The Authenticator remembers the keys it has seen, each with its account's access
// version: the number of the last change that decides access. The key and the
// version are read in one statement. Every request reads the account's current
// versions, which is cheap and needed for the response anyway. If the access version
// differs, the key is looked up again. So a revocation, a deletion and a lowered
// role take effect, on every node, for every request that begins after they were
// acknowledged.
//
// The Authenticator also forgets a key when the change feed reports that the key
// changed: nodes of an older version do not maintain the access version.
//
// Wrong keys cost little. A key that was not found is refused without the database for a few seconds, or until any key
// changes. After many wrong keys from one address, unknown keys from it are checked together, by one query at a time. So a
// right key does not wait behind wrong ones, even if all come through one proxy.
//
// # Authority at the write
//
// A request is authenticated by its headers, and its body may come much later. So Write
// and Do confirm the Caller in the transaction, under the account's lock. If the access
// version has not changed since the credential was read, this costs one comparison;
// PostgreSQL returns the version with the lock. If the version has changed, the key or
// session is read again, and the fresh Caller must still have the rights that the route
// needs.
//
// # People
//
// A person joins with a link, then signs in with an e-mail address and a password and
// gets a session. Attempts are limited by person and address, by address and by network
// before a password is hashed, and networks take turns at hashing. A link works only if
// its maker may still give the link's role when it is used. Links and sessions are 256
// random bits, stored as SHA-256. Passwords are stored as argon2id, and Passwords bounds
// the memory of hashing. Verifying a password takes long, so it happens between two
// transactions, and the second checks that nothing has changed meanwhile. A session that
// was opened with a key never has more rights than the key. A code is a link of sixty
// bits that people can type: it gives a terminal a session of its own.
//
// Sessions are remembered like keys. The end of a session is a recorded change that moves
// the access version, so remembered sessions are then looked up again.
//
// The use of a key or a session is reported to package observations at most every ten
// seconds, so that a request costs no write.
package accounts
