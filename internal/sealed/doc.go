// Package sealed encrypts secrets at rest.
//
// It owns the key ring (the keys, their file, rotation) and the format of a
// sealed value. Where sealed values are stored, which columns are secret and when
// values are sealed again with a new key is up to the store and the application.
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
// a file that nobody but its owner may read, or is given inline, where ';' and
// ',' separate keys as a line break does. A comment runs to the end of its line.
//
// The file is never changed in place. A new version is written beside it, synced
// and renamed over it, so a crash leaves the old ring or the new one. It may also
// leave a file ".keyring-*.tmp" with a copy of the keys, readable by the owner
// only; it is safe to delete while no rotation is running.
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
// table, column and row, each preceded by its length. A sealed value copied to
// another row therefore does not open there. Nonces are random, which is sound
// for about four billion values a key; rotate long before that.
//
// # Rotation with several processes
//
// Processes that share a ring file need not talk to each other:
//
//  1. [Ring.Rotate] appends a new primary under a lock on the file.
//  2. A process that meets a value sealed with a key it does not know reads the
//     file again. [Ring.Reload], called now and then, makes it seal with the new
//     primary as well.
//  3. The store finds values by [KeyPrefix] of an old key and seals them again.
//  4. An operator may remove the old key's line from the file. Before that, every
//     process must have reloaded and step 3 must have run once more: a process
//     that has not reloaded still seals with the old key.
//
// Processes that do not share a file (inline keys, or a copy on each machine)
// need two steps, because a new last key would seal values that the others
// cannot open yet: first add the new key before the last one everywhere, then
// move it to the end everywhere.
package sealed
