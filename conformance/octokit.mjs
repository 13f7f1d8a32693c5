// Witness of REST: octokit calls every route, and every answer is held against GitHub's own description of it.

import assert from "node:assert/strict";
import { Octokit } from "octokit";
import { validator } from "./openapi.mjs";
import { inWorld, witness } from "./world.mjs";

const PARTS = ["accounts", "issues", "pulls", "reviews", "reviewing", "finding", "git", "apps", "releases", "mutations", "actions", "upkeep", "merging", "looking", "forms", "private"];

export default async function testify() {
  const { rows, check } = witness("octokit 5.0.5");
  const validate = validator();
  const reached = new Set();
  let known;
  for (const part of PARTS) {
    const { default: testifyTo } = await import(`./octokit/${part}.mjs`);
    const served = await inWorld(async (world) => {
      known = world.routes.rest;
      await testifyTo(stage(world, check, validate));
    });
    for (const route of served) reached.add(route);
  }
  await check("every REST route was called", () => {
    assert.deepEqual(known.filter((route) => !reached.has(route)), []);
  });
  return rows;
}

/** What every part needs: octokits of people, which check all their answers, and the repository they are about. */
function stage(world, check, validate) {
  const watch = (octokit) => {
    // GraphQL has a description of its own: see schema.mjs.
    const described = (url) => !url.endsWith("/graphql");
    octokit.hook.after("request", (answer, { method, url }) => described(url) && validate(method, url, answer));
    octokit.hook.error("request", (error, { method, url }) => {
      if (error.response && described(url)) validate(method, url, error.response);
      throw error;
    });
  };
  const settings = { baseUrl: world.api, retry: { enabled: false }, throttle: { enabled: false } };
  const Client = Octokit.plugin(watch).defaults(settings);
  const as = (login) => new Client({ auth: world.tokens[login] ?? login });
  const [maya, rita, bot, octo] = ["maya", "rita", "github-actions[bot]", "octo"].map(as);
  return { world, check, refused, Client, as, maya, rita, bot, octo, garden: { owner: "octo", repo: "garden" } };
}

/** Expects a refusal with this status, and these words in it. */
async function refused(status, promise, words = /(?:)/) {
  const error = await promise.then(
    () => assert.fail("it was not refused"),
    (error) => error,
  );
  assert.equal(error.status, status, error.stack);
  assert.match(error.message, words);
}
