package page_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/internal/page"
)

func TestRequest_Offset(t *testing.T) {
	t.Parallel()
	if got := (page.Request{Number: 3, Size: 20}).Offset(); got != 40 {
		t.Errorf("page 3 of 20 starts after %d rows, want 40", got)
	}
	if page.First().Offset() != 0 {
		t.Error("the first page starts at the first row")
	}
}

func TestList_Pages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ total, size, want int }{{0, 10, 0}, {1, 10, 1}, {10, 10, 1}, {11, 10, 2}} {
		t.Run(fmt.Sprint(c.total), func(t *testing.T) {
			if got := (page.List[int]{Total: c.total}).Pages(c.size); got != c.want {
				t.Errorf("%d items in pages of %d: got %d pages, want %d", c.total, c.size, got, c.want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	if tail := page.Cut([]int{1, 2, 3}, 2); len(tail.Items) != 2 || !tail.More {
		t.Errorf("got %+v, want two items and more", tail)
	}
	if tail := page.Cut([]int{1, 2}, 2); len(tail.Items) != 2 || tail.More {
		t.Errorf("got %+v, want two items and no more", tail)
	}
}
