// Witness of signing in a device: the client that octokit itself uses.

import assert from "node:assert/strict";
import { createOAuthDeviceAuth } from "@octokit/auth-oauth-device";
import { request } from "@octokit/request";
import { inWorld, witness } from "./world.mjs";

export default async function testify() {
  const { rows, check } = witness("@octokit/auth-oauth-device");
  await inWorld(async (world) => {
    const clientId = world.app.client_id;
    const post = (path, fields, headers = {}) =>
      fetch(world.api + path, { method: "POST", headers: { accept: "application/json", ...headers }, body: new URLSearchParams(fields) });
    const type = (user_code, login, more = {}) =>
      post("/login/device", { user_code, ...more }, { authorization: `Bearer ${world.tokens[login]}` });
    const sign = (onVerification, id = clientId) =>
      createOAuthDeviceAuth({ clientType: "github-app", clientId: id, onVerification, request: request.defaults({ baseUrl: world.api }) })({ type: "oauth" });

    await check("a person types the code, and the device acts for them", async () => {
      const { token, tokenType } = await sign(async ({ user_code, verification_uri, interval }) => {
        assert.match(user_code, /^\w{4}-\w{4}$/);
        assert.deepEqual([verification_uri, interval], [`${world.api}/login/device`, 5]);
        assert.equal((await type(user_code, "maya")).status, 204);
      });
      assert.equal(tokenType, "oauth");
      const { data } = await request("GET /user", { baseUrl: world.api, headers: { authorization: `Bearer ${token}` } });
      assert.equal(data.login, "maya");
    });
    await check("who signed in sees where the app is installed, and nobody else does", async () => {
      const signIn = (login) => sign(async ({ user_code }) => void (await type(user_code, login)));
      const get = (route, token) => request(`GET ${route}`, { baseUrl: world.api, headers: { authorization: `Bearer ${token}` } });
      const { token } = await signIn("maya");
      const { data } = await get("/user/installations", token);
      assert.deepEqual([data.total_count, data.installations[0].id], [1, world.app.installation]);
      const { data: repos } = await get(`/user/installations/${world.app.installation}/repositories`, token);
      assert.ok(repos.repositories.some((repo) => repo.full_name === "octo/garden"));
      await assert.rejects(get("/user/installations/1/repositories", token), { status: 404 });
      await assert.rejects(get("/user/installations", world.tokens.maya), { status: 403 });
    });
    await check("denied, or an app that is not known", async () => {
      await assert.rejects(sign(async ({ user_code }) => type(user_code, "maya", { answer: "deny" })), /access_denied|denied/);
      await assert.rejects(sign(() => {}, "Iv1.nobody"));
    });
    await check("before the person has typed: pending, then too fast; wrong codes", async () => {
      const { device_code } = await (await post("/login/device/code", { client_id: clientId })).json();
      const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
      const ask = async (more) =>
        (await (await post("/login/oauth/access_token", { client_id: clientId, device_code, grant_type, ...more })).json()).error;
      assert.deepEqual([await ask(), await ask()], ["authorization_pending", "slow_down"]);
      assert.equal(await ask({ device_code: "wrong" }), "incorrect_device_code");
      assert.equal(await ask({ grant_type: "password" }), "unsupported_grant_type");
      assert.equal(await ask({ client_id: "Iv1.nobody" }), "incorrect_client_credentials");
    });
  });
  return rows;
}
