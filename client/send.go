package signalbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Send sends a request to any path of the server, such as "/api/v1/flags?page[size]=10", and returns the body of the
// response. Use it for requests that no other method makes. The body is JSON; nil sends no body. A response that is not
// a success is an [APIError]. A POST is not retried, because the server might carry it out twice.
func (c *Client) Send(ctx context.Context, method, target string, body []byte) ([]byte, error) {
	path, rawQuery, _ := strings.Cut(target, "?")
	r := request{method: method, root: path}
	if !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("signalbox: the path %q does not begin with /", path)
	}
	if body != nil && !json.Valid(body) {
		return nil, fmt.Errorf("%s: the body is not JSON", r.name())
	}
	var err error
	if r.query, err = url.ParseQuery(rawQuery); err != nil {
		return nil, fmt.Errorf("%s: the query is malformed: %w", r.name(), err)
	}
	got, err := c.Account.transport.repeat(ctx, r, body)
	return got.body, err
}
