package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// server is one listener with its HTTP server.
type server struct {
	http     *http.Server
	listener net.Listener
	failure  chan error // receives one value when serving ends

	leaving atomic.Bool   // answers close their connections
	open    atomic.Int64  // connections
	emptied chan struct{} // receives a value when the last connection was closed
}

// lastAnswers is how long a stopping server goes on answering, so that clients learn from an answer that the connection
// will be closed. Otherwise a request that is sent when the connection is closed would fail.
const lastAnswers = 200 * time.Millisecond

// newServer binds the address of a setting. Its handler is set before it starts.
func newServer(ctx context.Context, setting, address string, log *slog.Logger) (*server, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		if failed, ok := errors.AsType[*net.OpError](err); ok {
			err = failed.Err // the outer error repeats the address
		}
		return nil, fmt.Errorf("listening on %s: %w: %s", address, err, otherAddress(setting, address, err))
	}
	return &server{
		listener: listener,
		failure:  make(chan error, 1),
		emptied:  make(chan struct{}, 1),
		http: &http.Server{
			ReadHeaderTimeout: 10 * time.Second,
			ReadTimeout:       60 * time.Second,
			WriteTimeout:      60 * time.Second,
			IdleTimeout:       120 * time.Second,
			MaxHeaderBytes:    64 << 10,
			// HTTP/2 without TLS is for gRPC. Pings find peers that have disappeared, as heartbeats do for event sockets.
			Protocols: protocols(),
			HTTP2:     &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
			ErrorLog:  slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
	}, nil
}

// pingAfter is how long a connection of HTTP/2 may be silent before it is tested, and how long the test may take.
const pingAfter = 30 * time.Second

func protocols() *http.Protocols {
	var spoken http.Protocols
	spoken.SetHTTP1(true)
	spoken.SetHTTP2(true)
	spoken.SetUnencryptedHTTP2(true)
	return &spoken
}

// otherAddress returns advice for an address that cannot be bound.
func otherAddress(setting, address string, cause error) string {
	host, port, _ := net.SplitHostPort(address) // the settings were checked already
	next := "8081"
	if number, err := strconv.Atoi(port); err == nil && number >= 1024 && number < math.MaxUint16 {
		next = strconv.Itoa(number + 1)
	}
	if errors.Is(cause, syscall.EADDRNOTAVAIL) {
		host = "127.0.0.1"
	}
	advice := "choose another address"
	if errors.Is(cause, syscall.EADDRINUSE) {
		advice = "stop the program that uses it, which may be another Signalbox, or " + advice
	}
	return advice + ", for example " + setting + "=" + net.JoinHostPort(host, next)
}

// useTLS makes the server use TLS with a certificate file and a key file. The
// files may be replaced while the server runs.
func (s *server) useTLS(certFile, keyFile string, log *slog.Logger) error {
	certificate, err := loadCertificate(certFile, keyFile, log)
	if err != nil {
		return err
	}
	s.http.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.get}
	return nil
}

func (s *server) start() { go func() { s.failure <- s.serve() }() }

func (s *server) serve() error {
	s.http.Handler = s.closing(s.http.Handler)
	s.http.ConnState = s.count
	serve := s.http.Serve
	if s.http.TLSConfig != nil {
		serve = func(listener net.Listener) error { return s.http.ServeTLS(listener, "", "") }
	}
	if err := serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", s.listener.Addr(), err)
	}
	return nil
}

// closing returns a handler whose answers close their connections when the server stops.
func (s *server) closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaving.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// count counts connections.
func (s *server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		if s.open.Add(-1) == 0 {
			select {
			case s.emptied <- struct{}{}:
			default: // nobody waits
			}
		}
	case http.StateActive, http.StateIdle:
	}
}

// sayClosing answers a little longer, until all connections are closed.
func (s *server) sayClosing(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastAnswers)
	defer cancel()
	s.leaving.Store(true)
	for s.open.Load() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-s.emptied:
		}
	}
}

// stop lets requests finish until ctx ends, and then closes their connections.
func (s *server) stop(ctx context.Context) error {
	s.sayClosing(ctx)
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	_ = s.listener.Close() // already closed, unless serving never began
	return err
}
