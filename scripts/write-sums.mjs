// Writes `launch/sums.json` for a version and a folder of released binaries.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [version, folder] = process.argv.slice(2);
const sums = {};
for (const file of readdirSync(folder).sort()) {
  const name = file.match(/^fro-bot-([a-z0-9-]+)$/)?.[1];
  if (name) sums[name] = createHash("sha256").update(readFileSync(join(folder, file))).digest("hex");
}
if (Object.keys(sums).length === 0) throw new Error(`no binaries in ${folder}`);
console.log(JSON.stringify({ version, sums }, null, 2));
