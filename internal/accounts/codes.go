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
	// codeSymbols are the symbols of Crockford's base 32: no two look alike.
	codeSymbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// codeLength gives 60 random bits. Nobody can guess them in ten minutes, even with
	// the stored hash.
	codeLength = 12
	codeGroup  = 4
)

// Code signs a person in once more, in a terminal. It works once. Only the result of
// MakeCode has the plaintext.
type Code struct {
	Session   string    `json:"-"` // the id of the session that made the code
	Plaintext string    `json:"code"`
	ExpiresAt time.Time `json:"expires_at"`
}

// MakeCode makes a code for the person who calls. The code stops working when the caller's
// session ends or makes another code.
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

// newCode returns the text of a random code, such as 7KQM-4XTP-9RWD.
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

// parseCode returns the secret of a typed code. Case, dashes and spaces do not matter, and
// letters that look like digits are read as digits.
func parseCode(text string) Secret {
	plain := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1")
	return ParseSecret(plain.Replace(strings.ToUpper(text)))
}

// CodeDraft is a typed code and its sender.
type CodeDraft struct {
	Code         string
	Peer, Client string
	// Problems are the problems found while reading the input.
	Problems fault.Problems
}

// SignInWithCode uses up a code and opens a session for its person. The new session ends
// no later than the session that made the code, so that codes do not postpone the next
// sign-in with a password.
func (s *Service) SignInWithCode(ctx context.Context, draft CodeDraft) (Session, error) {
	if err := draft.Problems.Err(); err != nil {
		return Session{}, err
	}
	code := parseCode(draft.Code)
	// Attempts are counted by the code's first group, so guessing the rest of a code is slow.
	// Wrong codes cost no hashing, so they count neither for their address and network nor
	// together with passwords: they do not keep other people from signing in.
	admitted, err := s.codes.admitAnywhere(cut(code.text, codeGroup), draft.Peer, s.Now())
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
		origin, err := codeSession(ctx, tx, hash) // another request may have used the code meanwhile
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

// codeSession returns the session that made a code. Every code that does not work is
// Unauthorized, whatever the reason.
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
