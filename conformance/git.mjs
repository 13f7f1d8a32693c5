// Witness of git over HTTP: git itself.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { graphql, inWorld, rest, run, witness } from "./world.mjs";

export default async function testify() {
  const { stdout } = await run("git", ["--version"]);
  const { rows, check } = witness(stdout.trim().replace("version ", ""));
  await inWorld(async (world) => {
    const by = (login, repo = "octo/garden") =>
      `${world.api}/${repo}.git`.replace("://", `://x-access-token:${world.tokens[login] ?? login}@`);
    const garden = join(world.folder, "garden");
    const git = (...args) => run("git", args, { cwd: garden });
    const told = async (...args) => {
      const { code, stdout, stderr } = await git(...args);
      assert.equal(code, 0, stderr);
      return stdout.trim();
    };
    const refused = async (words, ...args) => {
      const { code, stderr } = await git(...args);
      assert.notEqual(code, 0, "it was not refused");
      for (const word of words) assert.match(stderr, word);
    };
    const commit = async (file, contents) => {
      writeFileSync(join(garden, file), contents);
      await told("add", file);
      await told("commit", "--quiet", "-m", `Change ${file}`);
      return told("rev-parse", "HEAD");
    };
    const head = async () => {
      const query = `{ repository(owner: "octo", name: "garden") { pullRequest(number: 2) { headRefOid changedFiles } } }`;
      return (await graphql(world, query)).data.repository.pullRequest;
    };

    await check("clone anonymously, with the commits that the API tells", async () => {
      const { code, stderr } = await run("git", ["clone", "--quiet", world.clone, garden]);
      assert.equal(code, 0, stderr);
      assert.equal(await told("rev-parse", "origin/new-seal"), (await head()).headRefOid);
      assert.equal(await told("branch", "--show-current"), "main");
    });
    await check("clone shallow and blobless", async () => {
      for (const option of ["--depth=1", "--filter=blob:none"]) {
        const { code, stderr } = await run("git", ["clone", "--quiet", option, world.clone, `${garden}${option}`]);
        assert.equal(code, 0, stderr);
      }
    });
    await check("fetch refs/pull/2/head", async () => {
      await told("fetch", "--quiet", "origin", "refs/pull/2/head");
      assert.equal(await told("rev-parse", "FETCH_HEAD"), (await head()).headRefOid);
    });
    await check("fetch refs/pull/2/merge: the trial merge, with both parents; a job is on it", async () => {
      await told("fetch", "--quiet", "origin", "refs/pull/2/merge");
      const parents = await told("rev-parse", "FETCH_HEAD^1", "FETCH_HEAD^2");
      assert.equal(parents, await told("rev-parse", "origin/main", "origin/new-seal"));
      const { merge_commit_sha, mergeable, mergeable_state } = (await rest(world, "/repos/octo/garden/pulls/2")).body;
      assert.deepEqual([merge_commit_sha, mergeable], [await told("rev-parse", "FETCH_HEAD"), true]);
      // A check of this world has failed.
      assert.equal(mergeable_state, "unstable");
      assert.equal(world.jobs.pull.environment.GITHUB_SHA, merge_commit_sha);
    });
    await check("push to a pull request's branch, which follows", async () => {
      await told("checkout", "--quiet", "new-seal");
      const oid = await commit("hose.rs", "pub fn hose() {}\n");
      await told("push", "--quiet", by("maya"), "new-seal");
      assert.deepEqual(await head(), { headRefOid: oid, changedFiles: 2 });
      await told("fetch", "--quiet", "origin", "refs/pull/2/head");
      assert.equal(await told("rev-parse", "FETCH_HEAD"), oid);
      await told("fetch", "--quiet", "origin", "refs/pull/2/merge");
      assert.equal(await told("rev-parse", "FETCH_HEAD^2"), oid);
    });
    await check("a branch that changes the same lines: dirty; deleted: closed; its commits in the base: merged", async () => {
      const pulls = "/repos/octo/garden/pulls";
      const open = async (head, base) =>
        (await rest(world, pulls, { login: "maya", method: "POST", body: { title: head, head, base } })).body.number;
      const at = async (number) => (await rest(world, `${pulls}/${number}`)).body;
      await told("checkout", "--quiet", "-b", "beds", "origin/main");
      await told("push", "--quiet", by("maya"), "beds");
      await told("checkout", "--quiet", "-b", "roses");
      const roses = await commit("bed.txt", "roses\n");
      await told("push", "--quiet", by("maya"), "roses");
      const [one, two] = [await open("roses", "beds"), await open("roses", "main")];
      assert.deepEqual([(await at(one)).mergeable, (await at(one)).mergeable_state], [true, "clean"]);
      await told("checkout", "--quiet", "beds");
      await commit("bed.txt", "tulips\n");
      await told("push", "--quiet", by("maya"), "beds");
      assert.deepEqual([(await at(one)).mergeable, (await at(one)).mergeable_state], [false, "dirty"]);
      await told("push", "--quiet", "--force", by("maya"), "roses:beds");
      const merged = await at(one);
      assert.deepEqual([merged.state, merged.merged, merged.merged_by.login, merged.merge_commit_sha], ["closed", true, "maya", roses]);
      assert.ok(merged.merged_at);
      await told("push", "--quiet", by("maya"), ":roses");
      const closed = await at(two);
      assert.deepEqual([closed.state, closed.merged, closed.merged_at, closed.mergeable_state], ["closed", false, null, "unknown"]);
      await told("checkout", "--quiet", "new-seal");
    });
    await check("a file over 100 MB is refused in GitHub's words", async () => {
      await told("checkout", "--quiet", "-b", "large");
      await commit("field.bin", Buffer.alloc(101 << 20));
      // As recorded in regro/libcfgraph#14.
      await refused(
        [/GH001: Large files detected/, /File field.bin is 101.00 MB; this exceeds GitHub's file size limit of 100.00 MB/],
        "push", by("maya"), "large",
      );
      await told("checkout", "--quiet", "new-seal");
      await told("branch", "--quiet", "-D", "large");
    });
    await check("push a new branch of several megabytes, in chunks", async () => {
      await told("checkout", "--quiet", "-b", "photos");
      const oid = await commit("photo.bin", randomBytes(5 << 20));
      await told("push", "--quiet", by("maya"), "photos");
      assert.equal((await told("ls-remote", "origin", "refs/heads/photos")).split("\t")[0], oid);
    });
    await check("a rewritten branch needs force", async () => {
      await told("commit", "--quiet", "--amend", "-m", "Another photo");
      await refused([/rejected/, /non-fast-forward|fetch first/], "push", by("maya"), "photos");
      await told("push", "--quiet", "--force", by("maya"), "photos");
    });
    await check("delete a branch", async () => {
      await told("push", "--quiet", by("maya"), ":photos");
      assert.equal(await told("ls-remote", "origin", "refs/heads/photos"), "");
    });
    await check("a protected branch is refused", async () => {
      const before = await told("ls-remote", "origin", "refs/heads/main");
      await refused([/GH006: Protected branch update failed for refs\/heads\/main/], "push", by("maya"), "HEAD:main");
      assert.equal(await told("ls-remote", "origin", "refs/heads/main"), before);
    });
    await check("refs/pull is refused", () =>
      refused([/deny updating a hidden ref/], "push", by("maya"), "HEAD:refs/pull/2/head"));
    await check("a reader, a read-only token and a wrong token may not push", async () => {
      await refused([/Permission to octo\/garden.git denied to rita/, /403/], "push", by("rita"), "HEAD:tulips");
      await refused([/Write access to repository not granted/], "push", by(world.read_only), "HEAD:tulips");
      await refused([/Authentication failed/], "push", by("ghp_wrong"), "HEAD:tulips");
      await refused([/could not read Username/], "push", world.clone, "HEAD:tulips");
    });
    await check("a private repository is there for its people only", async () => {
      const cellar = `${world.api}/octo/cellar.git`;
      await refused([/could not read Username/], "ls-remote", cellar);
      await refused([/Repository not found/], "ls-remote", by("mallory", "octo/cellar"));
      assert.equal(await told("ls-remote", by("octo", "octo/cellar")), "");
      // The older way: the token as the name.
      const named = cellar.replace("://", `://${world.tokens.octo}:x-oauth-basic@`);
      assert.equal(await told("ls-remote", named), "");
      await refused([/Authentication failed/], "ls-remote", cellar.replace("://", "://ghp_wrong:x-oauth-basic@"));
    });
  });
  return rows;
}
