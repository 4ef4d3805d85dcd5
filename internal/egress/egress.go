package egress

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Limits on answers.
const (
	keptBody    = 64 << 10 // bytes of the body in the result
	countedBody = 64 << 20 // bytes of the body that are read at most
	headerLimit = 64 << 10 // bytes of the status line and headers, including interim answers
)

const defaultTimeout = 30 * time.Second

// Request is a request to send. Headers are sent in their order and spelling; Host sets the request's host. User
// information in the URL becomes basic authorization, unless there is an Authorization header.
type Request struct {
	// Account owns the request. Connections and TLS sessions are never shared between accounts.
	Account string
	Method  string
	URL     string
	Headers []Header
	Body    string
	// Insecure accepts any certificate. Otherwise CACert has PEM certificates to trust in addition to the system's.
	Insecure bool
	CACert   string
	// Timeout covers everything from the lookup to the last byte; 0 means 30 seconds.
	Timeout time.Duration
	// ReadAtMost is how many bytes of the answer's body are read; 0 means 64 MiB.
	ReadAtMost int64
}

// Header is one header of a request.
type Header struct{ Name, Value string }

// Result is the answer to a request. After an error it has the part that was received before.
type Result struct {
	Status int // 0 if there was no answer
	// Header has lower-case names. Several values of one name are joined by ", ".
	Header    map[string]string
	Body      string // the first 64 KiB
	BodyBytes int64  // the size of the whole body, or of the part that was read
	Truncated bool   // the body is longer than Body
	Timings   Timings
}

// Timings has the durations of the parts of a request. With a kept connection, DNS, Connect and TLS are 0.
type Timings struct {
	DNS       time.Duration // looking up the name
	Connect   time.Duration
	TLS       time.Duration // the handshake
	FirstByte time.Duration // from the first byte of the request to the first byte of the answer
	Total     time.Duration
}

// Resolver looks up names, as net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options configure a Client. With the zero Options, a Client reaches public addresses only.
type Options struct {
	Allow []netip.Prefix // allowed networks, in addition to public addresses
	// Self returns the addresses that this server listens on. Requests to them are refused. An unspecified address
	// means all addresses of the machine. Self is called before every connection.
	Self      func() []netip.AddrPort
	UserAgent string   // for requests without a User-Agent header
	Resolver  Resolver // nil means the system's resolver
	// Idle is how many connections are kept for reuse; 0 means 1024. It should be at least the number of concurrent
	// requests. An account gets at most half of them and a peer a quarter.
	Idle int
}

// Client sends requests. It is safe for concurrent use.
type Client struct {
	userAgent string
	dialer    dialer
	tls       tlsConfigs
	idle      *pool
	scratch   sync.Pool // of *scratch
}

// scratch is the reusable memory of one exchange.
type scratch struct {
	head []byte         // the request as it is written
	body [16 << 10]byte // the answer's body as it is read
}

// New creates a Client.
func New(options Options) *Client {
	if options.Resolver == nil {
		options.Resolver = net.DefaultResolver
	}
	guard := newGuard(options.Allow, options.Self)
	dialing := net.Dialer{Control: guard.control}
	return &Client{
		userAgent: options.UserAgent,
		dialer:    dialer{net: dialing, guard: guard, resolver: options.Resolver, stagger: 250 * time.Millisecond},
		tls:       newTLSConfigs(),
		idle:      newPool(cmp.Or(options.Idle, idleDefault)),
		scratch:   sync.Pool{New: func() any { return new(scratch) }},
	}
}

// Close closes the idle connections. Requests under way continue.
func (c *Client) Close() { c.idle.close() }

// Do sends a request and reads the answer. Every error is an *Error.
func (c *Client) Do(ctx context.Context, request Request) (Result, error) {
	started := time.Now()
	var result Result
	err := c.do(ctx, request, started, &result)
	result.Timings.Total = time.Since(started)
	return result, err
}

func (c *Client) do(ctx context.Context, request Request, started time.Time, result *Result) error {
	if ctx.Err() != nil {
		return ended(ctx, preparing)
	}
	to, err := c.destination(request)
	if err != nil {
		return err
	}
	memory := c.scratch.Get().(*scratch)
	defer c.scratch.Put(memory)
	if memory.head, err = appendHead(memory.head[:0], request, to, c.userAgent); err != nil {
		return err
	}
	deadline := deadline(ctx, started, request.Timeout)
	conn, err := c.connection(ctx, to.endpoint, deadline, &result.Timings)
	if err != nil {
		return err
	}
	conn.begin(ctx, deadline)
	err = conn.exchange(memory, request, result)
	if reusable := conn.end(); reusable && err == nil && !isAmbiguous(request) {
		c.idle.put(conn)
	} else {
		conn.close()
	}
	return classified(ctx, err)
}

// connection returns an idle connection or opens a new one.
func (c *Client) connection(ctx context.Context, to endpoint, deadline time.Time, timings *Timings) (*conn, error) {
	if kept := c.idle.get(to); kept != nil {
		return kept, nil
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	raw, err := c.dialer.dial(ctx, to.host, to.port, timings)
	if err != nil {
		return nil, unconnected(ctx, err)
	}
	made := newConn(raw, to)
	if to.tls == nil {
		return made, nil
	}
	started := time.Now()
	err = made.handshake(ctx)
	timings.TLS = time.Since(started)
	if err != nil {
		made.close()
		return nil, classified(ctx, &failure{securing, err})
	}
	return made, nil
}

// deadline returns when the request must be over: after the timeout, or at the context's deadline if that is sooner.
func deadline(ctx context.Context, started time.Time, timeout time.Duration) time.Time {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	at := started.Add(timeout)
	if limit, ok := ctx.Deadline(); ok && limit.Before(at) {
		return limit
	}
	return at
}
