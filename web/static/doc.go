// Package static carries the committed bundles of the pages and serves them
// under URLs that hold a hash of their content, so that a browser may keep them
// for ever and never mixes two versions.
//
// It imports nothing of ours and reads no disk: everything is embedded. The
// bundles come from web/island and css/ by `make generate`.
package static
