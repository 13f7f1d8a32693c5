// Runs every witness, prints the table (client × operation) and says how many rows held.

const witnesses = process.argv.slice(2).length
  ? process.argv.slice(2)
  : ["git", "cache", "gh", "octokit", "queries"];

let passed = 0;
let failed = 0;
for (const name of witnesses) {
  const { default: testify } = await import(`./${name}.mjs`);
  for (const { client, operation, ok, why } of await testify()) {
    console.log(`${client.padEnd(22)} ${operation.padEnd(64)} ${ok ? "ok" : "failed"}`);
    if (ok) passed += 1;
    else {
      failed += 1;
      console.log(why.replace(/^/gm, "    "));
    }
  }
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
