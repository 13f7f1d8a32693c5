// Actions: workflows, runs, jobs, what they wrote, and cancelling a run.

import assert from "node:assert/strict";

export default async function testify({ world, as, check, refused, garden, maya, rita }) {
  const { actions, checks, pulls } = maya.rest;
  const red = { ...garden, run_id: world.red_run };
  await check("actions.listRepoWorkflows, getWorkflow by id and by file, listWorkflowRuns", async () => {
    const { workflows } = (await actions.listRepoWorkflows(garden)).data;
    const ci = workflows.find(({ name }) => name === "CI");
    assert.equal((await actions.getWorkflow({ ...garden, workflow_id: ci.id })).data.path, ".github/workflows/ci.yaml");
    assert.equal((await actions.getWorkflow({ ...garden, workflow_id: "ci.yaml" })).data.id, ci.id);
    const { data } = await actions.listWorkflowRuns({ ...garden, workflow_id: "ci.yaml" });
    assert.deepEqual([data.total_count, data.workflow_runs[0].id], [1, world.red_run]);
    await refused(404, actions.getWorkflow({ ...garden, workflow_id: "nothing.yaml" }));
  });
  await check("actions.listWorkflowRunsForRepo: by event, branch, status, commit and person", async () => {
    const found = async (filter) =>
      (await actions.listWorkflowRunsForRepo({ ...garden, ...filter })).data.workflow_runs.map(({ id }) => id);
    const head = (await pulls.get({ ...garden, pull_number: 2 })).data.head.sha;
    assert.deepEqual(await found({ status: "failure" }), [world.red_run]);
    assert.deepEqual(await found({ status: "completed", event: "pull_request" }), [world.red_run]);
    assert.deepEqual(await found({ event: "schedule", status: "completed" }), []);
    assert.ok((await found({ branch: "new-seal", head_sha: head, actor: "maya" })).includes(world.red_run));
    assert.deepEqual(await found({ branch: "nowhere" }), []);
    const started = await found({ status: "in_progress" });
    assert.ok(started.includes(Number(world.jobs.schedule.environment.GITHUB_RUN_ID)));
  });
  await check("actions.getWorkflowRun, listJobsForWorkflowRun, getJobForWorkflowRun, listWorkflowRunArtifacts", async () => {
    const { data } = await actions.getWorkflowRun(red);
    assert.deepEqual([data.conclusion, data.head_branch, data.pull_requests[0].number], ["failure", "new-seal", 2]);
    const [job] = (await actions.listJobsForWorkflowRun(red)).data.jobs;
    assert.deepEqual(job.steps.map(({ conclusion }) => conclusion), ["success", "failure", "success"]);
    assert.equal((await actions.getJobForWorkflowRun({ ...garden, job_id: job.id })).data.run_id, world.red_run);
    assert.deepEqual((await actions.listWorkflowRunArtifacts(red)).data.artifacts, []);
    await refused(404, actions.getWorkflowRun({ ...garden, run_id: 1 }));
  });
  await check("actions.downloadJobLogsForWorkflowRun, downloadWorkflowRunLogs: by a redirect, for the known only", async () => {
    const [job] = (await actions.listJobsForWorkflowRun(red)).data.jobs;
    const { data } = await actions.downloadJobLogsForWorkflowRun({ ...garden, job_id: job.id });
    assert.match(data, /^\d{4}-\d\d-\d\dT[\d:.]+Z the floor is wet$/m);
    const zip = (await actions.downloadWorkflowRunLogs(red)).data;
    assert.equal(Buffer.from(zip).subarray(0, 2).toString(), "PK");
    await refused(403, as("").rest.actions.downloadJobLogsForWorkflowRun({ ...garden, job_id: job.id }));
  });
  await check("a job is a check run with the same id, in the suite of its run, with annotations", async () => {
    const [job] = (await actions.listJobsForWorkflowRun(red)).data.jobs;
    const run = (await checks.get({ ...garden, check_run_id: job.id })).data;
    assert.deepEqual([run.name, run.app.slug, run.output.annotations_count], ["test", "github-actions", 1]);
    const [said] = (await checks.listAnnotations({ ...garden, check_run_id: job.id })).data;
    assert.deepEqual([said.annotation_level, said.message], ["failure", "Process completed with exit code 101."]);
    const suite = (await checks.getSuite({ ...garden, check_suite_id: run.check_suite.id })).data;
    assert.deepEqual([suite.status, suite.conclusion, suite.head_sha], ["completed", "failure", run.head_sha]);
    const inside = (await checks.listForSuite({ ...garden, check_suite_id: suite.id })).data.check_runs;
    assert.deepEqual(inside.map(({ id }) => id), [job.id]);
    const { check_suites } = (await checks.listSuitesForRef({ ...garden, ref: "new-seal" })).data;
    assert.ok(check_suites.some(({ id }) => id === suite.id));
  });
  await check("actions.cancelWorkflowRun: one that runs, by those who may write; an ended one is a conflict", async () => {
    const running = { ...garden, run_id: Number(world.jobs.schedule.environment.GITHUB_RUN_ID) };
    await refused(403, rita.rest.actions.cancelWorkflowRun(running));
    await refused(403, as(world.jobs.comment.token).rest.actions.cancelWorkflowRun(running), /not accessible by integration/);
    assert.equal((await actions.cancelWorkflowRun(running)).status, 202);
    const { data } = await actions.getWorkflowRun(running);
    assert.deepEqual([data.status, data.conclusion], ["completed", "cancelled"]);
    await refused(409, actions.cancelWorkflowRun(running), /Cannot cancel a workflow run that is completed/);
    const other = { ...garden, run_id: Number(world.jobs.blind.environment.GITHUB_RUN_ID) };
    assert.equal((await actions.forceCancelWorkflowRun(other)).status, 202);
  });
}
