// Runs every witness, prints the table (client × operation) and says how many rows held.

import assert from "node:assert/strict";
import { routes, witness } from "./world.mjs";

const ALL = ["git", "cache", "gh", "octokit", "pygithub", "githubkit", "device", "events", "files", "release", "share", "schema", "queries", "discord", "breaks", "twin"];
const asked = process.argv.slice(2);

let passed = 0;
let failed = 0;
for (const name of asked.length ? asked : ALL) {
  const { default: testify } = await import(`./${name}.mjs`);
  print(await testify());
}
// Only all of them together can have been everywhere.
if (!asked.length) {
  const { rows, check } = witness("all of them");
  await check("every route has served a witness", () => {
    assert.deepEqual(routes.known.filter((route) => !routes.served.has(route)), []);
  });
  print(rows);
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

function print(rows) {
  for (const { client, operation, ok, why } of rows) {
    console.log(`${client.padEnd(24)} ${operation.padEnd(84)} ${ok ? "ok" : "failed"}`);
    if (!ok) console.log(why.replace(/^/gm, "    "));
    if (ok) passed += 1;
    else failed += 1;
  }
}
