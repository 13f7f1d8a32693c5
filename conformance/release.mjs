// Rehearsal of a release: a push to an empty repository, `scripts/publish` with git and gh, and the launcher of the tag.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { recorder } from "./recorder.mjs";
import { inWorld, rest, run, witness } from "./world.mjs";

const PROGRAM = '#!/bin/sh\necho "started with $1"\nexit 7\n';

export default async function testify() {
  const { rows, check } = witness("git, gh and the launcher");
  await inWorld(async (world) => {
    const { url: proxy, end } = await recorder(world.api);
    const source = join(world.folder, "agent");
    const assets = join(world.folder, "assets");
    const remote = `${world.api}/octo/agent.git`.replace("://", `://x-access-token:${world.tokens.octo}@`);
    const env = {
      HOME: world.folder,
      PATH: `${join(process.env.GH_NEW, "..")}:${process.env.PATH}`,
      GH_CONFIG_DIR: world.folder,
      GH_HOST: "github.localhost",
      GH_REPO: "github.localhost/octo/agent",
      GH_TOKEN: world.tokens.octo,
      GH_PROMPT_DISABLED: "1",
      GH_NO_UPDATE_NOTIFIER: "1",
      http_proxy: proxy,
      no_proxy: "127.0.0.1",
    };
    const told = async (program, args, cwd = source) => {
      const { code, stdout, stderr } = await run(program, args, { cwd, env });
      assert.equal(code, 0, stderr + stdout);
      return stdout.trim();
    };
    /** Starts the launcher of a checkout as a runner does. */
    const launched = (checkout) =>
      run("node", [join(checkout, "launch/main.mjs")], {
        cwd: world.folder,
        env: {
          RUNNER_TOOL_CACHE: join(world.folder, "tools"),
          GITHUB_SERVER_URL: world.api,
          GITHUB_API_URL: world.api,
          GITHUB_ACTION_REPOSITORY: "octo/agent",
        },
      });

    await check("a push to an empty repository; without a release the action says so in one line", async () => {
      for (const part of ["launch", "scripts"]) cpSync(join(process.env.REPO_ROOT, part), join(source, part), { recursive: true });
      writeFileSync(join(source, "launch/sums.json"), '{ "version": null, "sums": {} }\n');
      await told("git", ["init", "--quiet", "--initial-branch=main"]);
      await told("git", ["add", "."]);
      await told("git", ["commit", "--quiet", "-m", "All of it"]);
      await told("git", ["remote", "add", "origin", remote]);
      await told("git", ["push", "--quiet", "origin", "main"]);
      const { code, stdout } = await launched(source);
      assert.equal(code, 1);
      assert.match(stdout, /^::error title=fro-bot::this commit of the action belongs to no release[^\n]*\n$/);
    });
    await check("scripts/publish: checksums, tags, a release with its files", async () => {
      mkdirSync(assets);
      writeFileSync(join(assets, "fro-bot-linux-x64-musl"), PROGRAM, { mode: 0o755 });
      writeFileSync(join(assets, "fro-bot-linux-x64-musl.sbom.json"), "{}\n");
      await told(join(source, "scripts/publish"), ["0.1.0", assets]);
      const { body } = await rest(world, "/repos/octo/agent/releases/latest");
      assert.deepEqual([body.tag_name, body.draft], ["v0.1.0", false]);
      const files = ["SHA256SUMS", "fro-bot-linux-x64-musl", "fro-bot-linux-x64-musl.sbom.json"];
      assert.deepEqual(body.assets.map(({ name }) => name).sort(), files);
      const refs = (await told("git", ["ls-remote", "origin", "main", "v0", "v0.1.0"])).split("\n").map((line) => line.split("\t"));
      assert.deepEqual(refs.map(([, name]) => name), ["refs/heads/main", "refs/tags/v0", "refs/tags/v0.1.0"]);
      assert.equal(new Set(refs.map(([oid]) => oid)).size, 1);
    });
    await check("`uses: …@v0`: the launcher fetches what was released, and nothing else", async () => {
      const action = join(world.folder, "action");
      await told("git", ["clone", "--quiet", "--branch", "v0", `${world.api}/octo/agent.git`, action], world.folder);
      const { code, stdout } = await launched(action);
      assert.deepEqual([code, stdout], [7, "started with action\n"]);
      writeFileSync(join(action, "launch/sums.json"), '{ "version": "0.1.0", "sums": { "linux-x64-musl": "00" } }');
      const other = await launched(action);
      assert.match(other.stdout, /does not have the SHA-256 that this version of the action expects/);
      assert.equal(other.code, 1);
    });
    await check("machines without a binary are refused at once, with the reason", async () => {
      const { platform } = await import(pathToFileURL(join(process.env.REPO_ROOT, "launch/platform.mjs")));
      const said = (machine) => {
        try {
          return platform({ system: "linux", architecture: "x64", glibc: true, ...machine });
        } catch ({ message }) {
          return message.split("\n")[0];
        }
      };
      assert.equal(said({}), "linux-x64-musl");
      assert.match(said({ system: "darwin" }), /does not run on darwin: the wall/);
      assert.match(said({ architecture: "arm64" }), /does not run on arm64: no OpenCode engine is pinned/);
      assert.match(said({ glibc: false }), /as on Alpine: the pinned OpenCode engine needs it/);
    });
    await end();
  });
  return rows;
}
