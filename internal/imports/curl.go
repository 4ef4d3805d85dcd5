package imports

import (
	"encoding/base64"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/hosts"
)

// parseCall parses a command that calls a URL with curl or wget.
func parseCall(command string) (*callParser, error) {
	words, err := splitShell(command)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("it has no command")
	}
	program := words[0][strings.LastIndex(words[0], "/")+1:]
	if program != "curl" && program != "wget" {
		return nil, fmt.Errorf("it does not call a URL with curl or wget")
	}
	p := &callParser{program: program, sent: request{Method: "GET"}}
	for rest := words[1:]; len(rest) > 0; {
		if rest, err = p.next(rest); err != nil {
			return nil, err
		}
	}
	if !strings.HasPrefix(p.sent.URL, "http://") && !strings.HasPrefix(p.sent.URL, "https://") {
		return nil, fmt.Errorf("it has no absolute URL")
	}
	p.setUser()
	if p.program == "curl" && !p.globOff && strings.ContainsAny(literalHost.ReplaceAllString(p.sent.URL, ""), "{}[]") {
		return nil, fmt.Errorf("curl sends a request for each of the {…} or […] in its URL; write a line for each, or use curl -g")
	}
	if p.sent.Body != nil && !p.methodSet {
		p.sent.Method = "POST"
	}
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, p.sent.Method) {
		return nil, fmt.Errorf("jobs cannot send %s", p.sent.Method)
	}
	return p, nil
}

// literalHost matches the beginning of a URL with an IPv6 address, whose brackets mean no range.
var literalHost = regexp.MustCompile(`^https?://\[[0-9A-Fa-f:.]+\]`)

// setUser adds an Authorization header for the user of an option or of the URL, as curl and wget do. In the file, a reference
// replaces its value. The option overrides the URL, and an existing header overrides both.
func (p *callParser) setUser() {
	user, rest, found := hosts.CutUser(p.sent.URL)
	p.sent.URL = rest
	if plain, err := url.PathUnescape(user); err == nil {
		user = plain
	}
	if p.user != "" {
		user, found = p.user, true
	}
	if !found || slices.ContainsFunc(p.sent.Headers, func(h header) bool { return strings.EqualFold(h.Name, "Authorization") }) {
		return
	}
	p.basic = true
	p.addHeader("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user)))
}

// callParser parses the arguments of a call.
type callParser struct {
	program   string
	sent      request
	methodSet bool
	globOff   bool     // curl takes {} and [] in a URL as they are
	user      string   // from an option, with the password
	basic     bool     // setUser has added the Authorization header
	dropped   []string // sentences about options that a job cannot express
}

// next parses one argument with its value, and returns the remaining words.
func (p *callParser) next(words []string) ([]string, error) {
	word := words[0]
	if !strings.HasPrefix(word, "-") || word == "-" {
		if p.sent.URL != "" {
			return nil, fmt.Errorf("it calls several URLs")
		}
		p.sent.URL = word
		return words[1:], nil
	}
	name, value, joined := strings.Cut(word, "=")
	if !strings.HasPrefix(word, "--") && !p.isSwitch(word) { // wget's -nv is one switch
		name, value, joined = p.short(word)
	}
	if p.isSwitch(name) {
		p.applySwitch(name)
		return words[1:], nil
	}
	rest := words[1:]
	if !joined {
		if len(rest) == 0 {
			return nil, fmt.Errorf("%s has no value", name)
		}
		value, rest = rest[0], rest[1:]
	}
	return rest, p.option(name, value)
}

// short splits a word of several short options. It applies all switches but the last, and returns the last option, possibly with
// an attached value.
func (p *callParser) short(word string) (name, value string, joined bool) {
	last := 1
	for ; last+1 < len(word) && p.isSwitch("-"+word[last:last+1]); last++ {
		p.applySwitch("-" + word[last:last+1])
	}
	return "-" + word[last:last+1], word[last+1:], last+1 < len(word)
}

// isSwitch reports whether an option has no value.
func (p *callParser) isSwitch(name string) bool {
	switches := "-s -S -f -v -O -k -g -I --silent --show-error --fail --fail-with-body --verbose --compressed --remote-name --retry-connrefused --retry-all-errors " +
		"--insecure --globoff --head"
	if p.program == "wget" {
		switches = "-q -nv --quiet --no-verbose --spider --no-check-certificate"
	}
	return slices.Contains(strings.Fields(switches), name)
}

// applySwitch applies a switch. Most switches do not matter to a job.
func (p *callParser) applySwitch(name string) {
	switch name {
	case "-k", "--insecure", "--no-check-certificate":
		p.sent.TLSVerify = new(false)
	case "-g", "--globoff":
		p.globOff = true
	case "-I", "--head":
		p.sent.Method, p.methodSet = "HEAD", true
	}
}

// meaning is the meaning of an option with a value.
type meaning int

const (
	unknown meaning = iota
	nothing         // the option and its value are ignored
	output          // the file to which the answer is written
	repeats
	connecting
	method
	headerLine
	bodyText
	bodyOrFile // a body, or @ and the name of a file with the body
	user
	agent
	timeout
)

// meaning returns the meaning of an option. Curl and wget use some letters for different options.
func (p *callParser) meaning(name string) meaning {
	if p.program == "wget" {
		return map[string]meaning{
			"--method": method, "--header": headerLine, "--post-data": bodyText, "--body-data": bodyText,
			"-U": agent, "--user-agent": agent, "-T": timeout, "--timeout": timeout,
			"-O": output, "--output-document": output, "-o": nothing, "--output-file": nothing, "-t": repeats, "--tries": repeats, "--connect-timeout": connecting,
		}[name]
	}
	return map[string]meaning{
		"-X": method, "--request": method, "-H": headerLine, "--header": headerLine, "--data-raw": bodyText,
		"-d": bodyOrFile, "--data": bodyOrFile, "--data-ascii": bodyOrFile, "--data-binary": bodyOrFile,
		"-u": user, "--user": user, "-A": agent, "--user-agent": agent, "-m": timeout, "--max-time": timeout,
		"-o": output, "--output": output, "--retry": repeats, "--connect-timeout": connecting, "-w": nothing, "--write-out": nothing,
	}[name]
}

func (p *callParser) option(name, value string) error {
	switch is := p.meaning(name); is {
	case nothing:
	case output, repeats, connecting:
		p.drop(is, name, value)
	case method:
		p.sent.Method, p.methodSet = strings.ToUpper(value), true
	case headerLine:
		key, content, is := strings.Cut(value, ":")
		if !is {
			return fmt.Errorf("a header in it has no value")
		}
		p.addHeader(strings.TrimSpace(key), strings.TrimSpace(content))
	case bodyText, bodyOrFile:
		if is == bodyOrFile && strings.HasPrefix(value, "@") {
			return fmt.Errorf("its body is in a file")
		}
		p.addBody(value)
	case user:
		if !strings.Contains(value, ":") {
			return fmt.Errorf("%s has no password, which curl asks for", name)
		}
		p.user = value
	case agent:
		p.addHeader("User-Agent", value)
	case timeout:
		return p.setTimeout(name, value)
	default:
		return fmt.Errorf("the import does not know the option %s", name)
	}
	return nil
}

// setTimeout sets the timeout in seconds. 0 is none to curl and wget, so the job gets its default.
func (p *callParser) setTimeout(name, value string) error {
	const longest = 900
	seconds, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || math.IsNaN(seconds) || seconds < 0:
		return fmt.Errorf("%s has no number of seconds", name)
	case seconds > longest:
		p.sent.Timeout = 0
		p.dropped = append(p.dropped, fmt.Sprintf("%s %s is left out: the timeout of a job is at most %d s", name, cut(value, 20), longest))
	default:
		p.sent.Timeout = int(math.Ceil(seconds))
	}
	return nil
}

// drop adds a sentence about an option that a job cannot express, unless the option has no effect.
func (p *callParser) drop(is meaning, name, value string) {
	switch {
	case is == output && value != "/dev/null" && value != "-":
		p.dropped = append(p.dropped, fmt.Sprintf("%s is left out: the answer is not written to a file, its run shows it", name))
	case is == repeats && value != "0" && value != "1":
		p.dropped = append(p.dropped, fmt.Sprintf("%s %s is left out: import with --retry to attempt failed runs again", name, cut(value, 20)))
	case is == connecting:
		p.dropped = append(p.dropped, name+" is left out: the timeout of a job is for connecting and the answer together")
	}
}

func (p *callParser) addHeader(name, value string) {
	p.sent.Headers = append(p.sent.Headers, header{Name: name, Value: value})
}

// addBody appends to the body, as curl does for every further -d.
func (p *callParser) addBody(text string) {
	if p.sent.Body != nil {
		text = *p.sent.Body + "&" + text
	} else if !slices.ContainsFunc(p.sent.Headers, func(h header) bool { return strings.EqualFold(h.Name, "Content-Type") }) {
		p.addHeader("Content-Type", "application/x-www-form-urlencoded")
	}
	p.sent.Body = &text
}

// secrets returns the names of headers whose values are probably credentials.
func (p *callParser) secrets() (names []string) {
	for _, each := range p.sent.Headers {
		if name := strings.ToLower(each.Name); name == "cookie" || namesSecret(name) {
			names = append(names, each.Name)
		}
	}
	return names
}

// form returns the required form of a header's value, for the note about its variable, if the command had another form.
func (p *callParser) form(name string) string {
	if p.basic && strings.EqualFold(name, "Authorization") {
		return ` to "Basic " and the Base64 of USER:PASSWORD`
	}
	return ""
}

// discarded matches the end of a command that discards its output.
var discarded = regexp.MustCompile(`((\s+[12]|\s*&?)>+\s*/dev/null|\s+2>&1)+\s*$`)

// splitShell splits a command into words. Apart from discarding output, it refuses everything that needs a shell.
func splitShell(command string) ([]string, error) {
	s := &shellSplitter{}
	for _, r := range discarded.ReplaceAllString(command, "") + " " {
		if err := s.add(r); err != nil {
			return nil, err
		}
	}
	if s.quote != 0 || s.escaped {
		return nil, fmt.Errorf("a quote in it does not end")
	}
	return s.words, nil
}

type shellSplitter struct {
	words   []string
	word    strings.Builder
	inside  bool
	quote   rune
	escaped bool
}

// escapedInQuotes are the characters before which a shell removes a backslash in double quotes. Before all others the backslash
// stays, such as that of \n in JSON.
const escapedInQuotes = "$`\"\\"

func (s *shellSplitter) add(r rune) error {
	switch {
	case s.escaped:
		s.escaped = false
		if s.quote == '"' && !strings.ContainsRune(escapedInQuotes, r) {
			s.word.WriteRune('\\')
		}
		s.word.WriteRune(r)
	case r == '\\' && s.quote != '\'':
		s.escaped, s.inside = true, true
	case s.quote != 0 && r == s.quote:
		s.quote = 0
	case (r == '$' || r == '`') && s.quote != '\'':
		return fmt.Errorf("it has %q, which only a shell can replace", r)
	case s.quote != 0:
		s.word.WriteRune(r)
	case r == '\'' || r == '"':
		s.quote, s.inside = r, true
	case r == ' ' || r == '\t':
		if s.inside {
			s.words = append(s.words, s.word.String())
		}
		s.word.Reset()
		s.inside = false
	case strings.ContainsRune("|&;<>()", r):
		return fmt.Errorf("it has %q, which only a shell can do", r)
	default:
		s.inside = true
		s.word.WriteRune(r)
	}
	return nil
}
