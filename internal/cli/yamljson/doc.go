// Package yamljson converts between YAML and JSON. It keeps the order of members and the spelling of numbers, as the server
// does; decoding into Go values would lose both.
//
// The YAML library is go.yaml.in/yaml/v3: the YAML organization maintains it, its nodes have their text and line, and other
// dependencies of the program already need it.
package yamljson
