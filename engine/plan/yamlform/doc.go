// Package yamlform reads plans written in YAML: it turns the document into JSON
// and hands that to package plan, which alone knows the form.
//
// YAML is taken as JSON with less punctuation. What JSON has not is refused
// instead of interpreted: duplicate keys, keys that are no strings, anchors and
// aliases, merge keys, tags of other types, several documents. Because the
// structure stays the same, pointers of findings fit the YAML as well.
//
// The package is pure: no I/O, clock or goroutine.
package yamlform
