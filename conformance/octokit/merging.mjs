// Merging pull requests in every way, and what comes of it: for the branch, the issue and the timeline.

import assert from "node:assert/strict";

export default async function testify({ check, refused, garden, maya, rita, bot }) {
  const { pulls, git, repos, issues } = maya.rest;
  const tip = async (branch) => (await git.getRef({ ...garden, ref: `heads/${branch}` })).data.object.sha;
  const branch = async (name, path, text, from = "main") => {
    await git.createRef({ ...garden, ref: `refs/heads/${name}`, sha: await tip(from) });
    const file = { ...garden, path, branch: name, message: `Write ${path}`, content: btoa(text) };
    return (await repos.createOrUpdateFileContents(file)).data.commit.sha;
  };
  const pull = async (head, base, body) =>
    (await pulls.create({ ...garden, title: `Take ${head}`, head, base, body })).data.number;

  await check("pulls.merge: a commit with two parents; what the text closes is closed; twice is refused", async () => {
    const seal = { ...garden, pull_number: 2 };
    await refused(404, pulls.checkIfMerged(seal));
    const head = await tip("new-seal");
    const before = await tip("main");
    await refused(409, pulls.merge({ ...seal, sha: before }), /Head branch was modified/);
    await refused(403, rita.rest.pulls.merge(seal));
    const { data } = await pulls.merge({ ...seal, sha: head });
    assert.deepEqual([data.merged, data.message, data.sha], [true, "Pull Request successfully merged", await tip("main")]);
    const commit = (await git.getCommit({ ...garden, commit_sha: data.sha })).data;
    assert.deepEqual(commit.parents.map(({ sha }) => sha), [before, head]);
    assert.match(commit.message, /^Merge pull request #2 from octo\/new-seal\n\nGive the tap a new seal/);
    assert.equal((await pulls.checkIfMerged(seal)).status, 204);
    const { data: after } = await pulls.get(seal);
    assert.deepEqual([after.state, after.merged, after.merge_commit_sha, after.merged_by.login], ["closed", true, data.sha, "maya"]);
    assert.equal((await issues.get({ ...garden, issue_number: 1 })).data.state, "closed");
    const words = (await issues.listEventsForTimeline({ ...garden, issue_number: 2 })).data.map(({ event }) => event);
    assert.deepEqual(words.slice(-2), ["merged", "closed"]);
    await refused(405, pulls.merge(seal), /not mergeable/);
  });

  await check("pulls.merge: squashed and rebased; a draft and a conflict are refused", async () => {
    await branch("beds", "beds.md", "three");
    const before = await tip("main");
    const squashed = await pulls.merge({ ...garden, pull_number: await pull("beds", "main"), merge_method: "squash", commit_title: "All beds" });
    const one = (await git.getCommit({ ...garden, commit_sha: squashed.data.sha })).data;
    assert.deepEqual([one.parents.map(({ sha }) => sha), one.message.split("\n")[0]], [[before], "All beds"]);
    await branch("path", "path.md", "gravel", "new-seal");
    const rebased = await pulls.merge({ ...garden, pull_number: await pull("path", "main"), merge_method: "rebase" });
    const last = (await git.getCommit({ ...garden, commit_sha: rebased.data.sha })).data;
    assert.deepEqual([last.message, last.author.name, last.parents.length], ["Write path.md", "Maya", 1]);
    await branch("left", "side.md", "left");
    await branch("right", "side.md", "right");
    await pulls.merge({ ...garden, pull_number: await pull("left", "main") });
    await refused(405, pulls.merge({ ...garden, pull_number: await pull("right", "main") }), /not mergeable/);
    await branch("sketch", "sketch.md", "perhaps");
    const draft = (await pulls.create({ ...garden, title: "Sketch", head: "sketch", base: "main", draft: true })).data;
    await refused(405, pulls.merge({ ...garden, pull_number: draft.number }), /still a draft/);
  });

  await check("pulls.updateBranch: the base is merged into the head; with nothing new it is refused", async () => {
    const number = await pull("sketch", "main").catch(() => 0);
    assert.equal(number, 0, "there is one already");
    const [open] = (await pulls.list({ ...garden, head: "octo:sketch" })).data;
    await branch("more", "more.md", "more");
    await pulls.merge({ ...garden, pull_number: await pull("more", "main") });
    await maya.graphql("mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { clientMutationId } }", { id: open.node_id });
    const at = { ...garden, pull_number: open.number };
    await refused(422, pulls.updateBranch({ ...at, expected_head_sha: await tip("main") }));
    assert.equal((await pulls.updateBranch(at)).status, 202);
    const commit = (await git.getCommit({ ...garden, commit_sha: await tip("sketch") })).data;
    assert.deepEqual(commit.parents.map(({ sha }) => sha), [open.head.sha, await tip("main")]);
    await refused(422, pulls.updateBranch(at), /no new commits/);
  });

  await check("GraphQL: mergePullRequest with a headline; a token that may not push is refused", async () => {
    await branch("last", "last.md", "last");
    const number = await pull("last", "main");
    const id = (await pulls.get({ ...garden, pull_number: number })).data.node_id;
    const text = `mutation ($id: ID!) { mergePullRequest(input: { pullRequestId: $id, mergeMethod: SQUASH, commitHeadline: "The last" }) {
      pullRequest { merged mergeCommit { messageHeadline } } } }`;
    await assert.rejects(rita.graphql(text, { id }), /not accessible/);
    const { mergePullRequest } = await bot.graphql(text, { id });
    assert.deepEqual(mergePullRequest.pullRequest, { merged: true, mergeCommit: { messageHeadline: "The last" } });
  });
}
