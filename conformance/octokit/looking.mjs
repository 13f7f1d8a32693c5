// What GraphQL shows of a repository besides issues: what happened, what checks and statuses say, what git holds.

import assert from "node:assert/strict";

export default async function testify({ world, check, garden, maya, octo, rita }) {
  const ask = (text, variables, client = maya) => client.graphql(text, { ...garden, ...variables });
  const repository = async (fields, client) =>
    (await ask(`query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { ${fields} } }`, {}, client)).repository;

  await check("GraphQL: timelineItems of an issue, of all kinds and of some", async () => {
    const issue = { ...garden, issue_number: 1 };
    await maya.rest.issues.addLabels({ ...issue, labels: ["help wanted"] });
    await maya.rest.issues.update({ ...issue, title: "The floor is wet" });
    await maya.rest.issues.createComment({ ...issue, body: "Since May" });
    await maya.rest.issues.update({ ...issue, state: "closed" });
    const items = `nodes { __typename
      ... on LabeledEvent { label { name } actor { login } } ... on RenamedTitleEvent { previousTitle currentTitle }
      ... on CrossReferencedEvent { willCloseTarget source { ... on PullRequest { number } } } ... on IssueComment { body } }`;
    const { issue: all } = await repository(`issue(number: 1) { timelineItems(first: 20) { totalCount ${items} } }`);
    const kinds = all.timelineItems.nodes.map(({ __typename }) => __typename);
    assert.deepEqual(kinds, [
      "IssueComment", "CrossReferencedEvent", "IssueComment", "LabeledEvent", "RenamedTitleEvent", "IssueComment", "ClosedEvent",
    ]);
    assert.deepEqual(all.timelineItems.nodes[1], { __typename: "CrossReferencedEvent", willCloseTarget: true, source: { number: 2 } });
    assert.deepEqual(all.timelineItems.nodes[3], { __typename: "LabeledEvent", label: { name: "help wanted" }, actor: { login: "maya" } });
    const { issue: some } = await repository(`issue(number: 1) { timelineItems(last: 1, itemTypes: [RENAMED_TITLE_EVENT, MENTIONED_EVENT]) { totalCount ${items} } }`);
    assert.deepEqual(some.timelineItems, {
      totalCount: 1,
      nodes: [{ __typename: "RenamedTitleEvent", previousTitle: "The floor is wet every morning", currentTitle: "The floor is wet" }],
    });
  });

  await check("GraphQL: timelineItems of a pull request; the pull requests that close an issue", async () => {
    const pull = { ...garden, pull_number: 2 };
    await maya.rest.pulls.requestReviewers({ ...pull, reviewers: ["octo"] });
    await octo.rest.pulls.createReview({ ...pull, event: "APPROVE" });
    const { pullRequest, issue } = await repository(`
      pullRequest(number: 2) { timelineItems(first: 20) { nodes { __typename
        ... on PullRequestCommit { commit { messageHeadline } } ... on PullRequestReview { state }
        ... on ReviewRequestedEvent { requestedReviewer { ... on User { login } } } } } }
      issue(number: 1) { isPinned closedByPullRequestsReferences(first: 5, includeClosedPrs: true) { nodes { number } } }`);
    assert.deepEqual(pullRequest.timelineItems.nodes, [
      { __typename: "PullRequestCommit", commit: { messageHeadline: "Give the tap a new seal" } },
      { __typename: "ReviewRequestedEvent", requestedReviewer: { login: "octo" } },
      { __typename: "PullRequestReview", state: "APPROVED" },
    ]);
    assert.deepEqual([issue.isPinned, issue.closedByPullRequestsReferences.nodes], [false, [{ number: 2 }]]);
  });

  await check("GraphQL: statusCheckRollup tells check runs and statuses, the newest of each context", async () => {
    const sha = (await maya.rest.pulls.get({ ...garden, pull_number: 2 })).data.head.sha;
    const say = (state) => maya.rest.repos.createCommitStatus({ ...garden, sha, state, context: "ci/lint", target_url: "https://ci.example/1" });
    await say("pending");
    const { data: said } = await say("error");
    const { pullRequest } = await repository(`pullRequest(number: 2) { commits(last: 1) { nodes { commit { statusCheckRollup { state
      contexts(first: 20) { nodes { __typename ... on StatusContext { context state targetUrl creator { login } isRequired(pullRequestNumber: 2) } } } } } } } }`);
    const { state, contexts } = pullRequest.commits.nodes[0].commit.statusCheckRollup;
    assert.equal(state, "FAILURE");
    const statuses = contexts.nodes.filter(({ __typename }) => __typename === "StatusContext");
    assert.deepEqual(statuses, [{
      __typename: "StatusContext", context: "ci/lint", state: "ERROR", targetUrl: "https://ci.example/1", creator: { login: "maya" }, isRequired: false,
    }]);
    assert.ok(contexts.nodes.some(({ __typename }) => __typename === "CheckRun"));
    const run = (await maya.rest.checks.listForRef({ ...garden, ref: sha })).data.check_runs[0];
    const suite = (await maya.rest.checks.getSuite({ ...garden, check_suite_id: run.check_suite.id })).data;
    const { nodes } = await ask("query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }", { ids: [said.node_id, suite.node_id] });
    assert.deepEqual(nodes.map(({ __typename }) => __typename), ["StatusContext", "CheckSuite"]);
  });

  await check("GraphQL: object, ref.target, compare, branchProtectionRule", async () => {
    const told = await repository(`
      readme: object(expression: "HEAD:README.md") { __typename oid ... on Blob { text isBinary byteSize } }
      root: object(expression: "HEAD:") { ... on Tree { entries { name type } } }
      none: object(expression: "HEAD:nowhere") { oid }
      main: ref(qualifiedName: "refs/heads/main") { prefix target { ... on Commit { oid messageHeadline } }
        branchProtectionRule { pattern requiresStrictStatusChecks } compare(headRef: "new-seal") { aheadBy behindBy status } }
      seal: ref(qualifiedName: "new-seal") { branchProtectionRule { pattern } }`);
    assert.equal(told.readme.__typename, "Blob");
    assert.ok(!told.readme.isBinary && told.readme.byteSize === Buffer.byteLength(told.readme.text));
    assert.deepEqual(told.root.entries, [{ name: "README.md", type: "blob" }, { name: "greenhouse", type: "tree" }, { name: "tap.rs", type: "blob" }]);
    assert.equal(told.none, null);
    assert.deepEqual([told.main.prefix, told.main.target.messageHeadline], ["refs/heads/", "Put a tap in the greenhouse"]);
    assert.deepEqual(told.main.branchProtectionRule, { pattern: "main", requiresStrictStatusChecks: false });
    assert.deepEqual(told.main.compare, { aheadBy: 1, behindBy: 0, status: "AHEAD" });
    assert.equal(told.seal.branchProtectionRule, null);
  });

  await check("GraphQL: refs, reviews by state, a user, whose repository it is, what a question costs", async () => {
    const { refs, pullRequest, discussion } = await repository(`refs(refPrefix: "refs/heads/", first: 9) { nodes { name target { oid } } }
      pullRequest(number: 2) { viewerDidAuthor reviews(first: 9, states: [CHANGES_REQUESTED]) { totalCount } }
      discussion(number: ${world.discussion}) { category { name } reactionGroups { content } }`);
    assert.deepEqual(refs.nodes.map(({ name }) => name), ["main", "new-seal"]);
    assert.deepEqual(pullRequest, { viewerDidAuthor: true, reviews: { totalCount: 0 } });
    assert.deepEqual([discussion.category.name, discussion.reactionGroups.length], ["General", 8]);
    const told = await ask('{ user(login: "rita") { login } repositoryOwner(login: "octo") { login } rateLimit { cost nodeCount } }');
    assert.deepEqual([told.user.login, told.repositoryOwner.login, told.rateLimit.cost], ["rita", "octo", 1]);
    await assert.rejects(ask('{ user(login: "nobody-here") { login } }'), /Could not resolve to a User/);
  });

  await check("GraphQL: a repository's discussions, releases, people, milestones and plain facts", async () => {
    const told = await repository(`visibility isFork isEmpty stargazerCount createdAt pushedAt viewerCanAdminister
      discussions(first: 5) { totalCount nodes { number title } } discussionCategories(first: 5) { nodes { name } }
      releases(first: 5) { nodes { tagName isLatest isDraft } } latestRelease { tagName }
      assignableUsers(first: 5, query: "rit") { nodes { login } } milestones(first: 5, states: [OPEN]) { totalCount }`);
    assert.deepEqual([told.visibility, told.isFork, told.isEmpty, told.viewerCanAdminister], ["PUBLIC", false, false, false]);
    assert.deepEqual(told.discussions.nodes.map(({ number }) => number), [world.discussion]);
    assert.deepEqual([told.releases.nodes, told.latestRelease], [[{ tagName: "v1.0.0", isLatest: true, isDraft: false }], { tagName: "v1.0.0" }]);
    assert.deepEqual([told.assignableUsers.nodes, told.milestones.totalCount], [[{ login: "rita" }], 0]);
  });
}
