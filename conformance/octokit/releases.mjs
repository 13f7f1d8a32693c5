// Releases, whose files are stored at another host.

import assert from "node:assert/strict";

export default async function testify({ check, refused, garden, maya }) {
  const { repos } = maya.rest;
  await check("repos.listReleases, getLatestRelease, getReleaseByTag", async () => {
    const { data } = await repos.getReleaseByTag({ ...garden, tag: "v1.0.0" });
    assert.deepEqual(data.assets.map(({ name }) => name), ["fro-bot-x86_64-linux"]);
    assert.equal((await repos.getLatestRelease(garden)).data.id, data.id);
    assert.equal((await repos.listReleases(garden)).data.length, 1);
    await refused(404, repos.getReleaseByTag({ ...garden, tag: "v9" }));
  });
  await check("repos.getReleaseAsset: what it is, and its bytes by a redirect", async () => {
    const [asset] = (await repos.getLatestRelease(garden)).data.assets;
    const one = { ...garden, asset_id: asset.id };
    assert.equal((await repos.getReleaseAsset(one)).data.name, asset.name);
    const { data } = await repos.getReleaseAsset({ ...one, headers: { accept: "application/octet-stream" } });
    assert.equal(Buffer.from(data).toString(), "not really a program");
  });
}
