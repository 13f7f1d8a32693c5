// Witnesses in another language: scripts that print one row of JSON on each line, each in a world of its own.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inWorld, run, witness } from "./world.mjs";

/** Where the module is that all scripts share. */
const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Plays `folder/part.py` for each part with this interpreter, and returns what the client saw. */
export async function inPython(client, interpreter, folder, parts) {
  const { rows, check } = witness(client);
  for (const part of parts) {
    const script = fileURLToPath(new URL(`${folder}/${part}.py`, import.meta.url));
    await inWorld(async (world) => {
      const told = join(world.folder, "world.json");
      writeFileSync(told, JSON.stringify(world));
      const { code, stdout, stderr } = await run(interpreter, [script, told], { cwd: world.folder, env: { PYTHONPATH: HERE } });
      const seen = stdout.trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
      for (const { operation, why } of seen) await check(operation, () => assert.ok(!why, why));
      await check(`${part}: told to its end`, () => assert.deepEqual([code, seen.length > 0], [0, true], stderr));
    });
  }
  return rows;
}
