package app

// headroom is how much the heap may grow before the collector runs at all.
const headroom = 12 << 20

// reserve asks for memory that is never touched, and so takes none: it only
// counts. The collector runs when the heap has doubled, but the flags and keys
// of a whole company are a few megabytes, and so it would run every few hundred
// requests and take a seventh of the processor's time. GOGC has no such floor:
// a higher percentage would hurt those whose heap is large.
func reserve() []byte { return make([]byte, headroom) }
