// Breaks the little Discord on purpose, one mistake at a time: its witnesses have to notice each.

import assert from "node:assert/strict";
import testify from "./discord.mjs";
import { witness } from "./world.mjs";

/** The mistakes of `FRO_SIM_BREAK`, and the rows that go red with them. Not every client knows what is broken. */
const BREAKS = {
  "thread-id": { "discord.js": /^Message\.startThread/, "discord.py": /^Message\.create_thread/ },
  "resume-drops": { "discord.js": /taken up again/, "discord.py": /taken up again/ },
  "nonce-forgotten": { "discord.js": /^enforceNonce/ },
  "mentions-ring": { "discord.js": /^allowedMentions/ },
};

export default async function breakIt() {
  const { rows, check } = witness("a broken Discord");
  for (const [name, expected] of Object.entries(BREAKS)) {
    process.env.FRO_SIM_BREAK = name;
    const seen = await testify().finally(() => delete process.env.FRO_SIM_BREAK);
    for (const [client, row] of Object.entries(expected)) {
      const own = seen.filter((it) => it.client.startsWith(client));
      await check(`${name}: ${client} goes red at ${row.source.replace(/[\\^]/g, "")}`, () => {
        const red = own.filter(({ ok }) => !ok).map(({ operation }) => operation);
        assert.ok(red.some((operation) => row.test(operation)), `red: ${red.join(", ") || "nothing"}`);
        // One that was not there would make everything red.
        assert.ok(own.length - red.length >= 3, `only ${own.length - red.length} rows are green`);
      });
    }
  }
  return rows;
}
