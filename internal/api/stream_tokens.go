package api

import (
	"encoding/base64"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

const (
	// tokenPurpose separates the signatures of tokens from other signatures of the key ring.
	tokenPurpose = "event stream"
	// maxTokenGrace is how long a token is accepted after its window, so that a URL that was just handed out works.
	maxTokenGrace = time.Minute
	// defaultTokenTTL is the value of Options.StreamTokenTTL if none is set.
	defaultTokenTTL = 24 * time.Hour
)

// Signer makes signatures that every node accepts, also after a restart.
type Signer interface {
	Sign(purpose string, text []byte) []byte
	// Signed reports whether Sign made the signature.
	Signed(purpose string, text, signature []byte) bool
}

// streamClaim says whose event stream a token opens. It has no secret.
type streamClaim struct{ account, key, environment string }

// streamTokens makes and checks the tokens in the URLs of event streams. A browser cannot send headers with such a
// request, and a key in a URL would get into the logs of proxies. A token is the claim, the end of its validity and
// their signature. Tokens are not stored.
type streamTokens struct {
	signer Signer
	window time.Duration
	now    func() time.Time
}

// make returns the token for a claim. It is the same on every node until its window ends. The windows of different keys
// end at different times.
func (t streamTokens) make(claim streamClaim) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(claim.key)) // a hash takes everything
	window := int64(t.window)
	offset := int64(sum.Sum64() % uint64(window)) //nolint:gosec // it is less than window
	begun := t.now().UnixNano() - offset
	ends := offset + begun - begun%window + window
	text := []byte(strings.Join([]string{claim.account, claim.key, claim.environment, strconv.FormatInt(ends, 36)}, " "))
	encode := base64.RawURLEncoding.EncodeToString
	return encode(text) + "." + encode(t.signer.Sign(tokenPurpose, text))
}

// read returns the claim of a token, or an Unauthorized refusal.
func (t streamTokens) read(token string) (streamClaim, error) {
	encoded, signature, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return streamClaim{}, errToken("is not one of this server")
	}
	signed, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !t.signer.Signed(tokenPurpose, text, signed) {
		return streamClaim{}, errToken("is not one of this server")
	}
	parts := strings.Split(string(text), " ")
	ends, err := strconv.ParseInt(parts[len(parts)-1], 36, 64)
	if err != nil || len(parts) != 4 {
		return streamClaim{}, errToken("is of another version of this server")
	}
	if t.now().After(time.Unix(0, ends).Add(min(maxTokenGrace, t.window/10))) {
		return streamClaim{}, errToken("has expired")
	}
	return streamClaim{account: strings.Clone(parts[0]), key: strings.Clone(parts[1]), environment: strings.Clone(parts[2])}, nil
}

// errToken returns the refusal of a token. It never repeats the token.
func errToken(problem string) error {
	return fault.New(fault.Unauthorized, "The token in the URL of this event stream %s. Evaluate all flags again: the answer has a new URL.", problem)
}
