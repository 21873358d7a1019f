// Writes the licence texts of every package whose code is in a bundle, read from
// esbuild's metafile, so that what ships and what is credited cannot differ.
import { existsSync, readFileSync } from "node:fs";

const meta = JSON.parse(readFileSync(process.argv[2], "utf8"));
const packages = new Set();
for (const input of Object.keys(meta.inputs)) {
  const match = input.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (match) packages.add(match[1]);
}
for (const name of [...packages].sort()) {
  const folder = `node_modules/${name}`;
  const info = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license"].find((f) => existsSync(`${folder}/${f}`));
  const text = file ? readFileSync(`${folder}/${file}`, "utf8").trim() : `(the package carries no licence file; its package.json says ${info.license})`;
  process.stdout.write(`${name} ${info.version} (${info.license})\n\n${text}\n\n${"-".repeat(78)}\n\n`);
}
