// Witness of REST, GraphQL and git together: gh, an old one and a new one, each asserted on its output and the state.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { recorder } from "./recorder.mjs";
import { originally, reworded } from "./rewording.mjs";
import { graphql, inWorld, rest, run, witness } from "./world.mjs";

export default async function testify() {
  return [...(await testifyWith(process.env.GH_NEW)), ...(await testifyWith(process.env.GH_OLD))];
}

async function testifyWith(program) {
  const { stdout } = await run(program, ["--version"]);
  const { rows, check } = witness(`gh ${stdout.split(" ")[2]}`);
  await inWorld(async (world) => {
    const home = join(world.folder, "home");
    mkdirSync(home);
    // gh talks plain HTTP to this host only, and to our port only by way of a proxy.
    const { url: proxy, questions, end } = await recorder(world.api);
    const env = {
      HOME: home,
      GH_CONFIG_DIR: home,
      GH_HOST: "github.localhost",
      GH_TOKEN: world.tokens.maya,
      GH_PROMPT_DISABLED: "1",
      GH_NO_UPDATE_NOTIFIER: "1",
      NO_COLOR: "1",
      http_proxy: proxy,
    };
    const garden = join(world.folder, "garden");
    const gh = async (...args) => {
      const cwd = args.includes("-R") || args[0] === "api" || args[0] === "auth" ? home : garden;
      const { code, stdout, stderr } = await run(program, args, { cwd, env });
      assert.equal(code, 0, stderr + stdout);
      return stdout;
    };
    const git = async (...args) => {
      const { code, stdout, stderr } = await run("git", args, { cwd: garden, env });
      assert.equal(code, 0, stderr);
      return stdout.trim();
    };
    const there = ["-R", "octo/garden"];
    const comments = async (number) =>
      (await rest(world, `/repos/octo/garden/issues/${number}/comments`)).body.map(({ user, body }) => `${user.login}: ${body}`);

    mkdirSync(garden);
    const url = "http://github.localhost/octo/garden.git";
    const withToken = url.replace("://", `://x-access-token:${world.tokens.maya}@`);
    await git("clone", "--quiet", url, ".");

    await check("api", async () => {
      assert.equal(JSON.parse(await gh("api", "repos/octo/garden")).full_name, "octo/garden");
      assert.equal(await gh("api", "user", "--jq", ".login"), "maya\n");
      assert.equal(await gh("api", "graphql", "-f", "query={viewer{login}}", "--jq", ".data.viewer.login"), "maya\n");
      await gh("api", "repos/octo/garden/issues/3/comments", "-f", "body=From the API");
      assert.deepEqual(await comments(3), ["maya: From the API"]);
    });
    await check("issue view", async () => {
      const shown = await gh("issue", "view", "1", ...there);
      assert.match(shown, /title:\tThe floor is wet every morning\n/);
      assert.match(shown, /author:\tmallory( \(Mallory\))?\n/);
      assert.match(await gh("issue", "view", "1", ...there, "--comments"), /About two litres/);
      const told = JSON.parse(await gh("issue", "view", "1", ...there, "--json", "title,comments,labels,reactionGroups"));
      assert.deepEqual(told.labels.map(({ name }) => name), ["bug"]);
      assert.equal(told.comments[0].author.login, "rita");
      assert.deepEqual(told.reactionGroups, [{ content: "THUMBS_UP", users: { totalCount: 1 } }]);
    });
    await check("issue comment", async () => {
      assert.match(await gh("issue", "comment", "1", ...there, "--body", "Shut it"), /issues\/1#issuecomment-\d+\n/);
      assert.equal((await comments(1)).at(-1), "maya: Shut it");
    });
    await check("issue list", async () => {
      const rows = (await gh("issue", "list", ...there)).trim().split("\n").map((row) => row.split("\t").slice(0, 4));
      assert.deepEqual(rows, [
        ["3", "OPEN", "Grow tomatoes", "help wanted"],
        ["1", "OPEN", "The floor is wet every morning", "bug"],
      ]);
    });
    await check("issue list by words and labels, search issues", async () => {
      const numbers = async (...args) => JSON.parse(await gh(...args, "--json", "number")).map(({ number }) => number);
      assert.deepEqual(await numbers("issue", "list", ...there, "--search", "wet label:bug"), [1]);
      assert.deepEqual(await numbers("issue", "list", ...there, "--label", "help wanted"), [3]);
      assert.deepEqual(await numbers("pr", "list", ...there, "--search", "seal is:open"), [2]);
      assert.deepEqual(await numbers("search", "issues", "wet", "--repo", "octo/garden"), [1]);
    });
    await check("label list, api --paginate over pages of REST and GraphQL", async () => {
      assert.match(await gh("label", "list", ...there), /^bug\t/m);
      assert.equal(await gh("api", "--paginate", "repos/octo/garden/issues?per_page=1", "--jq", ".[].number"), "3\n2\n1\n");
      const query = `query ($endCursor: String) { repository(owner: "octo", name: "garden") {
        issues(first: 1, after: $endCursor, states: OPEN) { nodes { number } pageInfo { hasNextPage endCursor } } } }`;
      const jq = ".data.repository.issues.nodes[].number";
      assert.equal(await gh("api", "graphql", "--paginate", "-f", `query=${query}`, "--jq", jq), "1\n3\n");
    });
    await check("pr view", async () => {
      const shown = await gh("pr", "view", "2", ...there);
      assert.match(shown, /title:\tGive the tap a new seal\n/);
      assert.match(shown, /additions:\t3\ndeletions:\t1\n/);
      await rest(world, "/repos/octo/garden/check-runs", {
        login: "github-actions[bot]",
        method: "POST",
        body: { name: "drip", head_sha: await git("rev-parse", "origin/new-seal"), conclusion: "success" },
      });
      const fields = "headRefName,files,commits,statusCheckRollup,reviews,latestReviews,mergeable";
      const told = JSON.parse(await gh("pr", "view", "2", ...there, "--json", fields));
      assert.equal(told.headRefName, "new-seal");
      assert.deepEqual(told.files.map(({ path, additions }) => [path, additions]), [["tap.rs", 3]]);
      assert.equal(told.commits[0].oid, await git("rev-parse", "origin/new-seal"));
      assert.equal(told.commits[0].authors[0].login, "maya");
      const drip = told.statusCheckRollup.filter(({ name }) => name === "drip");
      assert.deepEqual(drip.map(({ conclusion }) => conclusion), ["SUCCESS"]);
    });
    await check("pr checks", async () => {
      const { stdout } = await run(program, ["pr", "checks", "2", ...there], { cwd: home, env });
      const rows = stdout.trim().split("\n").map((row) => row.split("\t").slice(0, 2));
      assert.ok(rows.some(([name, state]) => name === "test" && state === "fail"), stdout);
      assert.ok(rows.some(([name, state]) => name === "drip" && state === "pass"), stdout);
    });
    await check("run list, run view, and what the failed step wrote", async () => {
      const rows = (await gh("run", "list", ...there, "--branch", "new-seal")).trim().split("\n");
      assert.ok(rows.some((row) => row.includes(`${world.red_run}`) && row.includes("failure") && row.includes("CI")), rows.join("\n"));
      const shown = await gh("run", "view", `${world.red_run}`, ...there);
      assert.match(shown, /X Test/);
      assert.match(shown, /Process completed with exit code 101/);
      assert.match(await gh("run", "view", `${world.red_run}`, ...there, "--log-failed"), /^test\tTest\t\S+ the floor is wet$/m);
      assert.match(await gh("run", "view", `${world.red_run}`, ...there, "--log"), /^test\tSet up job\t/m);
    });
    await check("run cancel", async () => {
      const id = world.jobs.schedule.environment.GITHUB_RUN_ID;
      await gh("run", "cancel", id, ...there);
      const told = JSON.parse(await gh("run", "view", id, ...there, "--json", "status,conclusion,event"));
      assert.deepEqual(told, { status: "completed", conclusion: "cancelled", event: "schedule" });
    });
    await check("pr comment", async () => {
      await gh("pr", "comment", "2", ...there, "--body", "Rubber?");
      assert.deepEqual(await comments(2), ["maya: Rubber?"]);
      assert.match(await gh("pr", "view", "2", ...there, "--comments"), /Rubber\?/);
    });
    await check("pr review, ready, close, reopen", async () => {
      await gh("pr", "review", "2", ...there, "--comment", "--body", "Hm");
      const reviews = (await rest(world, "/repos/octo/garden/pulls/2/reviews")).body;
      assert.deepEqual([reviews.at(-1).state, reviews.at(-1).body], ["COMMENTED", "Hm"]);
      const told = async () => (await rest(world, "/repos/octo/garden/pulls/2")).body;
      await gh("pr", "ready", "2", ...there, "--undo");
      assert.equal((await told()).draft, true);
      await gh("pr", "ready", "2", ...there);
      assert.equal((await told()).draft, false);
      await gh("pr", "close", "2", ...there);
      assert.equal((await told()).state, "closed");
      await gh("pr", "reopen", "2", ...there);
      assert.equal((await told()).state, "open");
    });
    await check("pr diff", async () => {
      const diff = await gh("pr", "diff", "2", ...there);
      assert.equal(diff.trim(), await git("diff", "--full-index", "origin/main...origin/new-seal"));
    });
    await check("pr list", async () => {
      const [row, ...rest] = (await gh("pr", "list", ...there)).trim().split("\n");
      assert.deepEqual(row.split("\t").slice(0, 4), ["2", "Give the tap a new seal", "new-seal", "OPEN"]);
      assert.equal(rest.length, 0);
    });
    await check("pr checkout", async () => {
      await gh("pr", "checkout", "2");
      assert.equal(await git("branch", "--show-current"), "new-seal");
      assert.equal(await git("rev-parse", "HEAD"), await git("rev-parse", "origin/new-seal"));
    });
    await check("pr create", async () => {
      await git("checkout", "--quiet", "-b", "tulips", "origin/main");
      writeFileSync(join(garden, "tulips.txt"), "red\n");
      await git("add", "tulips.txt");
      await git("commit", "--quiet", "-m", "Plant tulips");
      await git("push", "--quiet", withToken, "tulips");
      const opened = await gh("pr", "create", "--title", "Tulips", "--body", "Red ones", "--base", "main", "--head", "tulips");
      const next = world.discussion + 1;
      assert.ok(opened.endsWith(`/octo/garden/pull/${next}\n`), opened);
      const { body } = await rest(world, `/repos/octo/garden/pulls/${next}`);
      assert.deepEqual(
        [body.title, body.user.login, body.head.sha, body.changed_files],
        ["Tulips", "maya", await git("rev-parse", "HEAD"), 1],
      );
    });
    await check("repo view", async () => {
      const shown = await gh("repo", "view", "octo/garden");
      assert.match(shown, /description:\tBeds, taps and a greenhouse\n/);
      assert.match(shown, /# Garden/);
    });
    await check("issue create, edit, close, reopen, lock, unlock, comment --edit-last", async () => {
      const opened = await gh("issue", "create", ...there, "--title", "Hose", "--body", "It leaks", "--label", "bug");
      const number = opened.match(/issues\/(\d+)\n$/)[1];
      const told = async () => (await rest(world, `/repos/octo/garden/issues/${number}`)).body;
      assert.deepEqual([(await told()).title, (await told()).labels[0].name], ["Hose", "bug"]);
      await gh("issue", "edit", number, ...there, "--title", "The hose", "--add-label", "help wanted", "--remove-label", "bug");
      assert.deepEqual([(await told()).title, (await told()).labels.map(({ name }) => name)], ["The hose", ["help wanted"]]);
      await gh("issue", "comment", number, ...there, "--body", "One");
      await gh("issue", "comment", number, ...there, "--edit-last", "--body", "Two");
      assert.deepEqual(await comments(number), ["maya: Two"]);
      await gh("issue", "close", number, ...there, "--reason", "not planned");
      assert.deepEqual([(await told()).state, (await told()).state_reason], ["closed", "not_planned"]);
      await gh("issue", "reopen", number, ...there);
      await gh("issue", "lock", number, ...there, "--reason", "resolved");
      assert.deepEqual([(await told()).locked, (await told()).active_lock_reason], [true, "resolved"]);
      await gh("issue", "unlock", number, ...there);
      assert.equal((await told()).locked, false);
      await gh("issue", "close", number, ...there);
    });
    // What follows asks for fields that the old gh does not know of.
    const isNew = program === process.env.GH_NEW;
    if (isNew) {
      await check("issue edit and pr edit: assignees, labels, reviewers", async () => {
        const told = async (number) => (await rest(world, `/repos/octo/garden/issues/${number}`)).body;
        await gh("issue", "edit", "3", ...there, "--add-assignee", "rita");
        assert.deepEqual((await told(3)).assignees.map(({ login }) => login), ["rita"]);
        await gh("issue", "edit", "3", ...there, "--remove-assignee", "rita");
        assert.deepEqual((await told(3)).assignees, []);
        await gh("pr", "edit", "2", ...there, "--add-label", "bug", "--title", "A seal");
        assert.deepEqual([(await told(2)).title, (await told(2)).labels.map(({ name }) => name)], ["A seal", ["bug"]]);
        const shown = JSON.parse(await gh("issue", "view", "1", ...there, "--json", "isPinned,closedByPullRequestsReferences"));
        assert.deepEqual([shown.isPinned, shown.closedByPullRequestsReferences.map(({ number }) => number)], [false, [2]]);
      });
      await check("pr checks: a commit status beside the check runs", async () => {
        const sha = await git("rev-parse", "origin/new-seal");
        const body = { state: "failure", context: "ci/lint", target_url: "https://ci.example/1" };
        await rest(world, `/repos/octo/garden/statuses/${sha}`, { method: "POST", body });
        const { stdout } = await run(program, ["pr", "checks", "2", ...there], { cwd: home, env });
        assert.match(stdout, /^ci\/lint\tfail\t/m);
      });
      await check("cache list, ruleset list, run rerun, workflow run", async () => {
        assert.equal(JSON.parse(await gh("cache", "list", ...there, "--json", "key")).length, 0);
        await gh("run", "rerun", `${world.red_run}`, ...there);
        const again = JSON.parse(await gh("run", "view", `${world.red_run}`, ...there, "--json", "attempt,status"));
        assert.deepEqual(again, { attempt: 2, status: "queued" });
        await gh("run", "cancel", `${world.red_run}`, ...there);
        await gh("workflow", "run", "ci.yaml", ...there, "--ref", "main");
      });
    }
    await check("pr status", async () => {
      assert.match(await gh("pr", "status", ...there), /#2 {2}/);
    });
    await check("label edit and delete; release list, delete-asset and delete", async () => {
      await gh("label", "create", "wilted", ...there, "--color", "ff0000");
      await gh("label", "edit", "wilted", ...there, "--name", "withered");
      assert.match(await gh("label", "list", ...there), /withered/);
      await gh("label", "delete", "withered", ...there, "--yes");
      assert.doesNotMatch(await gh("label", "list", ...there), /withered/);
      assert.match(await gh("release", "list", ...there), /v1\.0\.0/);
      await gh("release", "create", "v1.2.0", ...there, "--notes", "Summer");
      await gh("release", "delete", "v1.2.0", ...there, "--yes");
      assert.doesNotMatch(await gh("release", "list", ...there), /v1\.2\.0/);
    });
    await check("pr merge", async () => {
      await gh("pr", "merge", "2", ...there, "--squash");
      const { body } = await rest(world, "/repos/octo/garden/pulls/2");
      assert.deepEqual([body.state, body.merged, body.merged_by.login], ["closed", true, "maya"]);
    });
    await check("auth status", async () => {
      const { code, stdout, stderr } = await run(program, ["auth", "status", "--hostname", "github.localhost"], { cwd: home, env });
      assert.equal(code, 0, stderr);
      assert.match(stdout + stderr, /Logged in to github.localhost (account|as) maya/);
      const wrong = await run(program, ["auth", "status", "--hostname", "github.localhost"], {
        cwd: home,
        env: { ...env, GH_TOKEN: "ghp_wrong" },
      });
      assert.equal(wrong.code, 1);
    });
    await check("its own questions renamed, re-aliased and reordered", () => sameData(world, questions));
    await end();
  });
  return rows;
}

/** Asks all of gh's own questions again in other words: no answer may hang on names or order. */
async function sameData(world, questions) {
  const asked = questions.filter(({ query }) => !query.trimStart().startsWith("mutation"));
  assert.ok(asked.length >= 10, `only ${asked.length} questions went by`);
  for (const question of asked) {
    const other = reworded(question);
    const [plain, again] = [
      await graphql(world, question.query, question.variables, "maya"),
      await graphql(world, other.query, other.variables, "maya"),
    ];
    assert.ok(plain.data, question.query);
    assert.deepEqual(originally(again.data), plain.data, question.query);
  }
}
