// What git holds: references, commits, trees, blobs and files, and what checks say about commits.

import assert from "node:assert/strict";

export default async function testify({ check, refused, garden, maya, rita, bot }) {
  const { git, repos, checks, pulls } = maya.rest;
  await check("git: refs, commits, trees, blobs", async () => {
    const { object } = (await git.getRef({ ...garden, ref: "heads/main" })).data;
    const commit = (await git.getCommit({ ...garden, commit_sha: object.sha })).data;
    assert.equal(commit.message, "Put a tap in the greenhouse");
    const tree = (await git.getTree({ ...garden, tree_sha: commit.tree.sha, recursive: "1" })).data.tree;
    assert.deepEqual(tree.map(({ path }) => path), ["README.md", "greenhouse", "greenhouse/door.rs", "tap.rs"]);
    const blob = (await git.getBlob({ ...garden, file_sha: tree.at(-1).sha })).data;
    assert.match(Buffer.from(blob.content, "base64").toString(), /let seal = "rubber";/);
    const made = (await git.createBlob({ ...garden, content: "soil" })).data;
    assert.equal(atob((await git.getBlob({ ...garden, file_sha: made.sha })).data.content), "soil");
  });
  await check("git: a tree and a commit are made", async () => {
    const { object } = (await git.getRef({ ...garden, ref: "heads/main" })).data;
    const entry = { path: "greenhouse/rose.txt", mode: "100644", type: "blob", content: "red" };
    const gone = { path: "greenhouse/door.rs", mode: "100644", type: "blob", sha: null };
    const tree = (await git.createTree({ ...garden, base_tree: object.sha, tree: [entry, gone] })).data;
    const made = { ...garden, message: "A rose", tree: tree.sha, parents: [object.sha] };
    const commit = (await git.createCommit(made)).data;
    assert.deepEqual([commit.author.name, commit.parents[0].sha], ["Maya", object.sha]);
    await git.createRef({ ...garden, ref: "refs/heads/rose", sha: commit.sha });
    const folder = (await repos.getContent({ ...garden, path: "greenhouse", ref: "rose" })).data;
    assert.deepEqual(folder.map(({ name }) => name), ["rose.txt"]);
    await refused(422, git.createCommit({ ...made, tree: "f".repeat(40) }));
  });
  await check("git: a branch is made, moved and deleted; protected ones are not", async () => {
    const main = (await git.getRef({ ...garden, ref: "heads/main" })).data.object.sha;
    const head = (await git.getRef({ ...garden, ref: "heads/new-seal" })).data.object.sha;
    await git.createRef({ ...garden, ref: "refs/heads/copy", sha: main });
    await refused(422, git.createRef({ ...garden, ref: "refs/heads/copy", sha: main }));
    await git.updateRef({ ...garden, ref: "heads/copy", sha: head });
    await refused(422, git.updateRef({ ...garden, ref: "heads/copy", sha: main }));
    assert.equal((await git.listMatchingRefs({ ...garden, ref: "heads/co" })).data[0].object.sha, head);
    await git.deleteRef({ ...garden, ref: "heads/copy" });
    await refused(404, git.getRef({ ...garden, ref: "heads/copy" }));
    await refused(422, git.updateRef({ ...garden, ref: "heads/main", sha: head }));
    await refused(404, rita.rest.git.createRef({ ...garden, ref: "refs/heads/rita", sha: main }));
  });
  await check("repos.getBranch, and whether it is protected", async () => {
    const branch = async (name) => (await repos.getBranch({ ...garden, branch: name })).data;
    assert.equal((await branch("main")).protected, true);
    assert.deepEqual([(await branch("new-seal")).protected, (await branch("new-seal")).commit.author.login], [false, "maya"]);
    await refused(404, repos.getBranch({ ...garden, branch: "nowhere" }));
  });
  await check("repos.getContent of a file and a folder, getReadme", async () => {
    const file = (await repos.getContent({ ...garden, path: "greenhouse/door.rs" })).data;
    assert.match(Buffer.from(file.content, "base64").toString(), /pub fn shut/);
    const root = (await repos.getContent({ ...garden, path: "" })).data;
    assert.deepEqual(root.map(({ type }) => type), ["file", "dir", "file"]);
    const folder = (await repos.getContent({ ...garden, path: "greenhouse" })).data;
    assert.deepEqual(folder.map(({ path }) => path), ["greenhouse/door.rs"]);
    assert.equal((await repos.getReadme(garden)).data.name, "README.md");
    await refused(404, repos.getContent({ ...garden, path: "cellar" }));
  });
  await check("repos.listCommits, getCommit", async () => {
    const [newest] = (await repos.listCommits(garden)).data;
    assert.equal(newest.author.login, "maya");
    assert.equal((await repos.getCommit({ ...garden, ref: "main" })).data.sha, newest.sha);
    const seal = { ...garden, ref: "new-seal" };
    const { stats, files } = (await repos.getCommit(seal)).data;
    assert.deepEqual([stats, files.map(({ filename }) => filename)], [{ total: 4, additions: 3, deletions: 1 }, ["tap.rs"]]);
    assert.match((await repos.getCommit({ ...seal, mediaType: { format: "diff" } })).data, /^diff --git a\/tap.rs/);
    assert.match((await repos.getCommit({ ...seal, mediaType: { format: "patch" } })).data, /^From /);
    assert.match((await repos.getCommit({ ...seal, mediaType: { format: "sha" } })).data, /^[0-9a-f]{40}$/);
    const on = (await repos.listCommits({ ...garden, path: "README.md" })).data;
    assert.deepEqual(on.map(({ commit }) => commit.message), ["Dig the first bed"]);
  });
  await check("repos.compareCommitsWithBasehead, listPullRequestsAssociatedWithCommit", async () => {
    const compare = async (basehead) => (await repos.compareCommitsWithBasehead({ ...garden, basehead })).data;
    const ahead = await compare("main...new-seal");
    assert.deepEqual(
      [ahead.status, ahead.ahead_by, ahead.behind_by, ahead.files.map(({ filename }) => filename)],
      ["ahead", 1, 0, ["tap.rs"]],
    );
    assert.equal(ahead.merge_base_commit.sha, ahead.base_commit.sha);
    assert.deepEqual([(await compare("new-seal...main")).status, (await compare("main...main")).status], ["behind", "identical"]);
    await refused(404, repos.compareCommitsWithBasehead({ ...garden, basehead: "main...nowhere" }));
    const commit_sha = ahead.commits[0].sha;
    const numbers = (await repos.listPullRequestsAssociatedWithCommit({ ...garden, commit_sha })).data.map(({ number }) => number);
    assert.ok(numbers.includes(2));
  });
  await check("git.createCommit by somebody else at another time, told in UTC", async () => {
    const { object } = (await git.getRef({ ...garden, ref: "heads/main" })).data;
    const tree = (await git.getCommit({ ...garden, commit_sha: object.sha })).data.tree.sha;
    const author = { name: "Ada", email: "ada@garden.example", date: "2026-05-06T09:00:00+02:00" };
    const made = (await git.createCommit({ ...garden, message: "Again", tree, parents: [object.sha], author })).data;
    assert.deepEqual([made.author, made.committer.name], [{ ...author, date: "2026-05-06T07:00:00Z" }, "Ada"]);
  });
  await check("contents: in lines of 60, links, and a file over a megabyte", async () => {
    const { object } = (await git.getRef({ ...garden, ref: "heads/main" })).data;
    const big = (await git.createBlob({ ...garden, content: "x".repeat(1_100_000) })).data.sha;
    const entry = { mode: "100644", type: "blob" };
    const tree = (await git.createTree({ ...garden, base_tree: object.sha, tree: [
      { ...entry, path: "big.txt", sha: big },
      { path: "link", mode: "120000", type: "blob", content: "README.md" },
      { ...entry, path: 'a "quoted" name.txt', content: "said" },
    ] })).data.sha;
    const { sha } = (await git.createCommit({ ...garden, message: "Odd", tree, parents: [object.sha] })).data;
    await git.createRef({ ...garden, ref: "refs/heads/odd", sha });
    const at = async (path) => (await repos.getContent({ ...garden, path, ref: "odd" })).data;
    const tap = await at("tap.rs");
    assert.deepEqual(tap.content.trimEnd().split("\n").slice(0, -1).map(({ length }) => length).filter((length) => length !== 60), []);
    assert.ok(tap.content.endsWith("\n"));
    const { content, encoding, size } = await at("big.txt");
    assert.deepEqual([content, encoding, size], ["", "none", 1_100_000]);
    const link = await at("link");
    assert.deepEqual([link.type, link.target], ["symlink", "README.md"]);
    assert.equal(atob((await at('a "quoted" name.txt')).content), "said");
    const changed = (await repos.getCommit({ ...garden, ref: "odd" })).data.files.map(({ filename }) => filename);
    assert.deepEqual(changed.sort(), ['a "quoted" name.txt', "big.txt", "link"]);
  });
  await check("checks: create, update, get, listForRef; people may not", async () => {
    const run = { ...garden, name: "drip", head_sha: (await pulls.get({ ...garden, pull_number: 2 })).data.head.sha };
    await refused(403, checks.create(run));
    const { data } = await bot.rest.checks.create(run);
    assert.equal(data.status, "queued");
    const output = { title: "Dry", summary: "No drop" };
    await bot.rest.checks.update({ ...garden, check_run_id: data.id, conclusion: "success", output });
    assert.equal((await checks.get({ ...garden, check_run_id: data.id })).data.output.title, "Dry");
    const { check_runs } = (await checks.listForRef({ ...garden, ref: "new-seal", check_name: "drip" })).data;
    assert.deepEqual(check_runs.map(({ conclusion }) => conclusion), ["success"]);
  });
  await check("checks: all that is said comes back; a second one of the same name stands before the first", async () => {
    const head_sha = (await pulls.get({ ...garden, pull_number: 2 })).data.head.sha;
    const at = "2026-05-05T10:00:00Z";
    const annotation = { path: "tap.rs", start_line: 6, end_line: 6, start_column: 1, end_column: 4, annotation_level: "warning", message: "Hard" };
    const said = { external_id: "7", details_url: "https://drip.example/7", status: "in_progress", started_at: at };
    const output = { title: "Hm", summary: "Well", text: "More", annotations: [annotation] };
    const first = (await bot.rest.checks.create({ ...garden, name: "flow", head_sha, ...said, output })).data;
    assert.deepEqual(
      [first.status, first.external_id, first.details_url, first.started_at, first.output.text, first.app.slug],
      ["in_progress", "7", said.details_url, at, "More", "github-actions"],
    );
    const again = { ...garden, check_run_id: first.id, output: { ...output, annotations: [{ ...annotation, message: "Cold" }] } };
    assert.equal((await bot.rest.checks.update(again)).data.output.annotations_count, 2);
    const listed = (await checks.listAnnotations({ ...garden, check_run_id: first.id })).data;
    assert.deepEqual(listed.map(({ message, start_column }) => [message, start_column]), [["Hard", 1], ["Cold", 1]]);
    const second = (await bot.rest.checks.create({ ...garden, name: "flow", head_sha })).data;
    assert.equal(second.check_suite.id, first.check_suite.id);
    const named = async (filter) =>
      (await checks.listForRef({ ...garden, ref: "new-seal", check_name: "flow", filter })).data.check_runs.map(({ id }) => id);
    assert.deepEqual([await named(), await named("all")], [[second.id], [second.id, first.id]]);
  });
  await check("checks: what GitHub does not take", async () => {
    const head_sha = (await pulls.get({ ...garden, pull_number: 2 })).data.head.sha;
    const create = (more) => bot.rest.checks.create({ ...garden, name: "flow", head_sha, ...more });
    const annotation = { path: "tap.rs", start_line: 6, end_line: 6, annotation_level: "warning", message: "Hard" };
    const output = (more) => ({ output: { title: "Hm", summary: "Well", ...more } });
    await refused(422, create({ status: "completed" }));
    await refused(422, create({ conclusion: "splendid" }));
    await refused(422, create({ output: { title: "Hm" } }));
    await refused(422, create({ output: { summary: "Hm" } }));
    await refused(422, create(output({ summary: "x".repeat(65_536) })));
    await refused(422, create(output({ annotations: Array(51).fill(annotation) })));
    await refused(422, create(output({ annotations: [{ ...annotation, annotation_level: "bad" }] })));
    await refused(422, create(output({ annotations: [{ ...annotation, end_line: 7, start_column: 1 }] })));
    await refused(422, create({ head_sha: "f".repeat(40) }));
    await refused(422, create({ details_url: "ftp://drip.example" }));
  });
  await check("repos.createCommitStatus, getCombinedStatusForRef, listCommitStatusesForRef, listBranches", async () => {
    const sha = (await maya.rest.repos.getBranch({ ...garden, branch: "new-seal" })).data.commit.sha;
    const made = (await maya.rest.repos.createCommitStatus({ ...garden, sha, state: "success", context: "ci/drip" })).data;
    assert.deepEqual([made.state, made.context, made.creator.login], ["success", "ci/drip", "maya"]);
    const { data } = await maya.rest.repos.getCombinedStatusForRef({ ...garden, ref: sha });
    assert.deepEqual([data.state, data.sha, data.statuses.map(({ id }) => id)], ["success", sha, [made.id]]);
    assert.equal((await maya.rest.repos.listCommitStatusesForRef({ ...garden, ref: "new-seal" })).data[0].id, made.id);
    const branches = (await maya.rest.repos.listBranches({ ...garden, protected: true })).data;
    assert.deepEqual(branches.map(({ name }) => name), ["main"]);
  });
}
