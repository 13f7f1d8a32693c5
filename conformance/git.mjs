// Witness of git over HTTP: git itself.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { graphql, inWorld, run, witness } from "./world.mjs";

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
    await check("push to a pull request's branch, which follows", async () => {
      await told("checkout", "--quiet", "new-seal");
      const oid = await commit("hose.rs", "pub fn hose() {}\n");
      await told("push", "--quiet", by("maya"), "new-seal");
      assert.deepEqual(await head(), { headRefOid: oid, changedFiles: 2 });
      await told("fetch", "--quiet", "origin", "refs/pull/2/head");
      assert.equal(await told("rev-parse", "FETCH_HEAD"), oid);
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
    });
  });
  return rows;
}
