package imports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/naming"
)

// logger is a logger or a log group in the form that apply reads.
type logger struct {
	Kind         string           `json:"kind"`
	ID           string           `json:"id"`
	Name         string           `json:"name"`
	Level        string           `json:"level,omitempty"`
	Group        string           `json:"group,omitempty"`
	Environments map[string]level `json:"environments,omitempty"`
}

type level struct {
	Level string `json:"level"`
}

// springFile has the properties of one document, by name.
type springFile struct {
	profile string
	values  map[string]string
}

// springLogging imports levels and groups. A profile's levels become overrides for the environment of the same name.
func springLogging(documents [][]byte, _ Options) (Result, error) {
	c := newCollector()
	groups, loggers := map[string]*logger{}, map[string]*logger{}
	var files []springFile
	for _, document := range documents {
		read, err := readSpring(document)
		if err != nil {
			return Result{}, err
		}
		files = append(files, read...)
	}
	for _, file := range files { // groups first, because a level may name a group
		for _, name := range slices.Sorted(maps.Keys(file.values)) {
			if group, is := strings.CutPrefix(name, "logging.group."); is {
				addGroup(groups, loggers, trimIndex(group), splitList(file.values[name]))
			}
		}
	}
	for _, file := range files {
		if file.profile != "" && !naming.IsKey(file.profile, naming.MaxKey) {
			c.lose("the levels for %q are left out, because that is not the name of one profile.", file.profile)
			continue
		}
		c.springLevels(file, groups, loggers)
	}
	for _, all := range []map[string]*logger{groups, loggers} {
		for _, id := range slices.Sorted(maps.Keys(all)) {
			c.add(all[id].Kind, id, all[id])
		}
	}
	return c.finish("configuration of Spring Boot with logging.level or logging.group")
}

// trimIndex removes the index of a list element: web[0] becomes web.
func trimIndex(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name
}

func addGroup(groups, loggers map[string]*logger, name string, members []string) {
	if groups[name] == nil {
		groups[name] = &logger{Kind: "log_group", ID: name, Name: name}
	}
	for _, member := range members {
		loggerOf(loggers, member).Group = name
	}
}

func loggerOf(loggers map[string]*logger, name string) *logger {
	id := loglevel.Normalize(name)
	if loggers[id] == nil {
		loggers[id] = &logger{Kind: "logger", ID: id, Name: name}
	}
	return loggers[id]
}

func (c *collector) springLevels(file springFile, groups, loggers map[string]*logger) {
	for _, property := range slices.Sorted(maps.Keys(file.values)) {
		name, is := strings.CutPrefix(property, "logging.level.")
		name = strings.Trim(name, "[]") // a name may be in brackets
		if !is {
			continue
		}
		parsed, known := loglevel.Parse(strings.Replace(strings.ToUpper(file.values[property]), "OFF", "SILENT", 1))
		switch {
		case strings.EqualFold(name, "root"):
			c.lose("%s: Signalbox has no root logger; loggers without a level above them stay as the framework has them.", property)
			continue
		case !known:
			c.lose("%s: %q is no level.", property, file.values[property])
			continue
		case (name == "web" || name == "sql") && groups[name] == nil:
			c.lose("%s: the file does not have the loggers of the group %s, which is built into Spring Boot; name them in logging.group.%s.", property, name, name)
			continue
		}
		to := groups[name]
		if to == nil {
			to = loggerOf(loggers, name)
		}
		c.setLevel(to, file.profile, parsed.String())
	}
}

func (c *collector) setLevel(to *logger, profile, text string) {
	if profile == "" {
		to.Level = text
		return
	}
	if to.Environments == nil {
		to.Environments = map[string]level{}
	}
	to.Environments[profile] = level{text}
	c.environments[profile] = true
}

// readSpring reads a document: JSON that was converted from YAML, or properties.
func readSpring(document []byte) ([]springFile, error) {
	if json.Valid(document) {
		values := map[string]string{}
		tree, err := decode[map[string]any](document, "configuration of Spring Boot")
		flatten("", tree, values)
		return []springFile{{springProfile(values), values}}, err
	}
	var files []springFile
	values := map[string]string{}
	for line := range strings.SplitSeq(string(document)+"\n#---", "\n") {
		line = strings.TrimSpace(line)
		if line == "#---" || line == "!---" {
			files = append(files, springFile{springProfile(values), values})
			values = map[string]string{}
		}
		at := strings.IndexAny(line, "=:")
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "!") || at < 0 {
			continue
		}
		values[strings.TrimSpace(line[:at])] = strings.TrimSpace(line[at+1:])
	}
	return files, nil
}

// springProfile returns the profile of a document.
func springProfile(values map[string]string) string {
	return cmp.Or(values["spring.config.activate.on-profile"], values["spring.profiles"])
}

// flatten adds the leaves of a tree by their paths. It joins the elements of a list with commas.
func flatten(path string, value any, into map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			if path != "" {
				name = path + "." + name
			}
			flatten(name, below, into)
		}
	case []any:
		var parts []string
		for _, each := range value {
			parts = append(parts, fmt.Sprint(each))
		}
		into[path] = strings.Join(parts, ",")
	case bool: // in YAML, OFF without quotes is false
		into[path] = map[bool]string{true: "ON", false: "OFF"}[value]
	case nil:
	default:
		into[path] = fmt.Sprint(value)
	}
}
