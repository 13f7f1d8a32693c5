// In which form an answer comes: words as HTML or text, changes as diffs and patches, files as they are; what is switched
// off or can only be read; and what a question by GraphQL costs.

import assert from "node:assert/strict";

export default async function testify({ world, check, refused, as, garden, maya, octo, rita }) {
  const { issues, pulls, repos, git } = maya.rest;
  const issue = { ...garden, issue_number: 1 };
  const pull = { ...garden, pull_number: 2 };
  const media = (format) => ({ mediaType: { format } });

  await check("people's words as text, as HTML and in all forms; the header says which", async () => {
    const { data: written } = await issues.createComment({ ...issue, body: "It is the **tap**.\n\nOnce `more`." });
    const comment = { ...garden, comment_id: written.id };
    const full = await issues.getComment({ ...comment, ...media("full+json") });
    assert.equal(full.data.body, written.body);
    assert.match(full.data.body_html, /<strong>tap<\/strong>/);
    assert.match(full.data.body_text, /^It is the tap\.\n+Once more\.$/);
    assert.equal(full.headers["x-github-media-type"], "github.v3; param=full; format=json");
    const text = (await issues.getComment({ ...comment, ...media("text+json") })).data;
    assert.deepEqual([text.body, text.body_html, typeof text.body_text], [undefined, undefined, "string"]);
    const html = (await issues.listComments({ ...issue, ...media("html+json") })).data.at(-1);
    assert.deepEqual([html.body, html.body_text, typeof html.body_html], [undefined, undefined, "string"]);
    const raw = await issues.getComment({ ...comment, ...media("raw+json") });
    assert.deepEqual([raw.data.body, raw.data.body_html], [written.body, undefined]);
    const plain = await issues.getComment(comment);
    assert.deepEqual([plain.data.body_html, plain.headers["x-github-media-type"]], [undefined, "github.v3; format=json"]);
    assert.match((await pulls.get({ ...pull, ...media("full+json") })).data.body_html, /Fixes #1/);
  });

  await check("diffs and patches say what they are: of a pull request, a comparison, a commit", async () => {
    const shown = async (asked, format) => {
      const { data, headers } = await asked({ ...media(format) });
      assert.equal(headers["content-type"], `application/vnd.github.v3.${format}; charset=utf-8`);
      return data;
    };
    const ways = [
      (form) => pulls.get({ ...pull, ...form }),
      (form) => repos.compareCommitsWithBasehead({ ...garden, basehead: "main...new-seal", ...form }),
      (form) => repos.getCommit({ ...garden, ref: "new-seal", ...form }),
    ];
    for (const way of ways) {
      assert.match(await shown(way, "diff"), /^diff --git a\/tap.rs b\/tap.rs/);
      assert.match(await shown(way, "patch"), /^From [0-9a-f]{40} Mon Sep 17 00:00:00 2001\n[^]*Subject: /);
    }
    assert.match(await shown(ways[2], "sha"), /^[0-9a-f]{40}$/);
  });

  await check("a file as it is and as HTML, a folder as one object, a blob as it is", async () => {
    const path = { ...garden, path: "README.md" };
    const { data: file } = await repos.getContent(path);
    const text = Buffer.from(file.content, "base64").toString();
    assert.equal((await repos.getContent({ ...path, ...media("raw") })).data, text);
    assert.match((await repos.getReadme({ ...garden, ...media("html") })).data, /<h1/);
    // Described under a kind of its own, which the validator does not look at.
    const headers = { authorization: `Bearer ${world.tokens.maya}`, accept: "application/vnd.github.object+json" };
    const folder = await (await fetch(`${world.api}/repos/octo/garden/contents/greenhouse`, { headers })).json();
    assert.deepEqual([folder.type, folder.path, folder.entries.length > 0], ["dir", "greenhouse", true]);
    const { data: blob } = await git.getBlob({ ...garden, file_sha: file.sha, ...media("raw") });
    assert.equal(Buffer.from(blob).toString(), text);
  });

  await check("pulls.list in other orders: the newest first, or the least", async () => {
    const base = { ...garden, base: "main" };
    const head = (await git.getRef({ ...garden, ref: "heads/new-seal" })).data.object.sha;
    await git.createRef({ ...garden, ref: "refs/heads/second", sha: head });
    const { number } = (await pulls.create({ ...base, title: "Second", head: "second" })).data;
    await issues.createComment({ ...garden, issue_number: 2, body: "Popular" });
    const numbers = async (order) => (await pulls.list({ ...garden, ...order })).data.map((pull) => pull.number);
    assert.deepEqual(await numbers({}), [number, 2]);
    assert.deepEqual(await numbers({ direction: "asc" }), [2, number]);
    assert.deepEqual(await numbers({ sort: "popularity" }), [number, 2]);
    assert.deepEqual(await numbers({ sort: "popularity", direction: "desc" }), [2, number]);
    await pulls.update({ ...garden, pull_number: number, state: "closed" });
  });

  await check("labels that are too long, as a label and on an issue", async () => {
    const long = "x".repeat(51);
    const said = async (promise) => (await promise.then(() => assert.fail("taken"), (error) => error)).response.data.errors[0];
    // As recorded in github/docs#32156 and semantic-release/github#518.
    assert.deepEqual(await said(issues.createLabel({ ...garden, name: long })), {
      resource: "Label", code: "custom", field: "name", message: "name is too long (maximum is 50 characters)",
    });
    assert.deepEqual(await said(issues.addLabels({ ...issue, labels: [long] })), { value: long, resource: "Label", field: "name", code: "invalid" });
  });

  await check("repos.update: issues switched off are gone, and what is archived is only read", async () => {
    await refused(403, repos.update({ ...garden, has_issues: false }), /Must have admin rights/);
    assert.equal((await octo.rest.repos.update({ ...garden, has_issues: false })).data.has_issues, false);
    await refused(410, issues.get(issue), /Issues are disabled for this repo/);
    await refused(410, issues.create({ ...garden, title: "No" }));
    await refused(410, issues.createComment({ ...issue, body: "No" }));
    await issues.createComment({ ...garden, issue_number: 2, body: "A pull request has its own" });
    const { repository } = await maya.graphql("{ repository(owner: \"octo\", name: \"garden\") { hasIssuesEnabled isArchived } }");
    assert.deepEqual(repository, { hasIssuesEnabled: false, isArchived: false });
    await octo.rest.repos.update({ ...garden, has_issues: true, archived: true });
    await refused(403, issues.createComment({ ...issue, body: "No" }), /Repository was archived so is read-only/);
    assert.equal((await issues.get(issue)).data.number, 1);
    await octo.rest.repos.update({ ...garden, archived: false });
    const anonymous = (await as("").rest.repos.get(garden)).data;
    assert.equal(anonymous.permissions, undefined);
  });

  await check("a repository without a commit has no list of them", async () => {
    await refused(409, repos.listCommits({ owner: "octo", repo: "agent" }), /Git Repository is empty\./);
  });

  await check("runs of a time, and without their pull requests", async () => {
    const found = async (filter) => (await maya.rest.actions.listWorkflowRunsForRepo({ ...garden, ...filter })).data.workflow_runs;
    const [red] = await found({ status: "failure" });
    const day = red.created_at.slice(0, 10);
    assert.ok((await found({ created: day })).some(({ id }) => id === red.id));
    assert.ok((await found({ created: `*..${day}` })).some(({ id }) => id === red.id));
    assert.deepEqual(await found({ created: `<${day}`, status: "failure" }), []);
    assert.deepEqual((await found({ status: "failure", exclude_pull_requests: true }))[0].pull_requests, []);
    const run = { ...garden, run_id: red.id, exclude_pull_requests: true };
    assert.deepEqual((await maya.rest.actions.getWorkflowRun(run)).data.pull_requests, []);
    const suites = async (filter) => (await maya.rest.checks.listSuitesForRef({ ...garden, ref: red.head_sha, ...filter })).data.check_suites;
    assert.ok((await suites({ check_name: "test" })).some(({ id }) => id === red.check_suite_id));
    assert.deepEqual(await suites({ check_name: "nothing" }), []);
  });

  await check("a workflow is switched off and on", async () => {
    const ci = { ...garden, workflow_id: "ci.yaml" };
    const state = async () => (await maya.rest.actions.getWorkflow(ci)).data.state;
    await maya.rest.actions.disableWorkflow(ci);
    assert.equal(await state(), "disabled_manually");
    await maya.rest.actions.enableWorkflow(ci);
    assert.equal(await state(), "active");
    await refused(403, rita.rest.actions.disableWorkflow(ci));
  });

  await check("GraphQL: an issue is pinned, closed as a duplicate, and deleted: then it is gone", async () => {
    const made = (await issues.create({ ...garden, title: "Twice" })).data;
    const deed = (client, name, input) =>
      client.graphql(`mutation ($input: ${name[0].toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { clientMutationId } }`, { input });
    const shown = async () => (await maya.graphql("query ($id: ID!) { node(id: $id) { ... on Issue { isPinned stateReason } } }", { id: made.node_id })).node;
    await deed(maya, "pinIssue", { issueId: made.node_id });
    assert.equal((await shown()).isPinned, true);
    await deed(maya, "unpinIssue", { issueId: made.node_id });
    const other = (await issues.get({ ...garden, issue_number: 3 })).data.node_id;
    await deed(maya, "closeIssue", { issueId: made.node_id, stateReason: "DUPLICATE", duplicateIssueId: other });
    assert.deepEqual(await shown(), { isPinned: false, stateReason: "DUPLICATE" });
    await assert.rejects(deed(maya, "deleteIssue", { issueId: made.node_id }), ({ errors }) => errors[0].type === "FORBIDDEN");
    await deed(octo, "deleteIssue", { issueId: made.node_id });
    await refused(410, issues.get({ ...garden, issue_number: made.number }), /This issue was deleted/);
    assert.equal((await issues.create({ ...garden, title: "After" })).data.number, made.number + 1);
  });

  await check("GraphQL: reviewers by their names, as gh asks for them", async () => {
    const { node_id: id } = (await pulls.get(pull)).data;
    const ask = (logins, union) =>
      maya.graphql(`mutation ($input: RequestReviewsByLoginInput!) { requestReviewsByLogin(input: $input) { pullRequest { number } } }`, {
        input: { pullRequestId: id, userLogins: logins, union },
      });
    const asked = async () => (await pulls.listRequestedReviewers(pull)).data.users.map(({ login }) => login);
    await ask(["rita"], false);
    await ask(["octo"], true);
    assert.deepEqual(await asked(), ["rita", "octo"]);
    await ask([], false);
    assert.deepEqual(await asked(), []);
    await assert.rejects(ask(["nobody-here"], false), /Could not resolve user with login/);
  });

  await check("GraphQL: what is not there is named once, and nothing below it", async () => {
    const said = async (question, variables) =>
      (await maya.graphql(question, variables).then(() => assert.fail("answered"), (error) => error)).errors.map(({ message, extensions }) => [extensions.code, message]);
    assert.deepEqual(await said('{ repository(owner: "octo", name: "garden") { rulesOfThumb(first: 5) { nodes { id } } } }'), [
      ["undefinedField", "Field 'rulesOfThumb' doesn't exist on type 'Repository'"],
    ]);
    // In the words of graphql-ruby, which GitHub is made of.
    const unknown = await said("mutation ($input: WaterFloorInput!) { waterFloor(input: $input) { clientMutationId } }", { input: {} });
    assert.ok(unknown.some(([code, message]) => code === "variableRequiresValidType" && message === "WaterFloorInput isn't a defined input type (on $input)"), `${unknown}`);
    assert.equal(new Set(unknown.map(String)).size, unknown.length);
    assert.deepEqual(await said("{ repository(owner: \"octo\") { id } }"), [
      ["missingRequiredArguments", "Field 'repository' is missing required arguments: name"],
    ]);
  });

  await check("milestones that are not there, one assignee as of old, and a search that looks nowhere", async () => {
    const said = async (promise) => (await promise.then(() => assert.fail("taken"), (error) => error)).response.data.errors[0];
    const refusal = { value: 9, resource: "Issue", field: "milestone", code: "invalid" };
    assert.deepEqual(await said(issues.create({ ...garden, title: "x", milestone: 9 })), refusal);
    assert.deepEqual(await said(issues.update({ ...issue, milestone: 9 })), refusal);
    const { data } = await issues.create({ ...garden, title: "One", assignee: "maya" });
    assert.deepEqual([data.assignee.login, data.assignees.length], ["maya", 1]);
    const searched = await said(maya.rest.search.issuesAndPullRequests({ q: "repo:octo/nowhere is:issue" }));
    assert.deepEqual([searched.field, searched.code], ["q", "invalid"]);
    assert.match(searched.message, /^The listed users and repositories cannot be searched/);
  });

  await check("GraphQL: a variable whose value does not fit", async () => {
    const question = 'query ($n: Int!) { repository(owner: "octo", name: "garden") { issue(number: $n) { id } } }';
    const said = async (variables) => (await maya.graphql(question, variables).then(() => assert.fail("answered"), (error) => error)).errors[0];
    const { message, extensions } = await said({});
    assert.equal(message, "Variable $n of type Int! was provided invalid value");
    assert.deepEqual(extensions, { value: null, problems: [{ path: [], explanation: "Expected value to not be null" }] });
    assert.equal((await said({ n: "x" })).extensions.problems[0].explanation, 'Could not coerce value "x" to Int');
  });

  await check("GraphQL: words as HTML and text; a review's remarks", async () => {
    const { data: review } = await octo.rest.pulls.createReview({
      ...pull, event: "COMMENT", body: "*Nice*", comments: [{ path: "tap.rs", line: 5, body: "**Rubber?**" }],
    });
    const { node } = await maya.graphql(`query ($id: ID!) { node(id: $id) { ... on PullRequestReview { databaseId url bodyHTML bodyText
      comments(first: 5) { totalCount nodes { bodyText bodyHTML } } } } }`, { id: review.node_id });
    assert.deepEqual([node.databaseId, node.url, node.bodyText], [review.id, review.html_url, "Nice"]);
    assert.match(node.bodyHTML, /<em>Nice<\/em>/);
    assert.deepEqual([node.comments.totalCount, node.comments.nodes[0].bodyText], [1, "Rubber?"]);
    assert.match(node.comments.nodes[0].bodyHTML, /<strong>Rubber\?<\/strong>/);
  });

  await check("GraphQL: what a question costs, and what is too much at once", async () => {
    const points = async () => (await maya.rest.rateLimit.get()).data.resources.graphql.used;
    const before = await points();
    const named = "repository(owner: \"octo\", name: \"garden\")";
    const { rateLimit } = await maya.graphql(`{ rateLimit { cost nodeCount } ${named} { pullRequests(first: 100) { nodes { reviewThreads(first: 50) { nodes {
      comments(first: 60) { totalCount } } } } } } }`);
    // 1 + 100 + 5,000 lists, and so many things in them: GitHub's own example.
    assert.deepEqual(rateLimit, { cost: 51, nodeCount: 100 + 5_000 + 300_000 });
    assert.equal(await points(), before + 51);
    const kind = async (question, variables) => {
      const error = await maya.graphql(question, variables).then(() => assert.fail("answered"), (error) => error);
      return [error.errors[0].type, error.errors[0].message];
    };
    // As recorded in semantic-release/github#911 and sourcecred/sourcecred#908.
    const many = `a: reviewThreads(first: 50) { nodes { comments(first: 90) { totalCount } } } b: reviewThreads(first: 50) { nodes { comments(first: 90) { totalCount } } }`;
    assert.deepEqual(await kind(`{ ${named} { pullRequests(first: 100) { nodes { ${many} } } } }`), [
      "MAX_NODE_LIMIT_EXCEEDED", "This query requests up to 910,100 possible nodes which exceeds the maximum limit of 500,000.",
    ]);
    const ids = Array.from({ length: 101 }, () => "R_kgDO");
    assert.deepEqual(await kind("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", { ids }), [
      "ARGUMENT_LIMIT", "You may not provide more than 100 node ids; you provided 101.",
    ]);
  });
}
