package accounts

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/transaction"
)

// KindCode is the JSON:API type of a code.
const KindCode = "sign_in_code"

const (
	codeAge = 10 * time.Minute
	// codeSymbols are those of Crockford's base 32: none looks like another.
	codeSymbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// codeLength gives 60 random bits, which nobody finds in ten minutes, not even with
	// the hash.
	codeLength = 12
	codeGroup  = 4
)

// Code signs its person in somewhere else, once: in a terminal. Its plaintext is known
// only to the call that made it.
type Code struct {
	Session   string    `json:"-"` // the id of the session that it was made in
	Plaintext string    `json:"code"`
	ExpiresAt time.Time `json:"expires_at"`
}

// MakeCode makes a code for the person who calls. It ends with the session that it was
// made in, and another one takes its place.
func (s *Service) MakeCode(ctx context.Context, caller Caller) (Code, error) {
	if !caller.IsPerson() {
		return Code{}, fault.New(fault.Forbidden,
			"A code is for people, and this session was made with an API key. Give the key itself to signalbox login.")
	}
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (Code, error) {
		code := Code{Session: caller.SessionID, Plaintext: newCode(), ExpiresAt: tx.Now().Add(codeAge)}
		return code, tx.SaveLink(ctx, Link{ID: newID(), CreatedAt: tx.Now(), Hash: parseCode(code.Plaintext).Hash(), Account: caller.Account, Kind: CodeLink,
			Subject: caller.SessionID, ExpiresAt: &code.ExpiresAt})
	})
}

// newCode returns a code as people see it, such as 7KQM-4XTP-9RWD.
func newCode() string {
	random := make([]byte, codeLength)
	_, _ = rand.Read(random) // never fails: it would end the process
	var code strings.Builder
	for i, each := range random {
		if i > 0 && i%codeGroup == 0 {
			code.WriteByte('-')
		}
		code.WriteByte(codeSymbols[int(each)%len(codeSymbols)])
	}
	return code.String()
}

// parseCode returns the secret of a code as somebody typed it: case, dashes and spaces
// do not matter, nor what is easily mistaken.
func parseCode(text string) Secret {
	plain := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1")
	return ParseSecret(plain.Replace(strings.ToUpper(text)))
}

// CodeDraft is a code, and where it comes from.
type CodeDraft struct {
	Code         string
	Peer, Client string
	// Problems holds what reading the input already found.
	Problems fault.Problems
}

// SignInWithCode uses a code up and opens a session for its person. It never outlives the
// session that the code was made in, so that a week after the password was given the
// person is asked again.
func (s *Service) SignInWithCode(ctx context.Context, draft CodeDraft) (Session, error) {
	if err := draft.Problems.Err(); err != nil {
		return Session{}, err
	}
	code := parseCode(draft.Code)
	// Attempts are counted for the code's first group, which stands for the person: guessing
	// the rest of one code is slow, and wrong codes do not keep others from signing in: they
	// cost no hashing, so they count neither for their place nor with passwords.
	admitted, err := s.codes.admitAt(cut(code.text, codeGroup), draft.Peer, s.Now(), false)
	if err != nil {
		return Session{}, err
	}
	session, err := s.useCode(ctx, code.Hash(), draft.Client)
	return session, s.codes.settle(admitted, err)
}

func (s *Service) useCode(ctx context.Context, hash, client string) (Session, error) {
	found, err := transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Session, error) { return codeSession(ctx, tx, hash) })
	if err != nil {
		return Session{}, err
	}
	return transaction.Write(ctx, s.Store, found.Account, func(ctx context.Context, tx Tx) (Session, error) {
		origin, err := codeSession(ctx, tx, hash) // another request may have used it meanwhile
		if err != nil {
			return Session{}, err
		}
		user, err := tx.User(ctx, origin.Account, origin.User)
		if err != nil {
			return Session{}, err
		}
		if err := tx.DeleteLinks(ctx, origin.Account, origin.ID); err != nil {
			return Session{}, err
		}
		return openPersonal(ctx, tx, user, Session{Client: client, ExpiresAt: origin.ExpiresAt})
	})
}

// codeSession returns the session that a code was made in. Every code that does not work
// is Unauthorized, whatever the reason.
func codeSession(ctx context.Context, tx ReadTx, hash string) (Session, error) {
	link, err := tx.LinkByHash(ctx, hash)
	if fault.Is(err, fault.NotFound) || err == nil && (link.Kind != CodeLink || !link.works(tx.Now())) {
		return Session{}, errNoCode()
	}
	if err != nil {
		return Session{}, err
	}
	session, err := tx.Session(ctx, link.Account, link.Subject)
	if fault.Is(err, fault.NotFound) || err == nil && !tx.Now().Before(session.ExpiresAt) {
		return Session{}, errNoCode()
	}
	return session, err
}

func errNoCode() error {
	return fault.New(fault.Unauthorized,
		"This code does not work: it was used, has expired, or never existed. Get another one in the console, at Sign in a terminal.")
}
