// Writes a CycloneDX list of the crates in a binary, from the lines of `cargo tree --format '{p}|{l}'` on standard input.

import { readFileSync } from "node:fs";

const lines = readFileSync(0, "utf8").split("\n");
const crates = new Map();
for (const line of lines) {
  const [, name, version, licence] = line.match(/^(\S+) v(\S+)[^|]*\|(.*?)(?: \(\*\))?$/) ?? [];
  if (name) crates.set(`${name}@${version}`, { name, version, licence });
}
if (crates.size === 0) throw new Error("no crates on standard input");
const components = [...crates.values()]
  .sort((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version))
  .map(({ name, version, licence }) => ({
    type: "library",
    name,
    version,
    purl: `pkg:cargo/${name}@${version}`,
    ...(licence && { licenses: [{ expression: licence.replaceAll(/\s*\/\s*/g, " OR ") }] }),
  }));
const metadata = { component: { type: "application", name: process.argv[2] } };
console.log(JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1, metadata, components }, null, 2));
