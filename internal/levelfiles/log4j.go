package levelfiles

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strconv"

	"github.com/signalbox/signalbox/client/loglevel"
)

// Log4jXML writes a configuration of Log4j 2 that has only levels. It is meant to be merged with the program's own.
func Log4jXML(loggers []Logger, options Options) []byte {
	var text bytes.Buffer
	text.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<Configuration monitorInterval="` + seconds(options) + `">` + "\n  <Loggers>\n")
	eachLog4j(loggers, func(name string, level loglevel.Level) {
		if isRoot(name) {
			text.WriteString(`    <Root level="` + javaLevel(level) + `"/>` + "\n")
			return
		}
		text.WriteString(`    <Logger name="`)
		_ = xml.EscapeText(&text, []byte(name)) // a buffer takes everything
		text.WriteString(`" level="` + javaLevel(level) + `"/>` + "\n")
	})
	text.WriteString("  </Loggers>\n</Configuration>\n")
	return text.Bytes()
}

type log4jLogger struct {
	Name  string `json:"name,omitempty"`
	Level string `json:"level"`
}

// Log4jJSON writes the same configuration as Log4jXML, in JSON.
func Log4jJSON(loggers []Logger, options Options) []byte {
	var list struct {
		Root   *log4jLogger  `json:"root,omitempty"`
		Logger []log4jLogger `json:"logger"`
	}
	list.Logger = []log4jLogger{}
	eachLog4j(loggers, func(name string, level loglevel.Level) {
		if isRoot(name) {
			list.Root = &log4jLogger{Level: javaLevel(level)}
			return
		}
		list.Logger = append(list.Logger, log4jLogger{name, javaLevel(level)})
	})
	return encode(map[string]any{"configuration": map[string]any{"monitorInterval": seconds(options), "loggers": list}})
}

// eachLog4j calls write for every name that a configuration of Log4j 2 can have.
func eachLog4j(loggers []Logger, write func(name string, level loglevel.Level)) {
	each(loggers, func(name string, level loglevel.Level) {
		if level != loglevel.None && isSafe(name) {
			write(name, level)
		}
	})
}

func seconds(options Options) string { return strconv.Itoa(int(options.Interval.Seconds())) }

// encode returns a document as JSON.
func encode(document any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(document) // texts and numbers always encode
	return text.Bytes()
}
