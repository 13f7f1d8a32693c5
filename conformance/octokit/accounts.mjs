// People, repositories, limits, and the tokens that are refused.

import assert from "node:assert/strict";

export default async function testify({ world, as, check, refused, garden, maya, rita, octo }) {
  const { meta, users, rateLimit, repos } = maya.rest;
  await check("meta.root, users.getAuthenticated, users.getByUsername, rateLimit.get", async () => {
    assert.equal((await meta.root()).data.rate_limit_url, `${world.api}/rate_limit`);
    assert.equal((await users.getAuthenticated()).data.login, "maya");
    assert.equal((await users.getByUsername({ username: "mallory" })).data.name, "Mallory");
    await refused(404, users.getByUsername({ username: "nobody" }));
    const before = (await rateLimit.get()).data.rate.remaining;
    const { headers } = await users.getAuthenticated();
    assert.equal(Number(headers["x-ratelimit-remaining"]), before - 1);
  });
  await check("repos.get, repos.getCollaboratorPermissionLevel", async () => {
    assert.equal((await repos.get(garden)).data.default_branch, "main");
    const level = await repos.getCollaboratorPermissionLevel({ ...garden, username: "rita" });
    assert.equal(level.data.permission, "read");
  });
  await check("an ETag is answered 304", async () => {
    const { headers } = await maya.rest.issues.get({ ...garden, issue_number: 2 });
    assert.ok(headers.etag);
    await refused(304, maya.rest.issues.get({ ...garden, issue_number: 2, headers: { "if-none-match": headers.etag } }));
    await maya.rest.issues.createComment({ ...garden, issue_number: 2, body: "New" });
    await maya.rest.issues.get({ ...garden, issue_number: 2, headers: { "if-none-match": headers.etag } });
  });
  await check("wrong, weak and foreign tokens are refused", async () => {
    await refused(401, as("ghp_wrong").rest.users.getAuthenticated());
    await refused(403, as(world.read_only).rest.issues.createComment({ ...garden, issue_number: 1, body: "x" }));
    await refused(404, maya.rest.repos.get({ owner: "octo", repo: "attic" }));
    await refused(404, rita.rest.repos.get({ owner: "octo", repo: "cellar" }));
    assert.equal((await octo.rest.repos.get({ owner: "octo", repo: "cellar" })).data.private, true);
  });
}
