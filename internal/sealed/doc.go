// Package sealed encrypts secrets at rest.
//
// It owns the key ring and the format of a sealed value. The store decides which columns are
// secret. The application decides when values are sealed again.
//
// # The key ring
//
// A key ring is text with one key per line: an id, a space and the key.
//
//	# Comments and empty lines are ignored.
//	5c0e91d2 <base64 of 32 random bytes>
//	a17f3b08 <base64 of 32 random bytes>
//
// An id is eight lower-case hex digits. The last key is the primary key, which seals new
// values. The other keys only open the values that they sealed earlier. The text is in a file
// that only its owner may read. It can also be given inline, where ';' and ',' separate keys
// like a line break. A comment runs to the end of its line.
//
// To change the file, a new version is written beside it, synced and renamed over it. A crash
// may leave a private file ".keyring-*.tmp" with a copy of the keys. It is safe to delete while
// no rotation is running.
//
// Losing the ring loses every sealed value: back it up, apart from the database.
//
// # A sealed value
//
//	 1 byte   version, 0x01
//	 4 bytes  key id, the eight hex digits as bytes
//	12 bytes  random nonce
//	 n bytes  ciphertext, AES-256-GCM
//	16 bytes  tag
//
// The tag also covers the version, the key id and the [Place] of the value: its table, column
// and row, each preceded by its length. So a value that is copied to another row cannot be
// opened there. Nonces are random, which is safe for about four billion values per key; rotate
// long before that.
//
// # Signatures
//
// [Ring.Sign] signs short texts, such as the tokens in the URLs of event streams, with keys that
// are derived from the ring. So every process with the ring accepts a token of any other, also
// after a restart, and nothing is stored.
//
// # Rotation with several processes
//
// Processes that share a ring file need not communicate:
//
//  1. [Ring.Rotate] appends a new primary key under a lock on the file.
//  2. A process that finds an unknown key id in a value reads the file again.
//     [Ring.Reload], called regularly, makes it seal with the new primary key.
//  3. The store seals again all values without the primary key's [KeyPrefix].
//  4. An operator may remove the old key's line once every process has reloaded
//     and step 3 has run again afterward.
//
// Every process must know a key before any process seals with it. So processes that do not
// share a file (inline keys, or a copy on each machine) need two steps. First add the new key
// before the last one everywhere, then move it to the end everywhere.
package sealed
