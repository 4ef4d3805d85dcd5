package accounts_test

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/allowance"
	"github.com/signalbox/signalbox/internal/fault"
)

// admits makes attempts from the peers in turn, each for a different person, and returns how
// many were admitted.
func admits(attempts *accounts.Attempts, count int, now time.Time, peers ...string) (admitted int) {
	for i := range count {
		if _, err := attempts.Admit(fmt.Sprint("person ", i, peers, admitted), peers[i%len(peers)], now); err == nil {
			admitted++
		}
	}
	return admitted
}

// TestAttempts_Places: attempts are limited by address and by network, for all people together.
// A network does not use up the limit of another network.
func TestAttempts_Places(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	var network, prefix, site []string
	for i := range 200 {
		network = append(network, fmt.Sprintf("192.0.2.%d:1", i))
		prefix = append(prefix, fmt.Sprintf("[2001:db8::%x]:1", i+1))
		site = append(site, fmt.Sprintf("[2001:db8:0:%x::1]:1", i))
	}
	for name, c := range map[string]struct {
		noisy []string
		want  int
		quiet string
		left  int // how many of 100 attempts from the quiet address are admitted afterward
	}{
		"an address":                   {[]string{"192.0.2.1:1"}, 50, "198.51.100.1:1", 50},
		"another of its network":       {[]string{"192.0.2.1:1"}, 50, "192.0.2.2:1", 50},
		"ports and spellings":          {[]string{"192.0.2.1:1", "192.0.2.1:2", "[::ffff:192.0.2.1]:3", "192.0.2.1"}, 50, "198.51.100.1:1", 50},
		"a network":                    {network, 100, "192.0.3.1:1", 50},
		"its own":                      {network, 100, "192.0.2.250:1", 0},
		"an IPv6 network":              {prefix, 100, "[2001:db8:0:1::1]:1", 50},
		"its own, with another end":    {prefix, 100, "[2001:db8::ffff:ffff]:1", 0},
		"all networks of an IPv6 site": {site, 400, "[2001:db8:1::1]:1", 50},
	} {
		t.Run(name, func(t *testing.T) {
			var attempts accounts.Attempts
			if got := admits(&attempts, 1000, now, c.noisy...); got != c.want {
				t.Errorf("%d were admitted, want %d", got, c.want)
			}
			if got := admits(&attempts, 100, now, c.quiet); got != c.left {
				t.Errorf("%d were admitted from %s afterward, want %d", got, c.quiet, c.left)
			}
		})
	}
	var attempts accounts.Attempts
	admits(&attempts, 100, now, "192.0.2.1:1")
	_, err := attempts.Admit("ada", "192.0.2.1:1", now)
	if refusals := fault.All(err); len(refusals) != 1 || refusals[0].Code != fault.RateLimited || refusals[0].RetryAfter != time.Second {
		t.Errorf("got %v", err)
	}
	if got := admits(&attempts, 100, now.Add(10*time.Second), "192.0.2.1:1"); got != 20 {
		t.Errorf("%d were admitted after 10 s", got)
	}
}

// TestAttempts_RightOnesAreFree: many people sign in from an office with one address.
func TestAttempts_RightOnesAreFree(t *testing.T) {
	t.Parallel()
	var attempts accounts.Attempts
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 1000 {
		for _, settle := range []func(accounts.Admitted){attempts.Withdraw, attempts.Succeeded} {
			allowed, err := attempts.Admit(fmt.Sprint("person ", i), "192.0.2.1:1", now)
			if err != nil {
				t.Fatalf("%d: %v", i, err)
			}
			settle(allowed)
		}
	}
	if people, places := attempts.Remembered(); people != 0 || places != 0 {
		t.Errorf("%d people and %d places are remembered", people, places)
	}
}

// TestAttempts_KnownHere: a person who signed in from an address before can sign in although
// others use up the address's limit. Only the person's own failures count.
func TestAttempts_KnownHere(t *testing.T) {
	t.Parallel()
	var attempts accounts.Attempts
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	allowed, err := attempts.Admit("ada", "192.0.2.1:1", now)
	if err != nil {
		t.Fatal(err)
	}
	attempts.Succeeded(allowed)
	admits(&attempts, 1000, now, "192.0.2.1:1", "192.0.2.2:1")
	for i := range 6 {
		if _, err := attempts.Admit("ada", "192.0.2.1:5", now); (err == nil) != (i < 5) {
			t.Errorf("attempt %d: %v", i, err)
		}
	}
	if _, err := attempts.Admit("ada", "192.0.2.2:1", now); err == nil {
		t.Error("she is not known there")
	}
}

// TestAttempts_ManyAddresses: an attacker with many addresses can fill the memory, but can
// neither grow it beyond its bound nor reset the failures of others.
func TestAttempts_ManyAddresses(t *testing.T) {
	t.Parallel()
	var attempts accounts.Attempts
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	const guesser, noisy = "192.0.2.1:1", "198.51.100.1:1"
	for range 5 {
		if _, err := attempts.Admit("ada", guesser, now); err != nil {
			t.Fatal(err)
		}
	}
	admits(&attempts, 100, now, noisy)
	address := netip.MustParseAddr("11.0.0.1")
	for i := range 2 * accounts.MaxAttemptKeys { // each from a different network
		_, _ = attempts.Admit(fmt.Sprint(i), address.String(), now)
		bytes := address.As4()
		if bytes[2]++; bytes[2] == 0 {
			bytes[1]++
		}
		if bytes[1] == 255 {
			bytes[0], bytes[1] = bytes[0]+1, 0
		}
		address = netip.AddrFrom4(bytes)
	}
	if people, places := attempts.Remembered(); people > accounts.MaxAttemptKeys || places > 3*allowance.MaxSenders {
		t.Errorf("%d people and %d places are remembered", people, places)
	}
	for person, peer := range map[string]string{"ada": guesser, "bob": noisy} {
		t.Run(person, func(t *testing.T) {
			if _, err := attempts.Admit(person, peer, now); err == nil {
				t.Errorf("%s: the limit was reset", peer)
			}
		})
	}
	// Failures that no longer count are dropped.
	now = now.Add(2 * time.Minute)
	if got := admits(&attempts, 100, now, "203.0.113.1:1"); got != 50 {
		t.Errorf("%d were admitted later", got)
	}
}

// signIns returns a service that hashes one password at a time, for 50 ms each. The correct
// password is "right".
func signIns(hashed *atomic.Int64) *accounts.Service {
	passwords := accounts.NewPasswords(accounts.PasswordCost{Memory: 64 << 10, Passes: 1})
	passwords.Instead(func(password string) []byte {
		<-time.After(50 * time.Millisecond)
		hashed.Add(1)
		if password == "right" {
			return []byte{1}
		}
		return []byte{0}
	})
	return &accounts.Service{Passwords: passwords, Now: time.Now}
}

const rightHash = "$argon2id$v=19$m=64,t=1,p=1$AAAA$AQ"

// TestSignIn_Starved: 200 clients send passwords of unknown people for 9 s. Meanwhile right
// passwords from other addresses succeed, and so do right passwords from the same address if the
// person signed in there before. Few passwords of the clients are hashed.
func TestSignIn_Starved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hashed atomic.Int64
		service := signIns(&hashed)
		if err := service.Try(t.Context(), "known", "192.0.2.7:1", "right", rightHash); err != nil {
			t.Fatal(err)
		}
		end := time.Now().Add(9 * time.Second)
		var clients sync.WaitGroup
		for i := range 200 {
			clients.Go(func() {
				for attempt := 0; time.Now().Before(end); attempt++ {
					err := service.Try(t.Context(), fmt.Sprint(i, attempt), "192.0.2.7:4711", "wrong", "")
					if !fault.Is(err, fault.Unauthorized) && !fault.Is(err, fault.RateLimited) {
						t.Errorf("got %v", err)
					}
					<-time.After(50 * time.Millisecond)
				}
			})
		}
		for i := range 8 {
			<-time.After(time.Second)
			for person, peer := range map[string]string{"known": "192.0.2.7:99", fmt.Sprint("new ", i): "198.51.100.1:1", fmt.Sprint("newer ", i): "[2001:db8::1]:1"} {
				began := time.Now()
				if err := service.Try(t.Context(), person, peer, "right", rightHash); err != nil || time.Since(began) > 200*time.Millisecond {
					t.Errorf("%s after %d s: %v in %s", person, i+1, err, time.Since(began))
				}
			}
		}
		clients.Wait()
		if got := hashed.Load(); got > 50+2*9+1+24 { // the limit of the address, and the right passwords
			t.Errorf("%d passwords were hashed", got)
		}
	})
}

// TestSignIn_NothingHashedPastLimits: the passwords of refused attempts are not hashed, neither
// by person nor by address.
func TestSignIn_NothingHashedPastLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		person func(i int) string
		peer   func(i int) string
		want   int64
	}{
		"one person, one address":  {func(int) string { return "ada" }, func(int) string { return "192.0.2.1:1" }, 5},
		"one address":              {func(i int) string { return fmt.Sprint(i) }, func(int) string { return "192.0.2.1:1" }, 50},
		"one network":              {func(i int) string { return fmt.Sprint(i) }, func(i int) string { return fmt.Sprintf("192.0.2.%d:1", i%250) }, 100},
		"one person, one /64":      {func(int) string { return "ada" }, func(i int) string { return fmt.Sprintf("[2001:db8::%x]:1", i) }, 5},
		"many people, all of /64":  {func(i int) string { return fmt.Sprint(i) }, func(i int) string { return fmt.Sprintf("[2001:db8::%x]:1", i) }, 100},
		"one person, many /24s":    {func(int) string { return "ada" }, func(i int) string { return fmt.Sprintf("192.%d.%d.1:1", i/200, i%200) }, 500},
		"many people and networks": {func(i int) string { return fmt.Sprint(i) }, func(i int) string { return fmt.Sprintf("192.%d.%d.1:1", i/200, i%200) }, 500},
	} {
		t.Run(name, func(t *testing.T) {
			var hashed atomic.Int64
			passwords := accounts.NewPasswords(accounts.PasswordCost{Memory: 64, Passes: 1})
			passwords.Instead(func(string) []byte { hashed.Add(1); return nil })
			now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
			service := &accounts.Service{Passwords: passwords, Now: func() time.Time { return now }}
			for i := range 500 {
				_ = service.Try(t.Context(), c.person(i), c.peer(i), "wrong", rightHash)
			}
			if hashed.Load() != c.want {
				t.Errorf("%d passwords were hashed, want %d", hashed.Load(), c.want)
			}
		})
	}
}

// TestPasswords_NetworksTakeTurns: passwords of one network do not wait for the queue of another
// network.
func TestPasswords_NetworksTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		passwords := accounts.NewPasswords(accounts.PasswordCost{Memory: 64 << 10, Passes: 1})
		var mu sync.Mutex
		var order []string
		passwords.Instead(func(password string) []byte {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, password)
			return nil
		})
		leave := passwords.Occupy(t.Context())
		var waiting sync.WaitGroup
		wait := func(from accounts.Sender, name string) {
			waiting.Go(func() {
				if _, err := passwords.Hash(t.Context(), from, name); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for i := range 3 {
			wait(accounts.Sender{Peer: fmt.Sprintf("192.0.2.%d:1", i)}, fmt.Sprint("noisy ", i))
		}
		wait(accounts.Sender{Peer: "198.51.100.1:1"}, "quiet")
		wait(accounts.Sender{Peer: "[2001:db8::1]:1"}, "IPv6")
		wait(accounts.Sender{Peer: "192.0.2.9:1", Known: true}, "known")
		wait(accounts.Sender{Peer: "192.0.2.9:1", Known: true}, "known again")
		leave()
		waiting.Wait()
		want := []string{"noisy 0", "known", "quiet", "known again", "IPv6", "noisy 1", "noisy 2"}
		if fmt.Sprint(order) != fmt.Sprint(want) {
			t.Errorf("got %q, want %q", order, want)
		}
		if passwords.Waiting() != 0 {
			t.Errorf("%d still wait", passwords.Waiting())
		}
	})
}

// TestPasswords_GivenUp: a sender that stops waiting takes no turn, even if its turn comes at
// the same moment.
func TestPasswords_GivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		passwords := accounts.NewPasswords(accounts.PasswordCost{Memory: 64 << 10, Passes: 1})
		passwords.Instead(func(string) []byte { return nil })
		for round := range 20 {
			leave := passwords.Occupy(t.Context())
			var waiting sync.WaitGroup
			for range 10 {
				waiting.Go(func() { _, _ = passwords.Hash(t.Context(), accounts.Sender{Peer: "192.0.2.1:1"}, "x") })
			}
			synctest.Wait()
			<-time.After(2*time.Second - time.Duration(round%2)) // at the moment when they give up
			leave()
			waiting.Wait()
			if passwords.Waiting() != 0 {
				t.Fatalf("%d still wait", passwords.Waiting())
			}
		}
		if _, err := passwords.Hash(t.Context(), accounts.Sender{}, "x"); err != nil {
			t.Errorf("a turn was lost: %v", err)
		}
	})
}
