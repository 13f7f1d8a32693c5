// Witness of the host for shared sessions: the real engine, which shares a session there and takes it up again.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { inWorld, run, witness } from "./world.mjs";

const ENGINE = fileURLToPath(new URL("./node_modules/.bin/opencode", import.meta.url));
const LISTENING = /http:\S+/;

export default async function testify() {
  const { rows, check } = witness("OpenCode 1.18.33");
  await inWorld(async (world) => {
    const provider = {
      scripted: { npm: "@ai-sdk/openai-compatible", options: { baseURL: world.model }, models: { m1: {} } },
    };
    const config = JSON.stringify({ enterprise: { url: world.api }, provider, share: "manual", autoupdate: false });
    // Whatever the engine would fetch from elsewhere has nothing to do with sharing.
    const quiet = ["AUTOUPDATE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "MODELS_FETCH"].map((name) => [`OPENCODE_DISABLE_${name}`, "1"]);
    const env = { HOME: join(world.folder, "home"), OPENCODE_CONFIG_CONTENT: config, ...Object.fromEntries(quiet) };
    const cwd = join(world.folder, "work");
    [env.HOME, cwd].forEach((folder) => mkdirSync(folder));
    let shared;

    await check("a session is shared, and what it holds is sent", async () => {
      await withEngine({ cwd, env: { PATH: process.env.PATH, ...env } }, async (address) => {
        const ask = async (path, body) =>
          (await fetch(address + path, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) })).json();
        const { id } = await ask("/session", { title: "by the tap" });
        const parts = [{ type: "text", text: "The tap drips." }];
        await ask(`/session/${id}/message`, { noReply: true, model: { providerID: "scripted", modelID: "m1" }, parts });
        shared = (await ask(`/session/${id}/share`, {})).share.url;
        assert.equal(shared, `${world.api}/share/${id.slice(-8)}`);
        const items = async () => (await fetch(data(shared))).json();
        const told = async (kind) => (await items()).find(({ type }) => type === kind)?.data;
        await until(async () => (await told("part")) && (await told("session")));
        assert.deepEqual([(await told("session")).id, (await told("part")).text], [id, "The tap drips."]);
      });
    });
    await check("a shared session is taken up elsewhere", async () => {
      const elsewhere = { ...env, HOME: join(world.folder, "elsewhere") };
      mkdirSync(elsewhere.HOME);
      const { code, stdout, stderr } = await run(ENGINE, ["import", shared], { cwd, env: elsewhere });
      assert.deepEqual([code, /ses_\w+/.test(stdout + stderr)], [0, true], stdout + stderr);
    });
  });
  return rows;
}

const JSON_TYPE = { "content-type": "application/json" };

const data = (url) => url.replace("/share/", "/api/share/") + "/data";

/** Starts the engine, hands its address to `use`, and ends it. */
async function withEngine(options, use) {
  const args = ["serve", "--hostname=127.0.0.1", "--port=0"];
  const engine = spawn(ENGINE, args, { ...options, stdio: ["ignore", "pipe", "inherit"], detached: true });
  const ended = once(engine, "exit");
  try {
    for await (const line of createInterface({ input: engine.stdout })) {
      const address = line.match(LISTENING)?.[0];
      if (address) {
        await use(address);
        return;
      }
    }
  } finally {
    // The package's launcher passes no signal on, so its whole group is ended.
    process.kill(-engine.pid, "SIGTERM");
    await ended;
  }
}

/** Waits for a fact, for a minute at the most. */
async function until(fact) {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await fact()) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.fail("it did not come true within a minute");
}
