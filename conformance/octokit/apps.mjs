// Apps: what they sign is verified, and their tokens are good for what was granted and no longer.

import assert from "node:assert/strict";
import { createSign, generateKeyPairSync } from "node:crypto";
import { App } from "octokit";

export default async function testify({ world, Client, as, check, refused, garden }) {
  const { id, installation, key } = world.app;
  const cellar = { owner: "octo", repo: "cellar" };
  const signed = new App({ appId: id, privateKey: key, Octokit: Client }).octokit;
  const wish = { installation_id: installation };
  const token = async (more) => (await signed.rest.apps.createInstallationAccessToken({ ...wish, ...more })).data;
  await check("apps.getAuthenticated, listInstallations, getRepoInstallation", async () => {
    assert.equal((await signed.rest.apps.getAuthenticated()).data.slug, "garden-helper");
    assert.equal((await signed.rest.apps.listInstallations()).data[0].id, installation);
    assert.equal((await signed.rest.apps.getRepoInstallation(garden)).data.id, installation);
    await refused(404, signed.rest.apps.getRepoInstallation({ owner: "octo", repo: "attic" }));
    assert.equal((await signed.rest.apps.getInstallation({ installation_id: installation })).data.account.login, "octo");
    assert.equal((await signed.rest.apps.getUserInstallation({ username: "octo" })).data.id, installation);
    await refused(404, signed.rest.apps.getInstallation({ installation_id: 1 }));
  });
  await check("a token that somebody else signed, or for too long, is refused", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const seconds = Math.floor(Date.now() / 1000);
    const asApp = (claims, by) => as(jwt(claims, by)).rest.apps.getAuthenticated();
    const good = { iat: seconds - 30, exp: seconds + 300, iss: id };
    await asApp(good, key);
    await refused(401, asApp(good, privateKey), /could not be decoded/);
    await refused(401, asApp({ ...good, exp: seconds - 5 }, key), /must be a numeric value/);
    await refused(401, asApp({ ...good, exp: seconds + 7200 }, key), /too far in the future/);
    await refused(404, asApp({ ...good, iss: 1 }, key), /Integration not found/);
    await refused(401, as("maya").rest.apps.getAuthenticated());
  });
  await check("apps.createInstallationAccessToken: all that was granted, for an hour", async () => {
    const { token: text, permissions, expires_at } = await token();
    assert.equal(permissions.contents, "write");
    assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 3_600_000) < 60_000);
    const helper = as(text).rest;
    const { data } = await helper.issues.createComment({ ...garden, issue_number: 1, body: "Beep" });
    assert.deepEqual([data.user.login, data.user.type], ["garden-helper[bot]", "Bot"]);
    assert.equal((await helper.apps.listReposAccessibleToInstallation()).data.total_count, 2);
    assert.equal((await helper.repos.get(cellar)).data.private, true);
    await refused(403, helper.users.getAuthenticated());
  });
  await check("permissions and repositories are kept", async () => {
    const narrow = await token({ repositories: ["garden"], permissions: { issues: "write", pull_requests: "read" } });
    assert.deepEqual(narrow.permissions, { issues: "write", metadata: "read", pull_requests: "read" });
    const helper = as(narrow.token).rest;
    await helper.issues.createComment({ ...garden, issue_number: 1, body: "Beep" });
    await refused(403, helper.pulls.createReview({ ...garden, pull_number: 2, event: "COMMENT", body: "x" }));
    const head = (await helper.git.getRef({ ...garden, ref: "heads/main" })).data.object.sha;
    await refused(403, helper.git.createRef({ ...garden, ref: "refs/heads/x", sha: head }));
    await refused(404, helper.repos.get(cellar));
    const reads = as((await token({ permissions: { issues: "read" } })).token).rest;
    await refused(403, reads.issues.createComment({ ...garden, issue_number: 1, body: "x" }));
    await refused(403, reads.pulls.list(cellar));
    assert.equal((await reads.issues.listForRepo(cellar)).data.length, 1);
  });
  await check("what was not granted cannot be asked for", async () => {
    await refused(422, token({ repositories: ["attic"] }));
    await refused(422, token({ permissions: { administration: "write" } }));
    await refused(404, token({ installation_id: 1 }));
  });
  await check("apps.listInstallationsForAuthenticatedUser, and its repositories, for who signed in by the app", async () => {
    const post = (path, fields, headers = {}) =>
      fetch(world.api + path, { method: "POST", headers: { accept: "application/json", ...headers }, body: new URLSearchParams(fields) });
    const own = { client_id: world.app.client_id };
    const { device_code, user_code } = await (await post("/login/device/code", own)).json();
    await post("/login/device", { user_code }, { authorization: `Bearer ${world.tokens.maya}` });
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const { access_token } = await (await post("/login/oauth/access_token", { ...own, device_code, grant_type })).json();
    const { apps } = as(access_token).rest;
    assert.equal((await apps.listInstallationsForAuthenticatedUser()).data.total_count, 1);
    const { data } = await apps.listInstallationReposForAuthenticatedUser({ installation_id: world.app.installation });
    assert.ok(data.repositories.some(({ full_name }) => full_name === "octo/garden"));
    await refused(403, as("maya").rest.apps.listInstallationsForAuthenticatedUser());
  });
  await check("apps.revokeInstallationAccessToken, and what has expired", async () => {
    const helper = as((await token()).token).rest;
    await helper.apps.revokeInstallationAccessToken();
    await refused(401, helper.repos.get(garden));
    await refused(401, as(world.expired).rest.repos.get(garden));
  });
}

/** Signs claims as an app does. */
function jwt(claims, key) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${createSign("RSA-SHA256").update(text).sign(key, "base64url")}`;
}
