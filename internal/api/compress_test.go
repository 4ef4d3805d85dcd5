package api

import (
	"runtime"
	"testing"
	"weak"
)

// TestCompress_PoolKeepsNoResult: a compressor that waits in the pool for its next use does
// not keep the last body that it made.
func TestCompress_PoolKeepsNoResult(t *testing.T) { // not parallel: others would take the compressor
	made := compress(make([]byte, 8<<20))
	kept := weak.Make(&made[0])
	runtime.KeepAlive(made)
	made = nil
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the result of a compression is still in memory")
	}
}
