package telemetry

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"
)

func TestChildren_Bounded(t *testing.T) {
	t.Parallel()
	const limit, keys = 20, 30
	var made, spares atomic.Int64
	c := newChildren(limit,
		func(int) *atomic.Int64 { made.Add(1); return new(atomic.Int64) },
		func() *atomic.Int64 { spares.Add(1); return new(atomic.Int64) })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for key := range keys {
				c.get(key).Add(1)
			}
		})
	}
	wg.Wait()
	if made.Load() != limit || spares.Load() != 1 {
		t.Errorf("%d series and %d for the overflow were made", made.Load(), spares.Load())
	}
	total := c.get(keys + 1).Load() // the overflow series
	for _, series := range *c.known.Load() {
		total += series.Load()
	}
	if total != 8*keys {
		t.Errorf("%d of %d counts arrived", total, 8*keys)
	}
}

func TestMetrics_Overflow(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	for i := range maxRequestSeries + 1 {
		m.ObserveRequest("/", "GET", i, 0, 0)
	}
	for i := range maxSmallSeries + 1 {
		m.CountAuthentication(strings.Repeat("r", i))
	}
	s := scrape(t, m)
	s.check(t, 1, "signalbox_http_requests_total", "route=other", "method=other", "status=other")
	s.check(t, 1, "signalbox_authentications_total", "result=other")
}

func TestLabel(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, want string }{
		{"", ""}, {"plain", "plain"}, {"a\xffb", "a\uFFFDb"},
		{strings.Repeat("x", maxLabel+1), strings.Repeat("x", maxLabel)},
		{"x" + strings.Repeat("é", maxLabel), "x" + strings.Repeat("é", maxLabel/2-1) + "\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.40q", tt.value), func(t *testing.T) {
			if got := label(tt.value); got != tt.want || !utf8.ValidString(got) {
				t.Errorf("label(%q) = %q, want %q", tt.value, got, tt.want)
			}
		})
	}
}
