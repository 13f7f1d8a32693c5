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
  await check("a draft; a diff that is too large is refused, and a file that is too large is told without its patch", async () => {
    const blob = async (text) => (await git.createBlob({ ...garden, content: text })).data.sha;
    const main = (await git.getRef({ ...garden, ref: "heads/main" })).data.object.sha;
    const branch = async (name, files) => {
      const tree = files.map(([path, sha]) => ({ path, mode: "100644", type: "blob", sha }));
      const made = (await git.createTree({ ...garden, base_tree: main, tree })).data.sha;
      const { sha } = (await git.createCommit({ ...garden, message: name, tree: made, parents: [main] })).data;
      await git.createRef({ ...garden, ref: `refs/heads/${name}`, sha });
      const { data } = await pulls.create({ ...garden, title: name, head: name, base: "main", draft: true });
      return { ...garden, pull_number: data.number };
    };
    const long = await branch("long", [["long.txt", await blob("weed\n".repeat(40_000))]]);
    assert.equal((await pulls.get(long)).data.mergeable_state, "draft");
    // The words are as recorded in vale-cli/vale-action#153 (lines) and cpp-linter/cpp-linter-action#249 (files).
    const diff = { mediaType: { format: "diff" } };
    await refused(406, pulls.get({ ...long, ...diff }), /exceeded the maximum number of lines \(20000\)/);
    const [file] = (await pulls.listFiles(long)).data;
    assert.deepEqual([file.additions, file.patch], [40_000, undefined]);
    const one = await blob("seed\n");
    const many = await branch("many", Array.from({ length: 301 }, (_, n) => [`seeds/${n}`, one]));
    await refused(406, pulls.get({ ...many, ...diff }), /exceeded the maximum number of files \(300\)\. Consider using 'List pull requests files' API/);
    assert.equal((await pulls.listFiles({ ...many, per_page: 100, page: 4 })).data.length, 1);
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
