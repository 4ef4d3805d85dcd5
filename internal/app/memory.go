package app

// headroom is the size that the heap reaches before the first collection.
const headroom = 12 << 20

// reserve allocates memory that counts as heap but is never touched, so it costs
// nothing. The collector runs when the heap has doubled. With a heap of a few
// megabytes it would run every few hundred requests and take a seventh of the
// processor's time. A higher GOGC would hurt servers with a large heap.
func reserve() []byte { return make([]byte, headroom) }
