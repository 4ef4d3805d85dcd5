package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// readFile reads a KEY=VALUE file. Warnings and problems name the line, but never its content, which may be secret.
func readFile(path string) (values map[string]given, warnings []string, found problems) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, problems{fmt.Errorf("%s: the file cannot be read: %w", configName, err)}
	}
	f := file{name: filepath.Base(path), values: map[string]given{}}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		number++
		f.read(number, strings.TrimSpace(line))
	}
	return f.values, f.warnings, f.found
}

// file is the result of reading a file so far.
type file struct {
	name     string
	values   map[string]given
	warnings []string
	found    problems
}

// read handles one trimmed line.
func (f *file) read(number int, line string) {
	if line == "" || line[0] == '#' {
		return
	}
	at := fmt.Sprintf("%s line %d", f.name, number)
	name, text, err := assignment(line)
	if err == nil {
		err = f.check(name)
	}
	if err != nil {
		f.found.add(fmt.Errorf("%s: %w", at, err))
		return
	}
	if name == otlpEndpoint || name == otlpTracesEndpoint {
		f.warnings = append(f.warnings, fmt.Sprintf("%s: %s is ignored; set it in the environment, where the tracing library reads it", at, name))
	}
	f.values[name] = given{text, at + ": " + name}
}

// check rejects misspelled and repeated settings. Names without the prefix SIGNALBOX_ belong to other software.
func (f *file) check(name string) error {
	if name == configName {
		return errors.New(configName + " cannot be set in the file that it names")
	}
	if misspelled(name) {
		return fmt.Errorf("%s is not a setting%s", name, suggestion(name))
	}
	if _, twice := f.values[name]; twice {
		return fmt.Errorf("%s is set a second time; keep one line of it", name)
	}
	return nil
}

// assignment splits a line like a shell without expansion. `export`, quotes and comments are allowed.
func assignment(line string) (name, text string, err error) {
	if rest, ok := strings.CutPrefix(line, "export"); ok && strings.TrimLeft(rest, " \t") != rest {
		line = strings.TrimLeft(rest, " \t")
	}
	name, text, found := strings.Cut(line, "=")
	if !found || !validName(name) {
		return "", "", errors.New("the line is not KEY=VALUE")
	}
	text, err = unquote(text)
	return name, text, err
}

func validName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// unquote removes the quotes around a value. From an unquoted value it removes a comment.
func unquote(text string) (string, error) {
	value := strings.TrimSpace(text)
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		inner, rest, closed := strings.Cut(value[1:], value[:1])
		if !closed || withoutComment(rest) != "" {
			return "", errors.New("the quotes around the value do not match")
		}
		return inner, nil
	}
	return withoutComment(text), nil
}

// withoutComment removes a comment, which starts with a # after a blank. Any other # is a part of the value.
func withoutComment(text string) string {
	for _, mark := range []string{" #", "\t#"} {
		text, _, _ = strings.Cut(text, mark)
	}
	return strings.TrimSpace(text)
}
