package api

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/openid"
	"github.com/signalbox/signalbox/internal/telemetry"
)

const (
	openIDPath = "/auth/oidc"
	// openIDCookie names the cookie of a sign-in that is under way at the provider; cookieName adds __Host- under TLS.
	openIDCookie = "signalbox_oidc"
	// maxReturn bounds the path at which a sign-in ends.
	maxReturn = 2000
)

// signInMethods lists the ways to sign in.
func (a *API) signInMethods(c *call) (reply, error) {
	methods := []string{"password", "api_key"}
	if a.OpenID != nil {
		methods = append(methods, "oidc")
	}
	c.writer.set("Cache-Control", "no-store")
	return ok(map[string]any{"meta": map[string][]string{"methods": methods}})
}

// startOpenID sends a browser to the provider.
func (a *API) startOpenID(c *call) (reply, error) {
	path := cmp.Or(c.query.Text("return"), a.publicPath()+"/")
	if !isOwnPath(path) {
		c.query.Refuse("return", "must be a path of this server such as /flags, of at most 2000 characters")
	}
	if err := a.requireOpenID(c); err != nil {
		return reply{}, err
	}
	begun, err := a.OpenID.Start(c.ctx(), a.baseURL(c)+openIDPath+"/callback", path)
	if err != nil {
		return a.notSignedIn(c, err)
	}
	a.keepFlow(c, begun.Flow, int(openid.FlowAge.Seconds()))
	return redirect(c, begun.Location)
}

// finishOpenID signs in a browser that comes back from the provider.
func (a *API) finishOpenID(c *call) (reply, error) {
	c.query.Know("code", "state", "iss", "error", "error_description")
	if err := a.requireOpenID(c); err != nil {
		return reply{}, err
	}
	identity, path, err := a.OpenID.Finish(c.ctx(), cookieValue(c.request, a.cookieName(c.request, openIDCookie)), c.request.URL.Query())
	a.keepFlow(c, "", -1) // a flow works once
	var session accounts.Session
	if err == nil {
		session, err = a.Accounts.SignInWithIdentity(c.ctx(), identity, c.request.UserAgent())
	}
	if err != nil {
		return a.notSignedIn(c, err)
	}
	a.begin(c, session)
	return redirect(c, path)
}

// requireOpenID refuses wrong parameters, and any sign-in if no provider is configured.
func (a *API) requireOpenID(c *call) error {
	if err := c.query.Err(); err != nil || a.OpenID != nil {
		return err
	}
	return fault.New(fault.NotFound, "This server has no sign-in by OpenID Connect: SIGNALBOX_OIDC_ISSUER is not set.")
}

// keepFlow sets the cookie that a browser needs to finish a sign-in, or deletes it. The
// cookie is Lax, because the browser comes back from another site.
func (a *API) keepFlow(c *call, flow string, seconds int) {
	cookie := &http.Cookie{Name: a.cookieName(c.request, openIDCookie), Value: flow, Path: a.publicPath() + openIDPath, MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: a.isSecure(c.request)}
	if cookie.Secure {
		cookie.Path = "/" // the name's prefix demands it
	}
	http.SetCookie(c.writer, cookie)
	c.writer.set("Cache-Control", "no-store")
}

// publicPath returns the path of the public URL. It is not empty if a proxy serves
// Signalbox below a path.
func (a *API) publicPath() string {
	public, err := url.Parse(a.options.PublicURL)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(public.EscapedPath(), "/")
}

// isOwnPath reports whether a redirect to path stays on this server. Browsers read a host
// after // and /\, and skip control characters.
func isOwnPath(path string) bool {
	target, err := url.Parse(path)
	odd := func(r rune) bool { return r == '\\' || unicode.IsControl(r) || unicode.IsSpace(r) }
	return err == nil && target.Scheme == "" && target.Host == "" && len(path) <= maxReturn &&
		strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.ContainsFunc(path, odd)
}

// redirect sends a browser to another address by GET.
func redirect(c *call, location string) (reply, error) {
	c.writer.set("Location", location)
	return reply{status: http.StatusSeeOther}, nil
}

// notSignedIn tells a person why a sign-in failed: on the console's page, or as plain text.
func (a *API) notSignedIn(c *call, err error) (reply, error) {
	reason := "failed"
	for _, refusal := range fault.All(err) {
		if text, named := refusal.Meta["reason"].(string); named {
			reason = text
		}
	}
	status, errs := jsonapi.Errors(err, telemetry.RequestID(c.ctx()))
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	a.Log.Log(c.ctx(), level, "A sign-in by OpenID Connect failed; the person was told why.", "reason", reason, "status", status, "error", err)
	if a.options.SignInPage != "" {
		return redirect(c, a.publicPath()+a.options.SignInPage+"?error="+url.QueryEscape(reason))
	}
	text := "Signing in failed: " + errs.Errors[0].Detail + "\n"
	return reply{status: status, body: []byte(text), mediaType: "text/plain; charset=utf-8"}, nil
}
