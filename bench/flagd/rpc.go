package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"buf.build/gen/go/open-feature/flagd/grpc/go/flagd/sync/v1/syncv1grpc"
	syncv1 "buf.build/gen/go/open-feature/flagd/protocolbuffers/go/flagd/sync/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// rpcTimeout bounds every call.
const rpcTimeout = 30 * time.Second

// dial connects with gRPC's own client.
func (s *server) dial() (*grpc.ClientConn, error) {
	transport := insecure.NewCredentials()
	if s.certificate != "" {
		var err error
		if transport, err = credentials.NewClientTLSFromFile(s.certificate, ""); err != nil {
			return nil, err
		}
	}
	return grpc.NewClient(s.authority(), grpc.WithTransportCredentials(transport))
}

// speak checks the methods with gRPC's own library: the places of the key and the selector, the refusals, and the end
// of a stream when the server stops. It leaves the server stopped.
func (s *server) speak(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rpcTimeout)
	defer cancel()
	conn, err := s.dial()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	client := syncv1grpc.NewFlagSyncServiceClient(conn)
	if err := s.fetch(ctx, client); err != nil {
		return err
	}
	stream, err := client.SyncFlags(ctx, &syncv1.SyncFlagsRequest{Selector: "environment=production,key=" + s.key})
	if err != nil {
		return err
	}
	if message, err := stream.Recv(); err != nil || !strings.Contains(message.GetFlagConfiguration(), clock) {
		return fmt.Errorf("the stream begins with %.100s, %w", message.GetFlagConfiguration(), err)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.stop()
	}()
	_, err = stream.Recv()
	<-stopped
	if status.Code(err) != codes.Unavailable {
		return fmt.Errorf("the server stops, and the stream ends with %w", err)
	}
	fmt.Printf("gRPC's own library over %s: keys in metadata and selectors, refusals, and UNAVAILABLE from a stopping server\n", s.scheme())
	return nil
}

// fetch calls FetchAllFlags with valid and with invalid requests.
func (s *server) fetch(ctx context.Context, client syncv1grpc.FlagSyncServiceClient) error {
	bearer, selector := metadata.Pairs("authorization", "Bearer "+s.key), "environment=production"
	for name, call := range map[string]struct {
		headers  metadata.MD
		selector string
		options  []grpc.CallOption
		want     codes.Code
	}{
		"a key in metadata":           {bearer, selector, nil, codes.OK},
		"a selector in metadata":      {metadata.Pairs("flagd-selector", "key="+s.key+","+selector), "", nil, codes.OK},
		"a key in the selector":       {nil, "key=" + s.key + "," + selector, nil, codes.OK},
		"no key":                      {nil, selector, nil, codes.Unauthenticated},
		"an unknown environment":      {bearer, "environment=nowhere", nil, codes.NotFound},
		"a compressed message":        {bearer, selector, []grpc.CallOption{grpc.UseCompressor(gzip.Name)}, codes.Unimplemented},
		"a large message":             {bearer, selector + strings.Repeat(" ", 1<<20), nil, codes.ResourceExhausted},
		"a large selector, no key":    {metadata.Pairs("flagd-selector", strings.Repeat("x", 60<<10)), "", nil, codes.InvalidArgument},
		"metadata beyond every limit": {metadata.Join(bearer, metadata.Pairs("x-large", strings.Repeat("x", 4<<20))), selector, nil, codes.Internal},
	} {
		headers := metadata.NewOutgoingContext(ctx, call.headers)
		answer, err := client.FetchAllFlags(headers, &syncv1.FetchAllFlagsRequest{Selector: call.selector}, call.options...)
		if status.Code(err) != call.want || strings.Contains(fmt.Sprint(err), s.key) {
			return fmt.Errorf("%s: got %w, want %s", name, err, call.want)
		}
		if err == nil && !strings.Contains(answer.GetFlagConfiguration(), clock) {
			return fmt.Errorf("%s: got %.100s", name, answer.GetFlagConfiguration())
		}
	}
	return nil
}

// secure makes the server use TLS from its next start, with a certificate that it signs itself.
func (s *server) secure() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	s.certificate = filepath.Join(s.folder, "certificate.pem")
	if err := os.WriteFile(s.certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}), 0o600); err != nil {
		return err
	}
	roots := x509.NewCertPool()
	trusted, err := x509.ParseCertificate(made)
	if err != nil {
		return err
	}
	roots.AddCert(trusted)
	s.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	return os.WriteFile(s.privateKey(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), 0o600)
}

func (s *server) privateKey() string { return filepath.Join(s.folder, "key.pem") }
