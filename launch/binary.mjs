// Finds the fro-bot binary of this version: the one given, the one beside the action, the one in the tool cache, the release's.
//
// What is not given by hand must have the SHA-256 that is committed in `sums.json`: who pins the action by its commit
// pins the binary, too.

import { createHash } from "node:crypto";
import { accessSync, constants, createReadStream, existsSync, readFileSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { isAbsolute, join } from "node:path";
import { platform } from "./platform.mjs";
import { Trouble, input } from "./runner.mjs";

const FOLDER = join(import.meta.dirname, "..");

/** Resolves to the path of a binary that may be started. */
export async function find(env, folder = FOLDER) {
  const given = input(env, "binary");
  if (given) return byHand(given, env.GITHUB_WORKSPACE ?? process.cwd());

  const name = platform();
  const { version, sums } = JSON.parse(readFileSync(join(folder, "launch", "sums.json"), "utf8"));
  const sum = sums[name];
  if (!version || !sum) {
    throw new Trouble(
      version
        ? `fro-bot ${version} was not released for ${name}, only for ${Object.keys(sums).join(", ")}`
        : "this commit of the action belongs to no release, so there is no binary for it",
      "use a released version such as `fro-bot/agent@v0`, or build one and give its path as `binary`",
    );
  }
  const wanted = { name, version, sum };
  const beside = join(folder, "bin", `fro-bot-${name}`);
  if (existsSync(beside)) {
    if ((await sumOf(beside)) !== sum) throw spoiled(beside, "remove it from the action's folder");
    return runnable(beside);
  }
  const { inToolCache, fetched } = await import("./release.mjs");
  return (await inToolCache(wanted, env)) ?? (await fetched(wanted, env));
}

/** Resolves to the SHA-256 of a file, in hexadecimal digits. */
export async function sumOf(file) {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** What is said of a file that is not what it should be. */
export function spoiled(what, hint) {
  return new Trouble(`${what} does not have the SHA-256 that this version of the action expects`, hint);
}

function byHand(given, workspace) {
  const path = isAbsolute(given) ? given : join(workspace, given);
  if (!existsSync(path)) {
    throw new Trouble(`the input \`binary\` names ${path}, where nothing is`, "build it in an earlier step, or leave the input out");
  }
  return runnable(path);
}

function runnable(path) {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    throw new Trouble(`${path} may not be executed`, `let an earlier step run \`chmod +x ${path}\``);
  }
}
