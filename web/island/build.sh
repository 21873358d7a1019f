#!/bin/sh
# Bundles the pages' script and styles into web/static/dist. Run from anywhere;
# needs node_modules (npm ci) and esbuild from go.mod, nothing else. An argument
# names another folder, relative to this one, to compare a fresh build with.
set -eu
cd "$(dirname "$0")"
out="${1:-../static/dist}"
mkdir -p "$out"
go tool esbuild src/live.ts src/graph.tsx src/builder.tsx src/policy.ts ../static/css/app.css \
  --bundle --minify --format=esm --target=es2023 --jsx=automatic --charset=utf8 --legal-comments=none \
  --define:process.env.NODE_ENV='"production"' --entry-names='[name]' --outdir="$out" --metafile="$out/meta.json" --log-level=warning
cp ../static/icon.svg "$out/icon.svg"
node licenses.mjs "$out/meta.json" > "$out/LICENSES.txt"
