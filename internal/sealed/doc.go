// Package sealed encrypts secrets at rest.
//
// It owns the key ring (the keys, their file, rotation and retirement) and the
// format of a sealed value. It does not own where sealed values are stored,
// which columns are secret, when keys are rotated, or the loop that seals old
// values again with a new key: those belong to the store and the application.
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
// The file is never changed in place. A new version is written beside it,
// flushed to disk, and renamed over it (linked into place when it is the first),
// so a crash leaves the old ring or the new one and never a part of either. A
// crash may also leave a file ".keyring-*.tmp" with a copy of the keys, readable
// by the owner only; it is safe to delete while no rotation is running.
//
// Losing the ring loses every sealed value. Back it up, apart from the database.
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
// Processes that share a ring file agree without talking to each other:
//
//  1. [Ring.Rotate] appends a new primary. It holds a lock on the file, so
//     rotations at the same time wait for each other and every key survives.
//  2. A process that meets a value sealed with a key it does not know reads the
//     file again. [Ring.Reload], called now and then, makes it seal with the new
//     primary as well.
//  3. In the background the store finds values by [KeyPrefix] of an old key and
//     seals them again.
//  4. [Ring.Retire] removes the old key once no value carries its prefix.
//
// Between 1 and the last look of 3, leave enough time for every process to
// reload and to finish its open transactions. A process that has not reloaded
// still seals with the old key, and what it seals after the key is retired
// cannot be opened by anyone else.
//
// Processes that do not share a file (inline keys, or a copy on each machine)
// need two steps, because a new last key would seal values that the others
// cannot open yet: first add the new key before the last one everywhere, then
// move it to the end everywhere.
package sealed
