package egress

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/signalbox/signalbox/internal/hosts"
)

// destination is where a request goes, read from its URL.
type destination struct {
	endpoint

	target    string // of the request line
	authority string // the Host header, unless the request brings one
	user      *url.Userinfo
}

// destination reads the URL of a request.
func (c *Client) destination(request Request) (destination, error) {
	location, err := url.Parse(request.URL)
	if err != nil {
		if bad, ok := errors.AsType[*url.Error](err); ok {
			err = bad.Err // without the URL, which may hold a password
		}
		return destination{}, refused("its URL is not valid: " + shortened(err.Error()))
	}
	host, err := hosts.ASCII(location.Hostname())
	if err != nil || host == "" {
		return destination{}, refused("its URL has no valid host")
	}
	to := destination{user: location.User, target: target(location)}
	to.account, to.host = request.Account, host
	if to.tls, to.port, err = c.scheme(request, location.Scheme); err != nil {
		return destination{}, err
	}
	to.authority = authority(host, location.Port())
	if text := location.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return destination{}, refused("its URL has no valid port")
		}
		to.port = uint16(port)
	}
	return to, nil
}

// scheme gives the TLS configuration, nil without TLS, and the port of a URL that names none.
func (c *Client) scheme(request Request, name string) (*tls.Config, uint16, error) {
	switch name {
	case "http":
		return nil, 80, nil
	case "https":
		config, err := c.tls.get(request)
		return config, 443, err
	}
	return nil, 0, refused("its URL is neither http nor https")
}

// authority is the Host header for a host; an address of IPv6 stands in brackets, without its zone.
func authority(host, port string) string {
	if strings.Contains(host, ":") {
		host, _, _ = strings.Cut(host, "%")
		host = "[" + host + "]"
	}
	if port == "" {
		return host
	}
	return host + ":" + port
}

// target is what the request line asks for: path and query as they were written.
func target(location *url.URL) string {
	path := location.RawPath
	if path == "" {
		path = location.EscapedPath()
	}
	if path == "" {
		path = "/"
	}
	if location.RawQuery != "" || location.ForceQuery {
		path += "?" + location.RawQuery
	}
	return escaped(path)
}

// escaped makes a request target safe to stand in a request line: a URL's query may hold spaces and other scripts.
func escaped(target string) string {
	unsafe := func(b byte) bool { return b <= ' ' || b >= 0x7f }
	i := 0
	for i < len(target) && !unsafe(target[i]) {
		i++
	}
	if i == len(target) {
		return target
	}
	var out strings.Builder
	for i := range len(target) {
		if b := target[i]; unsafe(b) {
			const digits = "0123456789ABCDEF"
			out.Write([]byte{'%', digits[b>>4], digits[b&15]})
		} else {
			out.WriteByte(b)
		}
	}
	return out.String()
}

// appendHead appends a request's line and headers. What would change how the request is framed is refused: the caller
// checks headers when they come, and here is the last place where a line break could become a second request.
func appendHead(head []byte, request Request, to destination, userAgent string) ([]byte, error) {
	if !httpguts.ValidHeaderFieldName(request.Method) || request.Method == http.MethodHead || request.Method == http.MethodConnect {
		// The answers to HEAD and CONNECT end elsewhere than their headers say.
		return head, refused("its method is not valid")
	}
	own := headersOf(request.Headers)
	host := to.authority
	if own.host != nil {
		host = own.host.Value
	}
	if !httpguts.ValidHostHeader(host) {
		return head, refused("its host is not valid")
	}
	head = append(append(append(head, request.Method...), ' '), to.target...)
	head = appendHeader(append(head, " HTTP/1.1\r\n"...), "Host", host)
	for _, header := range request.Headers {
		if err := checkHeader(header); err != nil {
			return head, err
		}
		if !strings.EqualFold(header.Name, "Host") {
			head = appendHeader(head, header.Name, header.Value)
		}
	}
	if !own.userAgent && userAgent != "" {
		head = appendHeader(head, "User-Agent", userAgent)
	}
	if to.user != nil && !own.authorization {
		head = appendHeader(head, "Authorization", basic(to.user))
	}
	if len(request.Body) > 0 || request.Method != http.MethodGet && request.Method != http.MethodDelete {
		head = append(head, "Content-Length: "...)
		head = append(strconv.AppendInt(head, int64(len(request.Body)), 10), "\r\n"...)
	}
	return append(head, "\r\n"...), nil
}

// isAmbiguous tells whether servers disagree on where a request ends: some do not read the body of a method that needs
// none and take it for the next request, and some do so when they answer instead of asking for an expected body.
func isAmbiguous(request Request) bool {
	if request.Body == "" {
		return false
	}
	switch request.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		return slices.ContainsFunc(request.Headers, func(header Header) bool { return strings.EqualFold(header.Name, "Expect") })
	}
	return true
}

func appendHeader(head []byte, name, value string) []byte {
	head = append(append(head, name...), ": "...)
	return append(append(head, value...), "\r\n"...)
}

// present tells which headers a request brings that would else be added.
type present struct {
	host                     *Header
	userAgent, authorization bool
}

func headersOf(headers []Header) present {
	var p present
	for i, header := range headers {
		switch {
		case strings.EqualFold(header.Name, "Host"):
			p.host = &headers[i]
		case strings.EqualFold(header.Name, "User-Agent"):
			p.userAgent = true
		case strings.EqualFold(header.Name, "Authorization"):
			p.authorization = true
		}
	}
	return p
}

func checkHeader(header Header) error {
	if !httpguts.ValidHeaderFieldName(header.Name) || !httpguts.ValidHeaderFieldValue(header.Value) {
		return refused("a header is not valid: " + shortened(strconv.Quote(header.Name)))
	}
	if hosts.IsConnectionHeader(header.Name) {
		return refused("the header " + header.Name + " is the connection's own")
	}
	return nil
}

// basic is the Authorization header of a URL's user information.
func basic(user *url.Userinfo) string {
	password, _ := user.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))
}
