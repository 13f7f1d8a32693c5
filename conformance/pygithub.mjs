// Witness of REST in another language: PyGithub, whose own script tells what it saw, one row on each line.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inWorld, run, witness } from "./world.mjs";

const PARTS = ["issues", "reviews", "manners"];
const script = (name) => fileURLToPath(new URL(`pygithub/${name}.py`, import.meta.url));

export default async function testify() {
  const { rows, check } = witness(`PyGithub ${process.env.PYGITHUB_VERSION}`);
  for (const part of PARTS) {
    await inWorld(async (world) => {
      const told = join(world.folder, "world.json");
      writeFileSync(told, JSON.stringify(world));
      const { code, stdout, stderr } = await run(process.env.PYGITHUB, [script(part), told], { cwd: world.folder });
      const seen = stdout.trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
      for (const { operation, why } of seen) await check(operation, () => assert.ok(!why, why));
      await check(`${part}: told to its end`, () => assert.deepEqual([code, seen.length > 0], [0, true], stderr));
    });
  }
  return rows;
}
