package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed dist/app.css dist/graph.css dist/live.js dist/graph.js dist/builder.css dist/builder.js dist/policy.css dist/policy.js dist/icon.svg dist/LICENSES.txt
var bundles embed.FS

// Prefix is where the bundles are served.
const Prefix = "/static/"

// hashDigits is the length of the hash in a URL: 48 bits tell versions apart.
const hashDigits = 12

// file is one bundle, ready to be sent.
type file struct {
	plain, packed []byte // packed is gzip
	mime, etag    string
}

// Files is the set of bundles with their URLs. It never changes after New.
type Files struct {
	byName map[string]string // "app.css" → "/static/app-0123456789ab.css"
	byURL  map[string]file
}

// New gives the embedded bundles, hashed and packed. It fails only when the
// binary was built without one of them. Every call gives the same Files: they
// never change, and packing them is most of the work of starting a server.
func New() (*Files, error) { return once() }

var once = sync.OnceValues(build)

func build() (*Files, error) {
	f := &Files{byName: map[string]string{}, byURL: map[string]file{}}
	entries, err := bundles.ReadDir("dist")
	if err != nil {
		return nil, fmt.Errorf("list bundles: %w", err)
	}
	for _, e := range entries {
		body, err := bundles.ReadFile("dist/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read bundle: %w", err)
		}
		packed, err := pack(body)
		if err != nil {
			return nil, fmt.Errorf("pack bundle: %w", err)
		}
		sum := sha256.Sum256(body)
		hash := hex.EncodeToString(sum[:])[:hashDigits]
		ext := path.Ext(e.Name())
		url := Prefix + strings.TrimSuffix(e.Name(), ext) + "-" + hash + ext
		f.byName[e.Name()] = url
		f.byURL[url] = file{plain: body, packed: packed, mime: mimeOf(ext), etag: `"` + hash + `"`}
	}
	return f, nil
}

func pack(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// mimeOf names the few types that are shipped; a browser is told not to guess.
func mimeOf(ext string) string {
	switch ext {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "text/plain; charset=utf-8"
}

// URL gives the address of a bundle by its plain name, for instance "app.css".
// An unknown name gives "", which a page shows as a missing part, never as a panic.
func (f *Files) URL(name string) string { return f.byName[name] }

// ServeHTTP sends a bundle as immutable, packed where the browser takes gzip.
// Any other path, an old hash included, is 404.
func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got, ok := f.byURL[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Type", got.mime)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("ETag", got.etag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == got.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := got.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = got.packed
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the browser went away: nobody is left to tell
	}
}
