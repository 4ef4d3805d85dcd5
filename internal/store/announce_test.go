package store_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestAnnouncer_SendsTogether: notices that come while others are being sent are sent once each, together.
func TestAnnouncer_SendsTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sent [][]string
		proceed := make(chan struct{})
		tell, stop := store.NewAnnouncer(func(payloads []string) error {
			slices.Sort(payloads)
			mu.Lock()
			sent = append(sent, payloads)
			mu.Unlock()
			<-proceed
			return nil
		})
		tell("a")
		synctest.Wait()
		tell("b")
		tell("c", "b")
		close(proceed)
		stop()
		tell("d") // too late
		synctest.Wait()
		if want := [][]string{{"a"}, {"b", "c"}}; !slices.EqualFunc(sent, want, slices.Equal) {
			t.Errorf("sent %v, want %v", sent, want)
		}
	})
}

// TestAnnouncer_TriesAgain: notices that could not be sent are sent once more, and then no longer.
func TestAnnouncer_TriesAgain(t *testing.T) {
	t.Parallel()
	for name, failures := range map[string]int{"a silent connection": 1, "no database": 9} {
		t.Run(name, func(t *testing.T) {
			var sent []string // by one goroutine at a time
			tell, stop := store.NewAnnouncer(func(payloads []string) error {
				if sent = append(sent, payloads...); len(sent) <= failures {
					return errors.New("away")
				}
				return nil
			})
			tell("a")
			stop()
			if want := []string{"a", "a"}; !slices.Equal(sent, want) {
				t.Errorf("sent %v, want %v", sent, want)
			}
		})
	}
}

// TestAnnouncer_Close: a program that ends after a commit, as the command line does, has told the other nodes.
func TestAnnouncer_Close(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	here, there := database.Open(t), database.Open(t)
	account := announcedTenant(t, database)
	woken := listen(t, here)
	before := woken.count.Load()
	change(t, there, account)
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	woken.more(t, before)
}
