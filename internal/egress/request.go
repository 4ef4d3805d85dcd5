package egress

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/signalbox/signalbox/internal/hosts"
)

// destination is the target of a request, parsed from its URL.
type destination struct {
	endpoint

	target    string // of the request line
	authority string // the Host header, unless the request sets one
	user      *url.Userinfo
}

// destination parses the URL of a request.
func (c *Client) destination(request Request) (destination, error) {
	location, err := url.Parse(request.URL)
	if err != nil {
		if bad, ok := errors.AsType[*url.Error](err); ok {
			err = bad.Err // omits the URL, which may contain a password
		}
		return destination{}, refused("its URL is not valid: " + shortened(err.Error()))
	}
	host, err := hosts.ASCII(location.Hostname())
	if err != nil || host == "" {
		return destination{}, refused("its URL has no valid host")
	}
	to := destination{target: target(location), authority: authority(host, location.Port()), user: location.User}
	to.account, to.host = request.Account, host
	switch location.Scheme {
	case "http":
		to.port = 80
	case "https":
		to.port = 443
		if to.tls, err = c.tls.get(request); err != nil {
			return destination{}, err
		}
	default:
		return destination{}, refused("its URL is neither http nor https")
	}
	if text := location.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return destination{}, refused("its URL has no valid port")
		}
		to.port = uint16(port)
	}
	return to, nil
}

// authority returns the Host header for a host. It puts an IPv6 address in brackets, without its zone.
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

// target returns path and query for the request line, with the URL's own spelling.
func target(location *url.URL) string {
	path := cmp.Or(location.RawPath, location.EscapedPath(), "/")
	if location.RawQuery != "" || location.ForceQuery {
		path += "?" + location.RawQuery
	}
	return escaped(path)
}

// escaped escapes bytes that a request line may not have. A URL's query may have spaces and non-ASCII characters.
func escaped(target string) string {
	isUnsafe := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	if !strings.ContainsFunc(target, isUnsafe) {
		return target
	}
	var out strings.Builder
	for _, b := range []byte(target) {
		if isUnsafe(rune(b)) {
			fmt.Fprintf(&out, "%%%02X", b)
		} else {
			out.WriteByte(b)
		}
	}
	return out.String()
}

// appendHead appends a request's line and headers. It refuses anything that would change where the request ends. Callers
// check headers too, but this is the last check that prevents a line break from starting a second request.
func appendHead(head []byte, request Request, to destination, userAgent string) ([]byte, error) {
	if !httpguts.ValidHeaderFieldName(request.Method) || request.Method == http.MethodHead || request.Method == http.MethodConnect {
		// The headers of answers to HEAD and CONNECT do not say where the answer ends.
		return head, refused("its method is not valid")
	}
	host := to.authority
	if i := indexHeader(request.Headers, "Host"); i >= 0 {
		host = request.Headers[i].Value
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
	if userAgent != "" && indexHeader(request.Headers, "User-Agent") < 0 {
		head = appendHeader(head, "User-Agent", userAgent)
	}
	if to.user != nil && indexHeader(request.Headers, "Authorization") < 0 {
		head = appendHeader(head, "Authorization", basic(to.user))
	}
	if len(request.Body) > 0 || request.Method != http.MethodGet && request.Method != http.MethodDelete {
		head = append(head, "Content-Length: "...)
		head = append(strconv.AppendInt(head, int64(len(request.Body)), 10), "\r\n"...)
	}
	return append(head, "\r\n"...), nil
}

func appendHeader(head []byte, name, value string) []byte {
	head = append(append(head, name...), ": "...)
	return append(append(head, value...), "\r\n"...)
}

// indexHeader returns the index of the last header with this name, or -1.
func indexHeader(headers []Header, name string) int {
	for i, header := range slices.Backward(headers) {
		if strings.EqualFold(header.Name, name) {
			return i
		}
	}
	return -1
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

// basic returns the Authorization header for a URL's user information.
func basic(user *url.Userinfo) string {
	password, _ := user.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))
}

// isAmbiguous reports whether servers may disagree about where a request ends. Some servers treat a body as the next
// request if the method needs no body, or if they answer early to a request with an Expect header.
func isAmbiguous(request Request) bool {
	if request.Body == "" {
		return false
	}
	switch request.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		return indexHeader(request.Headers, "Expect") >= 0
	}
	return true
}
