// Witness of REST: octokit calls every route, and every answer is held against GitHub's own description of it.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import { Octokit } from "octokit";
import { inWorld, witness } from "./world.mjs";

const description = createRequire(import.meta.url)("@octokit/openapi").schemas["api.github.com"];

export default async function testify() {
  const { rows, check } = witness("octokit 5.0.5");
  const validate = validator();
  await inWorld(async (world) => {
    /** An octokit of somebody, which checks every answer. */
    const as = (login) => {
      const octokit = new Octokit({ baseUrl: world.api, auth: world.tokens[login] ?? login, retry: { enabled: false }, throttle: { enabled: false } });
      octokit.hook.after("request", (answer, { method, url }) => validate(method, url, answer));
      return octokit;
    };
    const [maya, rita, bot, octo] = ["maya", "rita", "github-actions[bot]", "octo"].map(as);
    const garden = { owner: "octo", repo: "garden" };
    const refused = (status, promise) =>
      promise.then(
        () => assert.fail("it was not refused"),
        (error) => assert.equal(error.status, status, error.message),
      );
    const { issues, pulls, git, repos, reactions, checks, users, rateLimit } = maya.rest;

    await check("users.getAuthenticated, rateLimit.get", async () => {
      assert.equal((await users.getAuthenticated()).data.login, "maya");
      assert.ok((await rateLimit.get()).data.rate.remaining > 4000);
    });
    await check("repos.get, repos.getCollaboratorPermissionLevel", async () => {
      assert.equal((await repos.get(garden)).data.default_branch, "main");
      const level = await repos.getCollaboratorPermissionLevel({ ...garden, username: "rita" });
      assert.equal(level.data.permission, "read");
    });
    await check("issues.get, listForRepo", async () => {
      assert.equal((await issues.get({ ...garden, issue_number: 1 })).data.user.login, "mallory");
      const numbers = (await issues.listForRepo(garden)).data.map(({ number }) => number);
      assert.deepEqual(numbers, [3, 2, 1]);
    });
    await check("issues.createComment, get, update, list, delete", async () => {
      const { data } = await issues.createComment({ ...garden, issue_number: 1, body: "Six" });
      const comment = { ...garden, comment_id: data.id };
      await issues.updateComment({ ...comment, body: "Seven" });
      assert.equal((await issues.getComment(comment)).data.body, "Seven");
      assert.equal((await issues.listComments({ ...garden, issue_number: 1 })).data.at(-1).body, "Seven");
      await issues.deleteComment(comment);
      await refused(404, issues.getComment(comment));
    });
    await check("issues.createComment refuses what is too long or blank", async () => {
      await refused(422, issues.createComment({ ...garden, issue_number: 1, body: "x".repeat(65_537) }));
      await refused(422, issues.createComment({ ...garden, issue_number: 1, body: " " }));
    });
    await check("labels: create, get, list, add, remove", async () => {
      await issues.createLabel({ ...garden, name: "wet", color: "0052cc", description: "Water" });
      assert.equal((await issues.getLabel({ ...garden, name: "wet" })).data.color, "0052cc");
      await refused(422, issues.createLabel({ ...garden, name: "wet", color: "0052cc" }));
      await issues.addLabels({ ...garden, issue_number: 3, labels: ["wet"] });
      const names = (await issues.listLabelsOnIssue({ ...garden, issue_number: 3 })).data.map(({ name }) => name);
      assert.deepEqual(names, ["help wanted", "wet"]);
      await issues.removeLabel({ ...garden, issue_number: 3, name: "wet" });
      assert.equal((await issues.listLabelsForRepo(garden)).data.length, 3);
    });
    await check("reactions: on an issue and on a comment", async () => {
      const { data, status } = await reactions.createForIssue({ ...garden, issue_number: 1, content: "eyes" });
      assert.equal(status, 201);
      assert.equal((await reactions.createForIssue({ ...garden, issue_number: 1, content: "eyes" })).status, 200);
      assert.equal((await reactions.listForIssue({ ...garden, issue_number: 1, content: "eyes" })).data.length, 1);
      await reactions.deleteForIssue({ ...garden, issue_number: 1, reaction_id: data.id });
      const [comment] = (await issues.listComments({ ...garden, issue_number: 1 })).data;
      const on = { ...garden, comment_id: comment.id };
      const left = await reactions.createForIssueComment({ ...on, content: "hooray" });
      assert.equal((await reactions.listForIssueComment(on)).data[0].content, "hooray");
      await reactions.deleteForIssueComment({ ...on, reaction_id: left.data.id });
    });
    await check("paginate", async () => {
      for (let n = 0; n < 7; n += 1) await issues.createComment({ ...garden, issue_number: 3, body: `${n}` });
      const all = await maya.paginate(issues.listComments, { ...garden, issue_number: 3, per_page: 3 });
      assert.deepEqual(all.map(({ body }) => body), ["0", "1", "2", "3", "4", "5", "6"]);
    });
    await check("pulls.get, list, listFiles, listCommits, as a diff", async () => {
      const pull = { ...garden, pull_number: 2 };
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
    await check("repos.getContent of a file and a folder, getReadme", async () => {
      const file = (await repos.getContent({ ...garden, path: "greenhouse/door.rs" })).data;
      assert.match(Buffer.from(file.content, "base64").toString(), /pub fn shut/);
      const folder = (await repos.getContent({ ...garden, path: "greenhouse" })).data;
      assert.deepEqual(folder.map(({ path }) => path), ["greenhouse/door.rs"]);
      assert.equal((await repos.getReadme(garden)).data.name, "README.md");
      await refused(404, repos.getContent({ ...garden, path: "cellar" }));
    });
    await check("repos.listCommits, getCommit", async () => {
      const [newest] = (await repos.listCommits(garden)).data;
      assert.equal(newest.author.login, "maya");
      assert.equal((await repos.getCommit({ ...garden, ref: "main" })).data.sha, newest.sha);
    });
    await check("checks: create, update, get, listForRef; people may not", async () => {
      const run = { ...garden, name: "drip", head_sha: (await pulls.get({ ...garden, pull_number: 2 })).data.head.sha };
      await refused(403, checks.create(run));
      const { data } = await bot.rest.checks.create(run);
      assert.equal(data.status, "in_progress");
      const output = { title: "Dry", summary: "No drop" };
      await bot.rest.checks.update({ ...garden, check_run_id: data.id, conclusion: "success", output });
      assert.equal((await checks.get({ ...garden, check_run_id: data.id })).data.output.title, "Dry");
      const { check_runs } = (await checks.listForRef({ ...garden, ref: "new-seal" })).data;
      assert.deepEqual(check_runs.map(({ conclusion }) => conclusion), ["success"]);
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
    await check("an ETag is answered 304", async () => {
      const { headers } = await issues.get({ ...garden, issue_number: 2 });
      assert.ok(headers.etag);
      await refused(304, issues.get({ ...garden, issue_number: 2, headers: { "if-none-match": headers.etag } }));
      await issues.createComment({ ...garden, issue_number: 2, body: "New" });
      await issues.get({ ...garden, issue_number: 2, headers: { "if-none-match": headers.etag } });
    });
    await check("wrong, weak and foreign tokens are refused", async () => {
      await refused(401, as("ghp_wrong").rest.users.getAuthenticated());
      await refused(403, as(world.read_only).rest.issues.createComment({ ...garden, issue_number: 1, body: "x" }));
      await refused(404, maya.rest.repos.get({ owner: "octo", repo: "attic" }));
      await refused(404, rita.rest.repos.get({ owner: "octo", repo: "cellar" }));
      assert.equal((await octo.rest.repos.get({ owner: "octo", repo: "cellar" })).data.private, true);
    });
  });
  return rows;
}

/** Holds an answer against the schema that GitHub publishes for its route and status. */
function validator() {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true });
  addFormats(ajv);
  ajv.addSchema(asJsonSchema(description), "github");
  const pointer = (...keys) => keys.map((key) => key.replaceAll("~", "~0").replaceAll("/", "~1")).map(encodeURIComponent).join("/");
  return (method, url, { status, data }) => {
    const path = template(url.replace(/^https?:\/\/[^/]+/, "").replace(/\?.*/, ""));
    const described = description.paths[path];
    const response = described[method.toLowerCase()].responses[status];
    assert.ok(response, `GitHub never answers ${status} to ${method} ${path}`);
    if (status === 204 || typeof data === "string") return;
    const referred = response.$ref ? response.$ref.slice(2).split("/") : ["paths", path, method.toLowerCase(), "responses", `${status}`];
    const check = ajv.getSchema(`github#/${pointer(...referred, "content", "application/json", "schema")}`);
    assert.ok(check, `no schema for ${method} ${path}`);
    if (!check(data)) {
      const said = check.errors.slice(0, 5).map(({ instancePath, message }) => `${instancePath} ${message}`);
      assert.fail(`${method} ${path} is not as GitHub describes it:\n${said.join("\n")}`);
    }
  };
}

/** The path as GitHub describes it; the next page of a list is asked for by its whole address. */
function template(path) {
  if (description.paths[path]) return path;
  const fits = (known) => new RegExp(`^${known.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`).test(path);
  const found = Object.keys(description.paths).filter(fits);
  assert.equal(found.length, 1, `GitHub has no ${path}`);
  return found[0];
}

/** OpenAPI 3.0 says `nullable` where JSON Schema has a type or an alternative. */
function asJsonSchema(node) {
  if (Array.isArray(node)) return node.map(asJsonSchema);
  if (node === null || typeof node !== "object") return node;
  const { nullable, example, examples, ...rest } = node;
  const schema = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, asJsonSchema(value)]));
  return nullable === true ? { anyOf: [schema, { type: "null" }] } : schema;
}
