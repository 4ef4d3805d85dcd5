package api_test

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/suite"
)

// openIDFolder has a provider that nobody here wrote: oidc-provider, which is certified.
const openIDFolder = "testdata/openid"

// openIDProvider is a running provider.
type openIDProvider struct {
	t      testing.TB
	issuer string
	http   *http.Client
}

// startProvider runs a provider until the end of the test.
func startProvider(t *testing.T) openIDProvider {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		suite.Skip(t, "The OpenID Connect provider needs Node.js.")
	}
	installProvider(t)
	command := exec.CommandContext(t.Context(), node, "provider.js")
	command.Dir = openIDFolder
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // which ends it
		_ = command.Wait()
	})
	issuer, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the provider did not start: %v", err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return openIDProvider{t: t, issuer: strings.TrimSpace(issuer), http: &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// installProvider installs the provider, which needs the network, so only where no test
// may be skipped. It installs into another folder and renames it: two test processes may
// start at once.
func installProvider(t *testing.T) {
	t.Helper()
	modules := filepath.Join(openIDFolder, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return
	}
	if os.Getenv("SIGNALBOX_TEST_ALL") == "" {
		suite.Skip(t, "The OpenID Connect provider is not installed; make test installs it.")
	}
	folder, err := os.MkdirTemp(openIDFolder, "install-") //nolint:usetesting // it is renamed, which must not leave the file system
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(openIDFolder, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--no-audit", "--no-fund")
	install.Dir = folder
	if output, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, output)
	}
	if err := os.Rename(filepath.Join(folder, "node_modules"), modules); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
}

// settings returns a change of settings that makes a node trust the provider.
func (p openIDProvider) settings(s *settings.Settings) {
	s.OIDCIssuer, s.OIDCClientID, s.OIDCClientSecret = p.issuer, "signalbox", "a secret of tests only"
	s.OIDCRoleClaim, s.OIDCRoles, s.OIDCDomains = "groups", map[string]string{"owners": "OWNER", "admins": "ADMIN", "all": "VIEWER"}, []string{"example.com"}
}

// knows sets the claims that the provider has about a person.
func (p openIDProvider) knows(name string, claims attributes) {
	p.t.Helper()
	p.send(http.MethodPut, p.issuer+"/test/people/"+url.PathEscape(name), bareBody(claims), nil)
}

// ahead puts the provider's clock ahead by some seconds.
func (p openIDProvider) ahead(seconds string) {
	p.t.Helper()
	p.send(http.MethodPut, p.issuer+"/test/ahead/"+seconds, "", nil)
}

// send makes a request as a browser with a jar of cookies.
func (p openIDProvider) send(method, target, form string, jar http.CookieJar) (location, body string) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, target, strings.NewReader(form))
	if err != nil {
		p.t.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	browser := *p.http
	browser.Jar = jar
	response, err := browser.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		p.t.Fatalf("%s %s: got %d, %v: %s", method, target, response.StatusCode, err, text)
	}
	if next, err := response.Location(); err == nil {
		location = next.String()
	}
	return location, string(text)
}

var (
	formAction = regexp.MustCompile(`<form autocomplete="off" action="([^"]+)"`)
	formPrompt = regexp.MustCompile(`name="prompt" value="([a-z]+)"`)
)

// visit signs in at the provider like a person: it fills in the forms and agrees, and
// returns the redirect URI to which the browser is sent back.
func (p openIDProvider) visit(location, name string) *url.URL {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for range 20 {
		next, page := p.send(http.MethodGet, location, "", jar)
		if form, prompt := formAction.FindStringSubmatch(page), formPrompt.FindStringSubmatch(page); next == "" && form != nil && prompt != nil {
			next, _ = p.send(http.MethodPost, form[1], url.Values{"prompt": {prompt[1]}, "login": {name}, "password": {"any"}}.Encode(), jar)
		}
		if location = next; !strings.HasPrefix(location, p.issuer) {
			break
		}
	}
	back, err := url.Parse(location)
	if err != nil || !strings.HasSuffix(back.Path, "/auth/oidc/callback") {
		p.t.Fatalf("the provider sends the browser to %q", location)
	}
	return back
}
