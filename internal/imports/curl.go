package imports

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parseCall reads a command that calls a URL with curl or wget. It returns the names of headers that have credentials too.
func parseCall(command string) (request, []string, error) {
	words, err := splitShell(command)
	if err != nil {
		return request{}, nil, err
	}
	if len(words) == 0 {
		return request{}, nil, fmt.Errorf("it has no command")
	}
	program := words[0][strings.LastIndex(words[0], "/")+1:]
	if program != "curl" && program != "wget" {
		return request{}, nil, fmt.Errorf("it does not call a URL with curl or wget")
	}
	p := &callParser{program: program, sent: request{Method: "GET"}}
	for rest := words[1:]; len(rest) > 0; {
		if rest, err = p.next(rest); err != nil {
			return request{}, nil, err
		}
	}
	if !strings.HasPrefix(p.sent.URL, "http://") && !strings.HasPrefix(p.sent.URL, "https://") {
		return request{}, nil, fmt.Errorf("it has no absolute URL")
	}
	if p.sent.Body != nil && !p.methodSet {
		p.sent.Method = "POST"
	}
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, p.sent.Method) {
		return request{}, nil, fmt.Errorf("jobs cannot send %s", p.sent.Method)
	}
	return p.sent, p.secrets(), nil
}

// callParser reads the arguments of a call.
type callParser struct {
	program   string
	sent      request
	methodSet bool
}

// next reads one argument, with its value, and returns the rest.
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
	if !strings.HasPrefix(word, "--") {
		name, value, joined = p.short(word)
	}
	if p.isSwitch(name) {
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

// short reads short options: several switches at once, the last of which may have its value behind it.
func (p *callParser) short(word string) (name, value string, joined bool) {
	for i := 1; i < len(word); i++ {
		name = "-" + word[i:i+1]
		if !p.isSwitch(name) {
			return name, word[i+1:], i+1 < len(word)
		}
	}
	return name, "", false
}

// isSwitch reports whether an option has no value. Some of them mean something here.
func (p *callParser) isSwitch(name string) bool {
	switches := "-s -S -f -v -g --silent --show-error --fail --fail-with-body --verbose --compressed --globoff"
	if p.program == "wget" {
		switches = "-q -nv --quiet --no-verbose --spider"
	}
	switch {
	case p.program == "curl" && (name == "-k" || name == "--insecure"), p.program == "wget" && name == "--no-check-certificate":
		p.sent.TLSVerify = new(false)
		return true
	case p.program == "curl" && (name == "-I" || name == "--head"):
		p.sent.Method, p.methodSet = "HEAD", true
		return true
	}
	return strings.Contains(" "+switches+" ", " "+name+" ")
}

func (p *callParser) option(name, value string) error {
	switch name {
	case "-X", "--request", "--method":
		p.sent.Method, p.methodSet = strings.ToUpper(value), true
	case "-H", "--header":
		key, content, is := strings.Cut(value, ":")
		if !is {
			return fmt.Errorf("the header %q has no value", value)
		}
		p.sent.Headers = append(p.sent.Headers, header{Name: strings.TrimSpace(key), Value: strings.TrimSpace(content)})
	case "-d", "--data", "--data-raw", "--data-ascii", "--data-binary", "--post-data", "--body-data":
		if strings.HasPrefix(value, "@") && name != "--data-raw" {
			return fmt.Errorf("its body is in a file")
		}
		p.addBody(value)
	case "-u", "--user":
		p.sent.Headers = append(p.sent.Headers, header{Name: "Authorization", Value: "Basic " + base64.StdEncoding.EncodeToString([]byte(value))})
	case "-A", "--user-agent", "-U":
		p.sent.Headers = append(p.sent.Headers, header{Name: "User-Agent", Value: value})
	case "-m", "--max-time", "-T", "--timeout":
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%s %q is no number of seconds", name, value)
		}
		p.sent.Timeout = max(1, int(seconds+0.999))
	case "-o", "--output", "-O", "--output-document", "--retry", "-t", "--tries", "--connect-timeout", "-w", "--write-out": // no meaning here
	default:
		return fmt.Errorf("the option %s is not known here", name)
	}
	return nil
}

// addBody adds to the body, as curl does with every further -d.
func (p *callParser) addBody(text string) {
	if p.sent.Body != nil {
		text = *p.sent.Body + "&" + text
	} else if !slices.ContainsFunc(p.sent.Headers, func(h header) bool { return strings.EqualFold(h.Name, "Content-Type") }) {
		p.sent.Headers = append(p.sent.Headers, header{Name: "Content-Type", Value: "application/x-www-form-urlencoded"})
	}
	p.sent.Body = &text
}

// secrets returns the names of headers whose values are credentials.
func (p *callParser) secrets() (names []string) {
	for _, each := range p.sent.Headers {
		name := strings.ToLower(each.Name)
		if name == "authorization" || name == "cookie" || strings.Contains(name, "key") || strings.Contains(name, "token") || strings.Contains(name, "secret") {
			names = append(names, each.Name)
		}
	}
	return names
}

// splitShell splits a command into words. What only a shell can do is refused, but for output that is thrown away.
func splitShell(command string) ([]string, error) {
	for _, ending := range []string{"2>&1", ">/dev/null", "> /dev/null", "&>/dev/null", "&> /dev/null", "1>/dev/null", "2>/dev/null"} {
		command = strings.ReplaceAll(command, ending, "")
	}
	s := &shellSplitter{}
	for _, r := range command + " " {
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

func (s *shellSplitter) add(r rune) error {
	switch {
	case s.escaped:
		s.escaped = false
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
