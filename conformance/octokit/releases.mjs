// Releases, whose files are stored at another host.

import assert from "node:assert/strict";

export default async function testify({ world, check, refused, garden, maya, rita }) {
  const { repos } = maya.rest;
  await check("repos.listReleases, getLatestRelease, getReleaseByTag", async () => {
    const { data } = await repos.getReleaseByTag({ ...garden, tag: "v1.0.0" });
    assert.deepEqual(data.assets.map(({ name }) => name), ["fro-bot-x86_64-linux"]);
    assert.equal((await repos.getLatestRelease(garden)).data.id, data.id);
    assert.equal((await repos.listReleases(garden)).data.length, 1);
    await refused(404, repos.getReleaseByTag({ ...garden, tag: "v9" }));
  });
  await check("repos.createRelease as a draft, uploadReleaseAsset, updateRelease, getRelease", async () => {
    const { data } = await repos.createRelease({ ...garden, tag_name: "v1.1.0", name: "Spring", draft: true });
    const release = { ...garden, release_id: data.id };
    assert.deepEqual([data.draft, data.published_at], [true, null]);
    await refused(404, repos.getReleaseByTag({ ...garden, tag: "v1.1.0" }));
    const file = { ...release, baseUrl: world.api, name: "seeds.txt", data: "seeds" };
    assert.equal((await repos.uploadReleaseAsset(file)).data.size, 5);
    await refused(422, repos.uploadReleaseAsset(file), /already_exists/);
    await repos.updateRelease({ ...release, draft: false });
    const { data: published } = await repos.getRelease(release);
    assert.deepEqual([published.draft, published.assets[0].name], [false, "seeds.txt"]);
    assert.equal((await maya.rest.git.getRef({ ...garden, ref: "tags/v1.1.0" })).data.object.type, "commit");
    await refused(422, repos.createRelease({ ...garden, tag_name: "v1.1.0" }), /already_exists/);
    await refused(404, rita.rest.repos.createRelease({ ...garden, tag_name: "v2" }));
  });
  await check("repos.getReleaseAsset: what it is, and its bytes by a redirect", async () => {
    const [asset] = (await repos.getReleaseByTag({ ...garden, tag: "v1.0.0" })).data.assets;
    const one = { ...garden, asset_id: asset.id };
    assert.equal((await repos.getReleaseAsset(one)).data.name, asset.name);
    const { data } = await repos.getReleaseAsset({ ...one, headers: { accept: "application/octet-stream" } });
    assert.equal(Buffer.from(data).toString(), "not really a program");
  });
}
