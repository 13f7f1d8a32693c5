// Witness of the Actions cache: the client that `actions/cache` itself uses.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BlockBlobClient } from "@azure/storage-blob";
import { inWorld, run, witness } from "./world.mjs";

const CLIENT = fileURLToPath(new URL("cache-client.mjs", import.meta.url));

export default async function testify() {
  const { rows, check } = witness("@actions/cache 6.3.0");
  await inWorld(async (world) => {
    const port = new URL(world.api).port;
    const memory = join(world.folder, "mem");
    const fill = (bytes) => {
      rmSync(memory, { recursive: true, force: true });
      mkdirSync(memory);
      writeFileSync(join(memory, "notes"), bytes);
      return createHash("sha256").update(bytes).digest("hex");
    };
    const restored = () => createHash("sha256").update(readFileSync(join(memory, "notes"))).digest("hex");
    /** Runs the client in a process of its own, with the environment that a job has. */
    const client = async (job, deed, host = "127.0.0.1") => {
      const env = {
        ...world.jobs[job].environment,
        ACTIONS_RESULTS_URL: `http://${host}:${port}/`,
        // The client speaks v2 to GitHub's own hosts only.
        GITHUB_SERVER_URL: "https://github.com",
        GITHUB_WORKSPACE: world.folder,
      };
      const { code, stdout, stderr } = await run("node", [CLIENT, JSON.stringify(deed)], { cwd: world.folder, env });
      assert.equal(code, 0, stderr);
      return { result: JSON.parse(stdout.trim().split("\n").at(-1)), log: stdout };
    };
    const [main, pull, comment] = ["schedule", "pull", "comment"];

    let notes;
    await check("save, single-shot", async () => {
      notes = fill(randomBytes(300_000));
      const { result, log } = await client(main, { save: "mem-main-100" });
      assert.ok(result > 0, log);
    });
    await check("restore by the key, byte for byte", async () => {
      fill("weeds");
      assert.equal((await client(main, { restore: "mem-main-100" })).result, "mem-main-100");
      assert.equal(restored(), notes);
    });
    await check("restore by the beginning of a key", async () => {
      fill("weeds");
      const deed = { restore: "mem-main-101", or: ["mem-other-", "mem-main-"] };
      assert.equal((await client(main, deed)).result, "mem-main-100");
      assert.equal(restored(), notes);
    });
    await check("the newest of several that begin alike wins", async () => {
      const newer = fill("compost");
      assert.ok((await client(main, { save: "mem-main-102" })).result > 0);
      assert.equal((await client(main, { restore: "mem-main-103", or: ["mem-main-"] })).result, "mem-main-102");
      assert.equal(restored(), newer);
    });
    await check("a miss is a miss", async () => {
      assert.equal((await client(main, { restore: "nothing-here" })).result, null);
    });
    await check("a key is saved once", async () => {
      fill("weeds");
      const { result, log } = await client(main, { save: "mem-main-100" });
      assert.equal(result, -1);
      assert.match(log, /another job may be creating this cache/);
    });
    await check("a read-only run is told so, and reads", async () => {
      const { result, log } = await client(comment, { save: "mem-comment-1" });
      assert.equal(result, -1);
      assert.match(log, /cache write denied/);
      assert.equal((await client(comment, { restore: "mem-main-100" })).result, "mem-main-100");
    });
    await check("cache-mode: a run may write after all, or write and see nothing", async () => {
      fill("loam");
      assert.ok((await client("comment_writing", { save: "mem-comment-1" })).result > 0);
      assert.ok((await client("blind", { save: "mem-blind-1" })).result > 0);
      assert.equal((await client("blind", { restore: "mem-main-100" })).result, null);
    });
    await check("a run that may not read is told so", async () => {
      // Without the variable the client asks, and hears it from the service.
      const denied = { ...world.jobs.blind.environment, ACTIONS_CACHE_MODE: "" };
      world.jobs.denied = { environment: denied };
      const { result, log } = await client("denied", { restore: "mem-main-100" });
      assert.equal(result, null);
      assert.match(log, /cache read denied/);
    });
    await check("a pull request's entries are its own, the base's are seen", async () => {
      fill("soil");
      assert.ok((await client(pull, { save: "mem-main-200" })).result > 0);
      assert.equal((await client(pull, { restore: "x", or: ["mem-main-"] })).result, "mem-main-200");
      assert.equal((await client(main, { restore: "x", or: ["mem-main-"] })).result, "mem-main-102");
      assert.equal((await client(pull, { restore: "mem-main-100" })).result, "mem-main-100");
    });
    await check("the job's token is a JWT that says what it may do", () => {
      const { ACTIONS_RUNTIME_TOKEN: token } = world.jobs.pull.environment;
      const { scp, ac, exp } = JSON.parse(Buffer.from(token.split(".")[1], "base64url"));
      assert.match(scp, /\bActions\.Results:[^:]+:[^:\s]+/);
      assert.deepEqual(JSON.parse(ac), [
        { Scope: "refs/pull/2/merge", Permission: 3 },
        { Scope: "refs/heads/main", Permission: 1 },
      ]);
      assert.ok(exp > Date.now() / 1000);
    });
    await check("Azure's client reads tag, time and size of a blob, and why it is refused", async () => {
      const { ACTIONS_RUNTIME_TOKEN: token } = world.jobs[main].environment;
      const ask = async (method, body) => {
        const url = `http://127.0.0.1:${port}/twirp/github.actions.results.api.v1.CacheService/${method}`;
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json();
      };
      const once = { retryOptions: { maxTries: 1 } };
      const put = async (key, bytes) => {
        const entry = { key, version: "1" };
        const { signed_upload_url: place } = await ask("CreateCacheEntry", entry);
        await new BlockBlobClient(place, undefined, once).upload(bytes, bytes.length);
        await ask("FinalizeCacheEntryUpload", { ...entry, size_bytes: String(bytes.length) });
        return (await ask("GetCacheEntryDownloadURL", { ...entry, restore_keys: [] })).signed_download_url;
      };
      const [one, other] = [await put("azure-1", "seeds"), await put("azure-2", "other seeds")];
      const told = async (url) => new BlockBlobClient(url, undefined, once).getProperties();
      const { etag, lastModified, contentLength, blobType } = await told(one);
      assert.match(etag, /^"0x[0-9A-F]+"$/);
      assert.ok(Math.abs(Date.now() - lastModified) < 3_600_000, String(lastModified));
      assert.deepEqual([contentLength, blobType], [5, "BlockBlob"]);
      assert.notEqual((await told(other)).etag, etag);
      const late = new BlockBlobClient(one, undefined, once).download(9);
      await assert.rejects(late, { statusCode: 416, code: "InvalidRange" });
      const forged = new BlockBlobClient(one.replace(/sig=[^&]+/, "sig=forged"), undefined, once).download();
      await assert.rejects(forged, ({ statusCode, code, message }) => {
        assert.deepEqual([statusCode, code], [403, "AuthenticationFailed"]);
        return /failed to authenticate/.test(message);
      });
    });
    await check("save in blocks and restore by ranges, through Azure's client", async () => {
      const big = fill(randomBytes(140 << 20));
      const azure = "results.blob.core.windows.net";
      assert.ok((await client(main, { save: "big-1" }, azure)).result > 0);
      fill("weeds");
      assert.equal((await client(main, { restore: "big-2", or: ["big-"] }, azure)).result, "big-1");
      assert.equal(restored(), big);
    });
  });
  return rows;
}
