package flagd

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// Omitted is a flag that is not in a document, and why.
type Omitted struct{ Key, Reason string }

// Document is a flag configuration as flagd's providers read it.
type Document struct {
	Text    []byte
	Omitted []Omitted
}

// Translate returns the document of an environment's flags. The keys of flags that flagd cannot express are listed in its
// metadata.
func Translate(environment string, flags []Flag) (Document, error) {
	var made Document
	var text bytes.Buffer
	text.WriteString(`{"flags":{`)
	written := 0
	for _, flag := range flags {
		translated, err := translate(flag)
		if err != nil {
			made.Omitted = append(made.Omitted, Omitted{flag.Key, err.Error()})
			continue
		}
		if written++; written > 1 {
			text.WriteByte(',')
		}
		if err := member(&text, flag.Key, translated); err != nil {
			return Document{}, fmt.Errorf("encoding the flag %s: %w", flag.Key, err)
		}
	}
	text.WriteString(`},"metadata":`)
	metadata, err := rawjson.Encode(made.metadata(environment))
	if err != nil {
		return Document{}, fmt.Errorf("encoding the metadata: %w", err)
	}
	text.Write(metadata)
	text.WriteString("}\n")
	made.Text = text.Bytes()
	return made, nil
}

// member writes a member of an object. A flag's key needs no escaping.
func member(text *bytes.Buffer, key string, value definition) error {
	encoded, err := rawjson.Encode(value)
	if err != nil {
		return err
	}
	text.WriteString(`"` + key + `":`)
	text.Write(encoded)
	return nil
}

// metadata returns the metadata of a document. Its values must be scalars: providers refuse the flags otherwise.
func (d *Document) metadata(environment string) map[string]any {
	values := map[string]any{"signalbox.environment": environment}
	if len(d.Omitted) > 0 {
		keys := make([]string, len(d.Omitted))
		for i, each := range d.Omitted {
			keys[i] = each.Key
		}
		values["signalbox.omitted"] = strings.Join(keys, ",")
	}
	return values
}
