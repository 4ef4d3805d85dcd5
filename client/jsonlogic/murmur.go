package jsonlogic

import (
	"encoding/binary"
	"math/bits"
)

// murmur3 is MurmurHash3's 32-bit variant for x86 with seed 0, the hash that flagd's clients agree on.
func murmur3(data []byte) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	var h uint32
	rest := data
	for len(rest) >= 4 {
		k := binary.LittleEndian.Uint32(rest) * c1
		h ^= bits.RotateLeft32(k, 15) * c2
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
		rest = rest[4:]
	}
	var k uint32
	for i, b := range rest {
		k |= uint32(b) << (8 * i)
	}
	h ^= bits.RotateLeft32(k*c1, 15) * c2
	h ^= uint32(len(data))
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
