// Pull requests: what they change, opening and editing one, asking for reviews.

import assert from "node:assert/strict";

export default async function testify({ check, refused, garden, maya, octo, rita }) {
  const { pulls, git } = maya.rest;
  const pull = { ...garden, pull_number: 2 };
  await check("pulls.get, list, listFiles, listCommits, as a diff", async () => {
    const { data } = await pulls.get(pull);
    assert.deepEqual([data.additions, data.changed_files, data.head.ref], [3, 1, "new-seal"]);
    assert.equal((await pulls.list({ ...garden, head: "octo:new-seal" })).data.length, 1);
    assert.equal((await pulls.list({ ...garden, head: "octo:other" })).data.length, 0);
    const [file] = (await pulls.listFiles(pull)).data;
    assert.match(file.patch, /^@@ -2,7 \+2,9 @@/);
    assert.equal((await pulls.listCommits(pull)).data[0].sha, data.head.sha);
    const diff = await pulls.get({ ...pull, mediaType: { format: "diff" } });
    assert.match(diff.data, /^diff --git a\/tap.rs b\/tap.rs/);
  });
  await check("pulls.create; twice, without news or without a branch it is refused", async () => {
    const head = (await git.getRef({ ...garden, ref: "heads/new-seal" })).data.object.sha;
    const main = (await git.getRef({ ...garden, ref: "heads/main" })).data.object.sha;
    await git.createRef({ ...garden, ref: "refs/heads/seal-2", sha: head });
    await git.createRef({ ...garden, ref: "refs/heads/nothing", sha: main });
    const wish = { ...garden, title: "Again", head: "seal-2", base: "main" };
    assert.equal((await pulls.create(wish)).data.head.sha, head);
    await refused(422, pulls.create(wish));
    await refused(422, pulls.create({ ...wish, head: "nothing" }));
    await refused(422, pulls.create({ ...wish, head: "nowhere" }));
  });
  await check("pulls.update; strangers may not", async () => {
    const { data } = await pulls.update({ ...pull, title: "A seal of silicone", state: "closed" });
    assert.deepEqual([data.title, data.state], ["A seal of silicone", "closed"]);
    await pulls.update({ ...pull, title: "Give the tap a new seal", state: "open" });
    await refused(403, rita.rest.pulls.update({ ...pull, title: "Mine" }));
    await refused(422, pulls.update({ ...pull, base: "nowhere" }));
  });
  await check("pulls.requestReviewers, listRequestedReviewers, removeRequestedReviewers", async () => {
    const asked = async () => (await pulls.listRequestedReviewers(pull)).data.users.map(({ login }) => login);
    await pulls.requestReviewers({ ...pull, reviewers: ["rita", "octo"] });
    assert.deepEqual(await asked(), ["rita", "octo"]);
    await refused(422, pulls.requestReviewers({ ...pull, reviewers: ["maya"] }));
    await refused(422, pulls.requestReviewers({ ...pull, reviewers: ["mallory"] }));
    await pulls.removeRequestedReviewers({ ...pull, reviewers: ["rita"] });
    await octo.rest.pulls.createReview({ ...pull, event: "APPROVE" });
    assert.deepEqual(await asked(), []);
  });
}
