// Package yamljson converts between YAML and JSON. Unlike a detour over Go values it keeps the order of members and the
// spelling of numbers, which the server keeps too.
//
// The YAML library is go.yaml.in/yaml/v3: it is the one that the YAML organization maintains, it shows documents as nodes
// with their text and line, and the program contained it already.
package yamljson
