// The few words of the runner's language that the launchers speak.

import { appendFileSync } from "node:fs";

/** A mistake with a next step for the person who reads it. */
export class Trouble extends Error {
  constructor(what, hint, cause) {
    super(hint ? `${what}\nhint: ${hint}` : what, { cause });
  }
}

/** Shows an error as an annotation of the run. */
export function complain(level, error) {
  const text = error instanceof Trouble ? error.message : (error.stack ?? String(error));
  console.log(`::${level} title=fro-bot::${escape(text)}`);
}

/** Keeps a value for the `post` step. */
export function keep(name, value) {
  const file = process.env.GITHUB_STATE;
  if (file) appendFileSync(file, `${name}=${value}\n`);
}

/** Returns what the main step kept. */
export function kept(name) {
  return process.env[`STATE_${name}`];
}

/** Returns an input; the runner writes its name in capitals and keeps the hyphens. */
export function input(env, name) {
  return env[`INPUT_${name.toUpperCase()}`]?.trim() ?? "";
}

function escape(text) {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
