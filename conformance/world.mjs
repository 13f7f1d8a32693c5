// A simulated world of one's own, and a record of what its witnesses saw.

import { spawn, execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** The routes that have served any witness, and those that there are. */
export const routes = { served: new Set(), known: [] };

/** Starts the program, hands its addresses and a folder to `use`, ends both, and returns the routes that served. */
export async function inWorld(use) {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const args = ["--json", "--jobs", join(folder, "jobs")];
  const program = spawn(process.env.FRO_SIM, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  const told = async () => JSON.parse((await lines.next()).value);
  const ended = once(program, "exit");
  let served;
  try {
    const world = await told();
    routes.known = world.routes.all;
    await use({ ...world, folder });
  } finally {
    program.kill("SIGINT");
    ({ served } = await told());
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
  for (const route of served) routes.served.add(route);
  return served;
}

/** A client's rows of the table; a check that throws is a failed one. */
export function witness(client) {
  const rows = [];
  const check = async (operation, deed) => {
    try {
      await deed();
      rows.push({ client, operation, ok: true });
    } catch (error) {
      rows.push({ client, operation, ok: false, why: error.stack ?? String(error) });
    }
  };
  return { rows, check };
}

/** Runs a program; resolves to its exit code and what it said, on both channels. */
export function run(file, args, { cwd, env = {} } = {}) {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...bare, ...env }, maxBuffer: 64 << 20 };
    const child = execFile(file, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? 1) : 0, stdout, stderr }),
    );
    child.stdin.end();
  });
}

/** Asks the REST API without any client's help. */
export async function rest(world, path, { login = "octo", method = "GET", body } = {}) {
  const headers = { authorization: `Bearer ${world.tokens[login]}` };
  const answer = await fetch(world.api + path, { method, headers, body: body && JSON.stringify(body) });
  return { status: answer.status, headers: answer.headers, body: answer.status === 204 ? null : await answer.json() };
}

/** Asks the GraphQL API without any client's help. */
export async function graphql(world, query, variables = {}, login = "octo") {
  const headers = { authorization: `Bearer ${world.tokens[login]}` };
  const answer = await fetch(world.graphql, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
  return answer.json();
}

/** The environment of a client: nothing of this machine's settings. */
const bare = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  LANG: "C.UTF-8",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_AUTHOR_NAME: "Maya",
  GIT_AUTHOR_EMAIL: "maya@garden.example",
  GIT_COMMITTER_NAME: "Maya",
  GIT_COMMITTER_EMAIL: "maya@garden.example",
};
