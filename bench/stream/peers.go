package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/signalbox/signalbox/bench/servers"
)

// PlainCommand is the argument that turns the bench program into the peers.
const PlainCommand = "serve-push"

func startSignalbox(ctx context.Context, folder string) (*servers.Server, error) {
	server, err := servers.StartSignalbox(ctx, folder, "")
	if err != nil {
		return nil, err
	}
	if err := changeFlag(ctx, server.Address); err != nil {
		server.Stop()
		return nil, err
	}
	return server, nil
}

// changeFlag creates a flag with a new name: one commit, one event.
func changeFlag(ctx context.Context, address string) error {
	body := fmt.Sprintf(`{"data":{"id":"f-%d","type":"flag","attributes":{"type":"BOOLEAN","default":false}}}`, time.Now().UnixNano())
	_, err := servers.Fetch(ctx, http.MethodPost, address, "/api/v1/flags", []byte(body))
	return err
}

// eventStream returns the path of the event stream that OFREP offers to a key for browsers.
func eventStream(ctx context.Context, address string) (string, error) {
	made, err := servers.Fetch(ctx, http.MethodPost, address, "/api/v1/api_keys", []byte(
		`{"data":{"type":"api_key","attributes":{"name":"browsers","access":"evaluate","scopes":{"environments":["production"]}}}}`))
	if err != nil {
		return "", err
	}
	var key struct {
		Data struct{ Attributes struct{ Key string } }
	}
	if err := json.Unmarshal(made, &key); err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/ofrep/v1/evaluate/flags", http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+key.Data.Attributes.Key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var answer struct{ EventStreams []struct{ URL string } }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || len(answer.EventStreams) == 0 {
		return "", fmt.Errorf("the server announced no event stream: %d, %w", response.StatusCode, err)
	}
	target, err := url.Parse(answer.EventStreams[0].URL)
	if err != nil {
		return "", err
	}
	return target.RequestURI(), nil
}

func startPlain(ctx context.Context, _ string) (*servers.Server, error) {
	return servers.StartSelf(ctx, PlainCommand)
}

func push(ctx context.Context, address string) error {
	_, err := servers.Fetch(ctx, http.MethodPost, address, "/push", nil)
	return err
}

// plain is the obvious simple server: a channel for every connection, and a loop that sends to all channels.
type plain struct {
	mu       sync.Mutex
	channels map[chan []byte]struct{}
	seq      int
}

// ServePlain serves events over SSE and over coder/websocket.
func ServePlain(ctx context.Context, out io.Writer) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return err
	}
	p := &plain{channels: map[chan []byte]struct{}{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sse", p.sse)
	mux.HandleFunc("GET /ws", p.ws)
	mux.HandleFunc("POST /push", p.push)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	return server.Serve(listener)
}

func (p *plain) join() (chan []byte, func()) {
	channel := make(chan []byte, 16)
	p.mu.Lock()
	p.channels[channel] = struct{}{}
	p.mu.Unlock()
	return channel, func() {
		p.mu.Lock()
		delete(p.channels, channel)
		p.mu.Unlock()
	}
}

func (p *plain) push(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	text := fmt.Appendf(nil, `{"event":"flag_changed","id":"f-%d","seq":%d}`, time.Now().UnixNano(), p.seq)
	for channel := range p.channels {
		select {
		case channel <- text:
		default:
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

const hello = `{"type":"connected"}`

func (p *plain) sse(w http.ResponseWriter, r *http.Request) {
	channel, leave := p.join()
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	_, _ = fmt.Fprintf(w, "data: %s\n\n", hello)
	_ = control.Flush()
	ping := time.NewTicker(30 * time.Second)
	defer ping.Stop()
	for {
		var err error
		select {
		case <-r.Context().Done():
			return
		case <-ping.C:
			_, err = io.WriteString(w, ": ping\n\n")
		case text := <-channel:
			_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		}
		if err = errors.Join(err, control.Flush()); err != nil {
			return
		}
	}
}

func (p *plain) ws(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	channel, leave := p.join()
	defer leave()
	ctx := conn.CloseRead(r.Context())
	if conn.Write(ctx, websocket.MessageText, []byte(hello)) != nil {
		return
	}
	ping := time.NewTicker(30 * time.Second)
	defer ping.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-ping.C:
			err = conn.Write(ctx, websocket.MessageText, []byte("ping"))
		case text := <-channel:
			err = conn.Write(ctx, websocket.MessageText, text)
		}
		if err != nil {
			return
		}
	}
}
