// Package sealed encrypts secrets at rest.
//
// It owns the key ring and the format of a sealed value. The store decides which
// columns are secret, and the application when values are sealed again.
//
// # The key ring
//
// A key ring is text: one key a line, written as an id, a space and the key.
//
//	# Comments and empty lines are ignored.
//	5c0e91d2 <base64 of 32 random bytes>
//	a17f3b08 <base64 of 32 random bytes>
//
// An id is eight lower-case hex digits. The last key is the primary: it seals
// new values. The others only open what they sealed earlier. The text lives in
// a file that only its owner may read, or is given inline, where ';' and ','
// separate keys as a line break does. A comment runs to the end of its line.
//
// A new version of the file is written beside it, synced and renamed over it. A
// crash may leave a private ".keyring-*.tmp" with a copy of the keys, which is
// safe to delete while no rotation is running.
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
// The tag also covers the version, the key id and the [Place] of the value: its
// table, column and row, each preceded by its length, so a value that is copied
// to another row does not open there. Nonces are random, which is sound for about
// four billion values a key; rotate long before that.
//
// # Rotation with several processes
//
// Processes that share a ring file need not talk to each other:
//
//  1. [Ring.Rotate] appends a new primary under a lock on the file.
//  2. A process that meets an unknown key reads the file again. [Ring.Reload],
//     called regularly, makes the process seal with the new primary as well.
//  3. The store seals values without the primary's [KeyPrefix] again.
//  4. An operator may remove the old key's line once every process has reloaded
//     and step 3 has run again afterwards.
//
// Processes that do not share a file (inline keys, or a copy on each machine)
// first add the new key before the last one everywhere, then move it to the end
// everywhere: every process must know a key before any process seals with it.
package sealed
