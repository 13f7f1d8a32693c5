// What keeps a repository in order: labels, people, milestones, tags, protection, files one by one, caches, runs again.

import assert from "node:assert/strict";

export default async function testify({ world, as, check, refused, garden, maya, octo, rita, bot }) {
  const { issues, repos, actions, git, checks } = maya.rest;

  await check("issues.updateLabel, deleteLabel: what wears a label wears its new name", async () => {
    await issues.updateLabel({ ...garden, name: "bug", new_name: "leak", color: "0000ff" });
    const worn = async () => (await issues.get({ ...garden, issue_number: 1 })).data.labels.map(({ name, color }) => [name, color]);
    assert.deepEqual(await worn(), [["leak", "0000ff"]]);
    await refused(404, issues.getLabel({ ...garden, name: "bug" }));
    await refused(422, issues.updateLabel({ ...garden, name: "leak", new_name: "help wanted" }), /already_exists/);
    await refused(403, rita.rest.issues.deleteLabel({ ...garden, name: "leak" }));
    assert.equal((await issues.deleteLabel({ ...garden, name: "leak" })).status, 204);
    assert.deepEqual(await worn(), []);
    await refused(404, issues.deleteLabel({ ...garden, name: "leak" }));
  });

  await check("repos.listCollaborators, checkCollaborator; issues.listAssignees, checkUserCanBeAssigned, listMilestones", async () => {
    const roles = (await repos.listCollaborators(garden)).data.map(({ login, role_name }) => [login, role_name]);
    assert.deepEqual(roles, [["octo", "admin"], ["maya", "write"], ["rita", "read"], ["fro-bot", "write"]]);
    const pushers = (await repos.listCollaborators({ ...garden, permission: "push" })).data.map(({ login }) => login);
    assert.deepEqual(pushers, ["octo", "maya", "fro-bot"]);
    assert.equal((await repos.checkCollaborator({ ...garden, username: "rita" })).status, 204);
    await refused(404, repos.checkCollaborator({ ...garden, username: "mallory" }));
    await refused(403, rita.rest.repos.listCollaborators(garden));
    assert.ok((await issues.listAssignees(garden)).data.some(({ login }) => login === "rita"));
    assert.equal((await issues.checkUserCanBeAssigned({ ...garden, assignee: "rita" })).status, 204);
    await refused(404, issues.checkUserCanBeAssigned({ ...garden, assignee: "mallory" }));
    assert.deepEqual((await issues.listMilestones(garden)).data, []);
  });

  await check("repos.listTags, getBranchProtection, getBranchRules, getRepoRulesets", async () => {
    const tags = (await repos.listTags(garden)).data;
    const { data: release } = await repos.createRelease({ ...garden, tag_name: "v3.0.0", name: "Summer" });
    const later = (await repos.listTags(garden)).data.map(({ name }) => name);
    assert.deepEqual(later, ["v3.0.0", ...tags.map(({ name }) => name)]);
    assert.deepEqual((await repos.listReleaseAssets({ ...garden, release_id: release.id })).data, []);
    const { data } = await octo.rest.repos.getBranchProtection({ ...garden, branch: "main" });
    assert.deepEqual([data.enforce_admins.enabled, data.allow_force_pushes.enabled], [true, false]);
    await refused(404, octo.rest.repos.getBranchProtection({ ...garden, branch: "new-seal" }), /Branch not protected/);
    await refused(404, maya.rest.repos.getBranchProtection({ ...garden, branch: "main" }));
    assert.deepEqual((await repos.getBranchRules({ ...garden, branch: "main" })).data, []);
    assert.deepEqual((await repos.getRepoRulesets(garden)).data, []);
  });

  await check("repos.deleteReleaseAsset, deleteRelease; the tag stays", async () => {
    const { data: release } = await repos.getReleaseByTag({ ...garden, tag: "v3.0.0" });
    const file = { ...garden, release_id: release.id, baseUrl: world.api, name: "seeds.txt", data: "seeds" };
    const { data: asset } = await repos.uploadReleaseAsset(file);
    await refused(404, rita.rest.repos.deleteReleaseAsset({ ...garden, asset_id: asset.id }));
    assert.equal((await repos.deleteReleaseAsset({ ...garden, asset_id: asset.id })).status, 204);
    assert.deepEqual((await repos.listReleaseAssets({ ...garden, release_id: release.id })).data, []);
    assert.equal((await repos.deleteRelease({ ...garden, release_id: release.id })).status, 204);
    await refused(404, repos.getRelease({ ...garden, release_id: release.id }));
    assert.ok((await repos.listTags(garden)).data.some(({ name }) => name === "v3.0.0"));
  });

  await check("repos.createOrUpdateFileContents, deleteFile: each a commit; what somebody else changed is a conflict", async () => {
    const main = (await git.getRef({ ...garden, ref: "heads/main" })).data.object.sha;
    await git.createRef({ ...garden, ref: "refs/heads/notes", sha: main });
    const place = { ...garden, path: "notes/today.md", branch: "notes" };
    const write = (text, more) =>
      repos.createOrUpdateFileContents({ ...place, message: "Write it down", content: btoa(text), ...more });
    const made = await write("wet");
    assert.deepEqual([made.status, made.data.content.path, made.data.commit.author.name], [201, "notes/today.md", "Maya"]);
    await refused(422, write("dry"), /"sha" wasn't supplied/);
    await refused(409, write("dry", { sha: main }), /does not match/);
    const changed = await write("dry", { sha: made.data.content.sha });
    assert.deepEqual([changed.status, changed.data.commit.parents[0].sha], [200, made.data.commit.sha]);
    await refused(404, rita.rest.repos.createOrUpdateFileContents({ ...place, message: "x", content: "", sha: main }));
    const gone = await repos.deleteFile({ ...place, message: "Forget it", sha: changed.data.content.sha });
    assert.equal(gone.data.content, null);
    await refused(404, repos.getContent({ ...garden, path: place.path, ref: "notes" }));
  });

  await check("actions.getActionsCacheList, getActionsCacheUsage, deletion by id and by key", async () => {
    const { environment } = world.jobs.comment_writing;
    const twirp = async (method, body) => {
      const url = `${environment.ACTIONS_RESULTS_URL}twirp/github.actions.results.api.v1.CacheService/${method}`;
      const headers = { authorization: `Bearer ${environment.ACTIONS_RUNTIME_TOKEN}`, "content-type": "application/json" };
      return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json();
    };
    const version = "a".repeat(64);
    for (const key of ["soil-1", "soil-2", "seeds"]) {
      const { signed_upload_url } = await twirp("CreateCacheEntry", { key, version });
      await fetch(signed_upload_url, { method: "PUT", body: "earth", headers: { "x-ms-blob-type": "BlockBlob" } });
      await twirp("FinalizeCacheEntryUpload", { key, version, size_bytes: "5" });
    }
    const keys = async (more) => (await actions.getActionsCacheList({ ...garden, ...more })).data.actions_caches.map(({ key }) => key);
    assert.deepEqual(await keys({ key: "soil" }), ["soil-2", "soil-1"]);
    assert.deepEqual(await keys({ sort: "created_at", direction: "asc" }), ["soil-1", "soil-2", "seeds"]);
    assert.deepEqual(await keys({ ref: "refs/heads/nowhere" }), []);
    const usage = (await actions.getActionsCacheUsage(garden)).data;
    assert.deepEqual([usage.active_caches_count, usage.active_caches_size_in_bytes], [3, 15]);
    const [seeds] = (await actions.getActionsCacheList({ ...garden, key: "seeds" })).data.actions_caches;
    await refused(403, rita.rest.actions.deleteActionsCacheById({ ...garden, cache_id: seeds.id }));
    assert.equal((await actions.deleteActionsCacheById({ ...garden, cache_id: seeds.id })).status, 204);
    const gone = (await actions.deleteActionsCacheByKey({ ...garden, key: "soil-1" })).data;
    assert.deepEqual([gone.total_count, await keys({})], [1, ["soil-2"]]);
    await refused(404, actions.deleteActionsCacheByKey({ ...garden, key: "soil-1" }));
  });

  await check("actions.reRunWorkflow, reRunWorkflowFailedJobs, attempts, deleteWorkflowRun, createWorkflowDispatch", async () => {
    const red = { ...garden, run_id: world.red_run };
    const state = async () => {
      const { data } = await actions.getWorkflowRun(red);
      return [data.run_attempt, data.status, data.conclusion];
    };
    assert.equal((await actions.getWorkflowRunAttempt({ ...red, attempt_number: 1 })).data.id, world.red_run);
    assert.equal((await actions.listJobsForWorkflowRunAttempt({ ...red, attempt_number: 1 })).data.jobs[0].conclusion, "failure");
    const zip = (await actions.downloadWorkflowRunAttemptLogs({ ...red, attempt_number: 1 })).data;
    assert.equal(Buffer.from(zip).subarray(0, 2).toString(), "PK");
    await refused(404, actions.getWorkflowRunAttempt({ ...red, attempt_number: 2 }));
    await refused(403, rita.rest.actions.reRunWorkflow(red));
    assert.equal((await actions.reRunWorkflowFailedJobs(red)).status, 201);
    assert.deepEqual(await state(), [2, "queued", null]);
    await refused(403, actions.reRunWorkflow(red));
    await refused(403, actions.deleteWorkflowRun(red));
    await actions.cancelWorkflowRun(red);
    assert.equal((await actions.reRunWorkflow(red)).status, 201);
    assert.deepEqual(await state(), [3, "queued", null]);
    await actions.cancelWorkflowRun(red);
    assert.equal((await actions.deleteWorkflowRun(red)).status, 204);
    await refused(404, actions.getWorkflowRun(red));
    const dispatch = { ...garden, workflow_id: "ci.yaml", ref: "main" };
    assert.ok((await actions.createWorkflowDispatch(dispatch)).status < 300);
    const [run] = (await actions.listWorkflowRunsForRepo({ ...garden, event: "workflow_dispatch" })).data.workflow_runs;
    assert.deepEqual([run.status, run.head_branch, run.actor.login], ["queued", "main", "maya"]);
    await refused(422, actions.createWorkflowDispatch({ ...dispatch, ref: "nowhere" }), /No ref found/);
  });

  await check("checks.rerequestRun: its app is to check once more; no more than three buttons", async () => {
    const head_sha = (await git.getRef({ ...garden, ref: "heads/new-seal" })).data.object.sha;
    const draft = { ...garden, name: "drip", head_sha, conclusion: "failure" };
    const { data: run } = await bot.rest.checks.create(draft);
    assert.equal((await bot.rest.checks.rerequestRun({ ...garden, check_run_id: run.id })).status, 201);
    assert.equal((await checks.get({ ...garden, check_run_id: run.id })).data.status, "queued");
    const button = { label: "Mend", description: "Mend it", identifier: "mend" };
    const buttons = (actions) => bot.rest.checks.create({ ...draft, actions });
    assert.equal((await buttons([button, button, button])).status, 201);
    await refused(422, buttons([button, button, button, button]));
    await refused(422, buttons([{ ...button, label: "x".repeat(21) }]));
  });

  await check("repos.listForAuthenticatedUser, listForUser; apps.getInstallation, getUserInstallation", async () => {
    const names = ({ data }) => data.map(({ full_name }) => full_name).filter((name) => name !== "octo/agent").sort();
    assert.deepEqual(names(await octo.rest.repos.listForAuthenticatedUser()), ["octo/cellar", "octo/garden"]);
    assert.deepEqual(names(await as("mallory").rest.repos.listForAuthenticatedUser()), []);
    assert.deepEqual(names(await as("mallory").rest.repos.listForUser({ username: "octo" })), ["octo/garden"]);
  });
}
