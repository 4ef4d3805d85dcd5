package egress_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
)

// held is a connection that buffers written bytes until the test decides what happens to them.
type held struct {
	net.Conn

	holding bool
	text    bytes.Buffer
}

func (h *held) Write(p []byte) (int, error) {
	if h.holding {
		return h.text.Write(p)
	}
	return h.Conn.Write(p)
}

// listenTLS starts a server that uses TLS with large records.
func listenTLS(t *testing.T, version uint16, handle func(*held, *tls.Conn)) *peer {
	t.Helper()
	config := &tls.Config{Certificates: []tls.Certificate{newAuthority(t).sign(t, "good.test", later())}, MaxVersion: version, DynamicRecordSizingDisabled: true} //nolint:gosec // a test of old versions, too
	return listen(t, "127.0.0.1:0", func(conn net.Conn) {
		below := &held{Conn: conn}
		handle(below, tls.Server(below, config))
	})
}

const smuggled = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled"

// TestReuse_NotAfterTLSLeftovers: TLS may read extra bytes together with the answer. Then the socket is quiet, but the
// connection must not be reused.
func TestReuse_NotAfterTLSLeftovers(t *testing.T) {
	t.Parallel()
	// Each function sends an answer and more bytes in one write below TLS.
	ways := map[string]func(*tls.Conn, string){
		"the same record": func(conn *tls.Conn, answer string) { _, _ = io.WriteString(conn, answer+smuggled) },
		"the next record": func(conn *tls.Conn, answer string) {
			_, _ = io.WriteString(conn, answer)
			_, _ = io.WriteString(conn, smuggled)
		},
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			for name, write := range ways {
				t.Run(name, func(t *testing.T) {
					for _, size := range []int{0, 2, 4096, 9000} {
						leftOver(t, version, size, name, write)
					}
				})
			}
		})
	}
}

func leftOver(t *testing.T, version uint16, size int, name string, write func(*tls.Conn, string)) {
	t.Helper()
	answer := "HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(size) + "\r\n\r\n" + strings.Repeat("x", size)
	server := listenTLS(t, version, func(below *held, conn *tls.Conn) {
		reader := bufio.NewReader(conn)
		for readRequest(reader) {
			below.holding = true
			write(conn, answer)
			below.holding = false
			if _, err := below.text.WriteTo(below); err != nil {
				return
			}
		}
	})
	client := localClient(t)
	request := get(strings.Replace(server.url(), "http", "https", 1))
	request.Insecure = true
	for range 2 {
		if result := do(t, client, request); result.BodyBytes != int64(size) || result.Body == "smuggled" {
			t.Errorf("%s after %d bytes: got %d bytes", name, size, result.BodyBytes)
		}
	}
	if n := server.connections.Load(); n != 2 {
		t.Errorf("%s after %d bytes: %d connections", name, size, n)
	}
}

func TestReuse_ManyTLSRecords(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			server := listenTLS(t, version, func(_ *held, conn *tls.Conn) {
				reader := bufio.NewReader(conn)
				for readRequest(reader) {
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100")
					_, _ = io.WriteString(conn, "000\r\n\r\n")
					_, _ = io.WriteString(conn, strings.Repeat("x", 99_999))
					_, _ = io.WriteString(conn, "x")
				}
			})
			request := get(strings.Replace(server.url(), "http", "https", 1))
			request.Insecure = true
			client := localClient(t)
			for range 5 {
				if result := do(t, client, request); result.BodyBytes != 100_000 {
					t.Errorf("%d bytes", result.BodyBytes)
				}
			}
			if n := server.connections.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestTLS_AccountsDoNotShareSessions(t *testing.T) {
	t.Parallel()
	resumed := make(chan bool, 1)
	server := listenTLS(t, tls.VersionTLS13, func(_ *held, conn *tls.Conn) {
		if readRequest(bufio.NewReader(conn)) {
			resumed <- conn.ConnectionState().DidResume
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		}
	})
	client := localClient(t)
	request := get(strings.Replace(server.url(), "http", "https", 1))
	request.Insecure = true
	for _, c := range []struct {
		account string
		want    bool
	}{{"one", false}, {"one", true}, {"other", false}, {"one", true}, {"other", true}} {
		request.Account = c.account
		do(t, client, request)
		if got := <-resumed; got != c.want {
			t.Errorf("%s: resumed is %t", c.account, got)
		}
	}
}
