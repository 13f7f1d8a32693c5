// Reviews, remarks and whole threads by GraphQL: each deed is looked up by REST, which tells it in other words.

import assert from "node:assert/strict";

export default async function testify({ check, garden, maya, octo, rita }) {
  const { data: pull } = await maya.rest.pulls.get({ ...garden, pull_number: 2 });
  const { data: wet } = await maya.rest.issues.get({ ...garden, issue_number: 1 });
  const at = { ...garden, pull_number: 2 };
  const deed = async (client, name, kind, input, told) =>
    (await client.graphql(`mutation ($input: ${kind}Input!) { ${name}(input: $input) { ${told} } }`, { input }))[name];
  const refused = (kind, promise) =>
    promise.then(
      () => assert.fail("it was not refused"),
      ({ response }) => assert.equal(response.errors[0].type, kind, JSON.stringify(response)),
    );

  await check("GraphQL: addPullRequestReview gives remarks and a verdict at once", async () => {
    const threads = [
      { path: "tap.rs", line: 5, body: "Rubber was fine" },
      { path: "tap.rs", startLine: 4, line: 6, side: "RIGHT", startSide: "RIGHT", body: "All of this" },
      { path: "tap.rs", line: 5, side: "LEFT", body: "Why?" },
    ];
    const input = { pullRequestId: pull.node_id, event: "COMMENT", body: "Three things", threads, commitOID: pull.head.sha };
    const { pullRequestReview, reviewEdge } = await deed(octo, "addPullRequestReview", "AddPullRequestReview", input,
      "pullRequestReview { id state body fullDatabaseId } reviewEdge { node { id } }");
    assert.deepEqual([pullRequestReview.state, reviewEdge.node.id], ["COMMENTED", pullRequestReview.id]);
    const { data } = await octo.rest.pulls.listCommentsForReview({ ...at, review_id: pullRequestReview.fullDatabaseId });
    assert.deepEqual(data.map(({ body }) => body), threads.map(({ body }) => body));
    const own = { pullRequestId: pull.node_id, event: "APPROVE" };
    await refused("UNPROCESSABLE", deed(maya, "addPullRequestReview", "AddPullRequestReview", own, "clientMutationId"));
    const far = { ...input, threads: [{ path: "tap.rs", line: 500, body: "Hm" }] };
    await refused("UNPROCESSABLE", deed(octo, "addPullRequestReview", "AddPullRequestReview", far, "clientMutationId"));
  });

  await check("GraphQL: a review begun, added to, reworded, submitted, dismissed; another one deleted", async () => {
    const begin = () => deed(octo, "addPullRequestReview", "AddPullRequestReview", { pullRequestId: pull.node_id },
      "pullRequestReview { id state fullDatabaseId }");
    const { pullRequestReview: begun } = await begin();
    assert.equal(begun.state, "PENDING");
    const remark = { pullRequestReviewId: begun.id, path: "tap.rs", line: 4, body: "Later" };
    const { thread } = await deed(octo, "addPullRequestReviewThread", "AddPullRequestReviewThread", remark,
      "thread { id path line comments(first: 1) { nodes { body } } }");
    assert.deepEqual([thread.path, thread.line, thread.comments.nodes], ["tap.rs", 4, [{ body: "Later" }]]);
    const seen = async (client) => (await client.rest.pulls.listReviewComments(at)).data.map(({ body }) => body);
    assert.ok(!(await seen(maya)).includes("Later"));
    const verdict = { pullRequestId: pull.node_id, event: "REQUEST_CHANGES", body: "Please" };
    const { pullRequestReview: given } = await deed(octo, "submitPullRequestReview", "SubmitPullRequestReview", verdict,
      "pullRequestReview { id state submittedAt }");
    assert.deepEqual([given.id, given.state], [begun.id, "CHANGES_REQUESTED"]);
    assert.ok((await seen(maya)).includes("Later"));
    const words = { pullRequestReviewId: begun.id, body: "Please!" };
    await deed(octo, "updatePullRequestReview", "UpdatePullRequestReview", words, "clientMutationId");
    const shown = { ...at, review_id: begun.fullDatabaseId };
    assert.equal((await maya.rest.pulls.getReview(shown)).data.body, "Please!");
    const settled = { pullRequestReviewId: begun.id, message: "Settled" };
    await deed(octo, "dismissPullRequestReview", "DismissPullRequestReview", settled, "clientMutationId");
    assert.equal((await maya.rest.pulls.getReview(shown)).data.state, "DISMISSED");
    const { pullRequestReview: other } = await begin();
    await deed(octo, "deletePullRequestReview", "DeletePullRequestReview", { pullRequestReviewId: other.id }, "clientMutationId");
    const left = (await octo.rest.pulls.listReviews(at)).data.map(({ node_id }) => node_id);
    assert.ok(!left.includes(other.id));
  });

  await check("GraphQL: a thread is answered; the answer reworded and taken away", async () => {
    const read = `query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) {
      pullRequest(number: 2) { reviewThreads(first: 1) { nodes { id comments(first: 9) { nodes { body } } } } } } }`;
    const first = async () => (await maya.graphql(read, garden)).repository.pullRequest.reviewThreads.nodes[0];
    const reply = { pullRequestReviewThreadId: (await first()).id, body: "No." };
    const { comment } = await deed(maya, "addPullRequestReviewThreadReply", "AddPullRequestReviewThreadReply", reply,
      "comment { id body replyTo { body } }");
    assert.deepEqual([comment.body, comment.replyTo.body], ["No.", "Rubber was fine"]);
    const words = { pullRequestReviewCommentId: comment.id, body: "It was not." };
    await deed(maya, "updatePullRequestReviewComment", "UpdatePullRequestReviewComment", words, "clientMutationId");
    assert.deepEqual((await first()).comments.nodes.map(({ body }) => body), ["Rubber was fine", "It was not."]);
    await refused("FORBIDDEN", deed(rita, "updatePullRequestReviewComment", "UpdatePullRequestReviewComment", words, "clientMutationId"));
    await deed(maya, "deletePullRequestReviewComment", "DeletePullRequestReviewComment", { id: comment.id }, "clientMutationId");
    assert.deepEqual((await first()).comments.nodes.map(({ body }) => body), ["Rubber was fine"]);
  });

  await check("GraphQL: a comment is reworded and taken away", async () => {
    const { data: said } = await maya.rest.issues.createComment({ ...garden, issue_number: 1, body: "Shut it" });
    const words = { id: said.node_id, body: "Shut the tap" };
    const { issueComment } = await deed(maya, "updateIssueComment", "UpdateIssueComment", words, "issueComment { body }");
    assert.equal(issueComment.body, "Shut the tap");
    await refused("FORBIDDEN", deed(rita, "deleteIssueComment", "DeleteIssueComment", { id: said.node_id }, "clientMutationId"));
    await deed(maya, "deleteIssueComment", "DeleteIssueComment", { id: said.node_id }, "clientMutationId");
    const left = (await maya.rest.issues.listComments({ ...garden, issue_number: 1 })).data.map(({ id }) => id);
    assert.ok(!left.includes(said.id));
  });

  await check("GraphQL: an issue is opened, sorted, closed for a reason and opened again", async () => {
    const { data: repo } = await maya.rest.repos.get(garden);
    const { data: bug } = await maya.rest.issues.getLabel({ ...garden, name: "bug" });
    const { data: someone } = await maya.rest.users.getByUsername({ username: "maya" });
    const draft = { repositoryId: repo.node_id, title: "The hose leaks", labelIds: [bug.node_id], assigneeIds: [someone.node_id] };
    const { issue } = await deed(maya, "createIssue", "CreateIssue", draft, "issue { id number labels(first: 5) { nodes { name } } }");
    assert.deepEqual(issue.labels.nodes, [{ name: "bug" }]);
    const read = async () => (await maya.rest.issues.get({ ...garden, issue_number: issue.number })).data;
    assert.deepEqual((await read()).assignees.map(({ login }) => login), ["maya"]);
    await deed(maya, "closeIssue", "CloseIssue", { issueId: issue.id, stateReason: "NOT_PLANNED" }, "clientMutationId");
    assert.deepEqual([(await read()).state, (await read()).state_reason], ["closed", "not_planned"]);
    await deed(maya, "reopenIssue", "ReopenIssue", { issueId: issue.id }, "clientMutationId");
    assert.deepEqual([(await read()).state, (await read()).state_reason], ["open", "reopened"]);
    await deed(maya, "updateIssue", "UpdateIssue", { id: issue.id, title: "The green hose leaks", labelIds: [] }, "clientMutationId");
    assert.deepEqual([(await read()).title, (await read()).labels], ["The green hose leaks", []]);
    await deed(maya, "removeAssigneesFromAssignable", "RemoveAssigneesFromAssignable", { assignableId: issue.id, assigneeIds: [someone.node_id] }, "clientMutationId");
    assert.deepEqual((await read()).assignees, []);
    await deed(maya, "addAssigneesToAssignable", "AddAssigneesToAssignable", { assignableId: issue.id, assigneeIds: [someone.node_id] }, "clientMutationId");
    assert.deepEqual((await read()).assignees.map(({ login }) => login), ["maya"]);
    await refused("FORBIDDEN", deed(rita, "closeIssue", "CloseIssue", { issueId: wet.node_id }, "clientMutationId"));
  });

  await check("GraphQL: a pull request becomes a draft, is ready, asks for reviews, is reworded, closed, opened again", async () => {
    const id = pull.node_id;
    const { data: reader } = await maya.rest.users.getByUsername({ username: "rita" });
    const read = async () => (await maya.rest.pulls.get(at)).data;
    await deed(maya, "convertPullRequestToDraft", "ConvertPullRequestToDraft", { pullRequestId: id }, "pullRequest { isDraft }");
    assert.equal((await read()).draft, true);
    await deed(maya, "markPullRequestReadyForReview", "MarkPullRequestReadyForReview", { pullRequestId: id }, "pullRequest { isDraft }");
    assert.equal((await read()).draft, false);
    await deed(maya, "requestReviews", "RequestReviews", { pullRequestId: id, userIds: [reader.node_id], union: true }, "clientMutationId");
    assert.deepEqual((await read()).requested_reviewers.map(({ login }) => login), ["rita"]);
    await deed(maya, "updatePullRequest", "UpdatePullRequest", { pullRequestId: id, body: "Fixes #1 at last." }, "clientMutationId");
    assert.equal((await read()).body, "Fixes #1 at last.");
    await deed(maya, "closePullRequest", "ClosePullRequest", { pullRequestId: id }, "pullRequest { state }");
    assert.equal((await read()).state, "closed");
    await deed(maya, "reopenPullRequest", "ReopenPullRequest", { pullRequestId: id }, "pullRequest { state }");
    assert.equal((await read()).state, "open");
  });
}
