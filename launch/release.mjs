// Brings the released binary into the runner's tool cache, and finds it there the next time.

import { createHash } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { arch } from "node:os";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { spoiled, sumOf } from "./binary.mjs";
import { Trouble, complain, input } from "./runner.mjs";

/** No binary is larger; a release that sends more is not ours. */
const MOST_BYTES = 200 << 20;
const PATIENCE = 120_000;

/** Resolves to the binary of an earlier run, if it is there and whole. */
export async function inToolCache(wanted, env) {
  const place = placeOf(wanted, env);
  const binary = join(place, "fro-bot");
  if (!existsSync(`${place}.complete`) || !existsSync(binary)) return undefined;
  if ((await sumOf(binary)) === wanted.sum) return binary;
  complain("warning", spoiled(binary, "it is fetched again"));
  return undefined;
}

/** Fetches the release's binary, checks it and puts it into the tool cache. */
export async function fetched(wanted, env) {
  const place = placeOf(wanted, env);
  const parent = join(place, "..");
  mkdirSync(parent, { recursive: true });
  const draft = mkdtempSync(join(parent, "fetching-"));
  try {
    const { answer, source } = await download(wanted, env);
    const sum = createHash("sha256");
    await pipeline(Readable.fromWeb(answer.body), counting(sum, source), createWriteStream(join(draft, "fro-bot"), { mode: 0o755 }));
    if (sum.digest("hex") !== wanted.sum) throw spoiled(source, "do not use it; tell the maintainers of the action");
    rmSync(`${place}.complete`, { force: true });
    rmSync(place, { recursive: true, force: true });
    renameSync(draft, place);
    writeFileSync(`${place}.complete`, "");
    return join(place, "fro-bot");
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The runner's own layout, so that its tools know this one, too. */
function placeOf({ version }, env) {
  const tools = env.RUNNER_TOOL_CACHE || join(env.RUNNER_TEMP ?? "/tmp", "tools");
  return join(tools, "fro-bot", version, arch());
}

/** Asks the public address first; a private repository's release needs the API and the job's token. */
async function download({ name, version }, env) {
  http.setGlobalProxyFromEnv?.();
  const repository = env.GITHUB_ACTION_REPOSITORY || "fro-bot/agent";
  const file = `fro-bot-${name}`;
  const open = `${env.GITHUB_SERVER_URL ?? "https://github.com"}/${repository}/releases/download/v${version}/${file}`;
  const answer = await ask(open, {});
  if (answer.ok) return { answer, source: open };
  if (answer.status !== 404) throw refused(open, answer);

  const api = `${env.GITHUB_API_URL ?? "https://api.github.com"}/repos/${repository}/releases`;
  const authorization = `Bearer ${input(env, "github-token")}`;
  const release = await ask(`${api}/tags/v${version}`, { authorization });
  const { assets = [] } = release.ok ? await release.json() : {};
  const asset = assets.find((asset) => asset.name === file);
  if (!asset) throw refused(open, answer);
  const source = `${api}/assets/${asset.id}`;
  const sent = await ask(source, { authorization, accept: "application/octet-stream" });
  if (!sent.ok) throw refused(source, sent);
  return { answer: sent, source };
}

async function ask(url, headers) {
  try {
    return await fetch(url, { headers, signal: AbortSignal.timeout(PATIENCE) });
  } catch (error) {
    const why = error.cause?.message || error.message;
    throw new Trouble(`cannot fetch the fro-bot binary from ${url}: ${why}`, OFFLINE, error);
  }
}

function refused(url, { status }) {
  return new Trouble(`cannot fetch the fro-bot binary from ${url}: status ${status}`, OFFLINE);
}

const OFFLINE =
  "a runner without access to the release needs the binary in its tool cache or its path in the input `binary`";

function counting(sum, source) {
  let bytes = 0;
  return new Transform({
    transform(chunk, _encoding, done) {
      bytes += chunk.length;
      sum.update(chunk);
      done(bytes > MOST_BYTES ? new Trouble(`${source} is larger than ${MOST_BYTES} bytes`) : null, chunk);
    },
  });
}
