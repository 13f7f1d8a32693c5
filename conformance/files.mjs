// Witness of files beside the API: node's own fetch, which follows redirects and leaves its token behind.

import assert from "node:assert/strict";
import { inWorld, witness } from "./world.mjs";

export default async function testify() {
  const { rows, check } = witness(`node ${process.version} fetch`);
  await inWorld(async (world) => {
    const by = (login) => ({ headers: { authorization: `Bearer ${world.tokens[login]}` } });
    const { public: puddle, private: key } = world.attachments;

    await check("a picture in somebody's text, by a redirect to another host", async () => {
      const answer = await fetch(puddle);
      assert.deepEqual([answer.redirected, answer.headers.get("content-type")], [true, "image/png"]);
      assert.equal(await answer.text(), "a puddle");
      assert.notEqual(new URL(answer.url).host, new URL(puddle).host);
    });
    await check("a file by its name", async () => {
      const file = `${puddle.replace("/assets/", "/files/")}/puddle.png`;
      assert.equal(await (await fetch(file)).text(), "a puddle");
    });
    await check("a private one is there for its people only", async () => {
      assert.equal((await fetch(key)).status, 404);
      assert.equal((await fetch(key, by("mallory"))).status, 404);
      assert.equal(await (await fetch(key, by("octo"))).text(), "a key");
    });
    await check("the store refuses a token, and an address without a signature", async () => {
      const { headers } = await fetch(puddle, { redirect: "manual" });
      const stored = headers.get("location");
      assert.equal((await fetch(stored, by("octo"))).status, 400);
      assert.equal((await fetch(stored.replace(/stored-files\/\w+/, "stored-files/x"))).status, 403);
    });
    await check("a file of a release, as a browser downloads it", async () => {
      const answer = await fetch(`${world.api}/octo/garden/releases/download/v1.0.0/fro-bot-x86_64-linux`);
      assert.equal(await answer.text(), "not really a program");
      assert.equal((await fetch(`${world.api}/octo/garden/releases/download/v1.0.0/other`)).status, 404);
    });
  });
  return rows;
}
