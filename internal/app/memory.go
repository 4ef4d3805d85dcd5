package app

// headroom is how large the heap may grow before the collector runs at all.
const headroom = 12 << 20

// reserve allocates memory that counts as heap. It is never touched, so it costs
// nothing. The collector runs when the heap has doubled; with a heap of a few
// megabytes it would run every few hundred requests and take a seventh of the
// processor's time. A higher GOGC would hurt servers with a large heap.
func reserve() []byte { return make([]byte, headroom) }
