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
	"syscall"
	"time"
)

// server is one listener with its HTTP server.
type server struct {
	http     *http.Server
	listener net.Listener
	failure  chan error // receives one value when serving ends
}

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
		http: &http.Server{
			ReadHeaderTimeout: 10 * time.Second,
			ReadTimeout:       60 * time.Second,
			WriteTimeout:      60 * time.Second,
			IdleTimeout:       120 * time.Second,
			MaxHeaderBytes:    64 << 10,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
	}, nil
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
	serve := s.http.Serve
	if s.http.TLSConfig != nil {
		serve = func(listener net.Listener) error { return s.http.ServeTLS(listener, "", "") }
	}
	if err := serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", s.listener.Addr(), err)
	}
	return nil
}

// stop lets requests finish until ctx ends, and then closes their connections.
func (s *server) stop(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	_ = s.listener.Close() // already closed, unless serving never began
	return err
}
