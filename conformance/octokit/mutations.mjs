// GraphQL's deeds, by octokit: each is asked for once, and looked up afterwards by another question.

import assert from "node:assert/strict";
import { App } from "octokit";

/** The answer to a question that fails, wholly or in part. */
const failed = (promise) =>
  promise.then(
    () => assert.fail("it did not fail"),
    (error) => error.response,
  );

export default async function testify({ world, as, Client, check, maya, bot, garden }) {
  const ask = (client, text, variables) => client.graphql(text, { ...garden, ...variables });
  const issue = async (client, fields) =>
    (await ask(client, `query ($owner: String!, $repo: String!) {
      repository(owner: $owner, name: $repo) { issue(number: 1) { id ${fields} } }
    }`)).repository.issue;

  await check("GraphQL: a comment is added and folded away", async () => {
    const { id } = await issue(maya, "");
    const { addComment } = await ask(maya, `mutation ($id: ID!) {
      addComment(input: { subjectId: $id, body: "Is it the seal?" }) { commentEdge { node { id body } } }
    }`, { id });
    const comment = addComment.commentEdge.node;
    assert.equal(comment.body, "Is it the seal?");
    await ask(maya, `mutation ($id: ID!) {
      minimizeComment(input: { subjectId: $id, classifier: OUTDATED }) { minimizedComment { __typename isMinimized ... on IssueComment { body } } }
    }`, { id: comment.id }).then(({ minimizeComment }) => {
      const { minimizedComment } = minimizeComment;
      assert.deepEqual(minimizedComment, { __typename: "IssueComment", isMinimized: true, body: "Is it the seal?" });
    });
    const { comments } = await issue(maya, "comments(last: 1) { nodes { id isMinimized minimizedReason } }");
    const [last] = comments.nodes;
    assert.deepEqual([last.id, last.isMinimized, last.minimizedReason.toLowerCase()], [comment.id, true, "outdated"]);
  });

  await check("GraphQL: every node_id that REST gives is known, one by one and together", async () => {
    const { data: pull } = await maya.rest.pulls.get({ ...garden, pull_number: 2 });
    const at = { ...garden, pull_number: 2, commit_id: pull.head.sha };
    const remark = (await maya.rest.pulls.createReviewComment({ ...at, path: "tap.rs", line: 6, body: "Hm" })).data;
    const review = (await maya.rest.pulls.listReviews({ ...garden, pull_number: 2 })).data.at(-1);
    const run = (await bot.rest.checks.create({ ...garden, name: "drip", head_sha: pull.head.sha })).data;
    const [commit] = (await maya.rest.repos.listCommits(garden)).data;
    const label = (await maya.rest.issues.getLabel({ ...garden, name: "bug" })).data;
    const [comment] = (await maya.rest.issues.listComments({ ...garden, issue_number: 1 })).data;
    const [reaction] = (await maya.rest.reactions.listForIssue({ ...garden, issue_number: 1 })).data;
    const { data: someone } = await maya.rest.users.getByUsername({ username: "mallory" });
    const { data: robot } = await maya.rest.users.getByUsername({ username: "github-actions[bot]" });
    const { data: repo } = await maya.rest.repos.get(garden);
    const expected = {
      PullRequest: pull, PullRequestReviewComment: remark, PullRequestReview: review, CheckRun: run, Commit: commit,
      Label: label, IssueComment: comment, Reaction: reaction, User: someone, Bot: robot, Repository: repo,
    };
    const ids = Object.values(expected).map(({ node_id }) => node_id);
    const { nodes, rateLimit } = await ask(maya, "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } rateLimit { limit remaining cost } }", { ids });
    assert.deepEqual(nodes, Object.entries(expected).map(([kind, { node_id }]) => ({ __typename: kind, id: node_id })));
    assert.deepEqual([rateLimit.limit, rateLimit.cost], [5000, 1]);
    const { node } = await ask(maya, "query ($id: ID!) { node(id: $id) { ... on Commit { oid messageHeadline } } }", { id: commit.node_id });
    assert.deepEqual(node, { oid: commit.sha, messageHeadline: commit.commit.message });
  });

  await check("GraphQL: what a remark and a pull request tell a reviewer", async () => {
    const told = (await ask(maya, `query ($owner: String!, $repo: String!) {
      repository(owner: $owner, name: $repo) { pullRequest(number: 2) {
        mergeable mergeStateStatus reviewDecision mergedAt potentialMergeCommit { oid } mergeCommit { oid }
        closingIssuesReferences(first: 5) { nodes { number } }
        reviewThreads(last: 1) { nodes { comments(first: 5) { nodes {
          url diffHunk line originalLine outdated updatedAt replyTo { id } pullRequestReview { state }
        } } } }
      } }
    }`)).repository.pullRequest;
    const { data: pull } = await maya.rest.pulls.get({ ...garden, pull_number: 2 });
    assert.deepEqual(
      [told.mergeable, told.mergeStateStatus, told.reviewDecision, told.potentialMergeCommit.oid, told.mergeCommit],
      ["MERGEABLE", "UNSTABLE", null, pull.merge_commit_sha, null],
    );
    assert.deepEqual(told.closingIssuesReferences.nodes, [{ number: 1 }]);
    const [first] = told.reviewThreads.nodes[0].comments.nodes;
    assert.match(first.url, /\/pull\/2#discussion_r\d+$/);
    assert.match(first.diffHunk, /^@@ /);
    assert.deepEqual([first.line, first.outdated, first.replyTo, first.pullRequestReview.state], [6, false, null, "COMMENTED"]);
  });

  await check("GraphQL: a reaction comes and goes", async () => {
    const { id } = await issue(bot, "");
    const eyes = async () => {
      const { reactionGroups } = await issue(bot, "reactionGroups { content viewerHasReacted }");
      return reactionGroups.find(({ content }) => content === "EYES").viewerHasReacted;
    };
    const react = (deed) =>
      ask(bot, `mutation ($id: ID!) { ${deed}(input: { subjectId: $id, content: EYES }) { clientMutationId } }`, { id });
    await react("addReaction");
    assert.equal(await eyes(), true);
    await react("removeReaction");
    assert.equal(await eyes(), false);
  });

  await check("GraphQL: a review thread is resolved and opened again", async () => {
    const threads = async () => {
      const { repository } = await ask(maya, `query ($owner: String!, $repo: String!) {
        repository(owner: $owner, name: $repo) {
          pullRequest(number: 2) { headRefOid files(first: 1) { nodes { path } } reviewThreads(first: 5) { nodes { id isResolved } } }
        }
      }`);
      return repository.pullRequest;
    };
    const { headRefOid, files } = await threads();
    const { data: changed } = await maya.rest.pulls.listFiles({ ...garden, pull_number: 2 });
    const added = Number(changed[0].patch.match(/^@@ -\S+ \+(\d+)/)[1]);
    const anchor = { commit_id: headRefOid, path: files.nodes[0].path, line: added, side: "RIGHT" };
    await maya.rest.pulls.createReviewComment({ ...garden, pull_number: 2, body: "Rubber again?", ...anchor });
    const thread = async () => (await threads()).reviewThreads.nodes.at(-1);
    const { id } = await thread();
    for (const [deed, resolved] of [["resolveReviewThread", true], ["unresolveReviewThread", false]]) {
      await ask(maya, `mutation ($id: ID!) { ${deed}(input: { threadId: $id }) { thread { isResolved } } }`, { id });
      assert.equal((await thread()).isResolved, resolved);
    }
  });

  await check("GraphQL: without contents:write a thread stays open; without permission nothing is told of a private repository", async () => {
    const { id: appId, key, installation } = world.app;
    const signed = new App({ appId, privateKey: key, Octokit: Client }).octokit;
    const token = async (permissions) =>
      as((await signed.rest.apps.createInstallationAccessToken({ installation_id: installation, permissions })).data.token);
    const weak = await token({ pull_requests: "write", contents: "read" });
    const read = `{ repository(owner: "octo", name: "garden") {
      pullRequest(number: 2) { reviewThreads(last: 1) { nodes { id viewerCanResolve } } } } }`;
    const [thread] = (await weak.graphql(read)).repository.pullRequest.reviewThreads.nodes;
    assert.equal(thread.viewerCanResolve, false);
    const resolve = `mutation { resolveReviewThread(input: { threadId: "${thread.id}" }) { thread { id } } }`;
    const told = await failed(weak.graphql(resolve));
    assert.deepEqual([told.data, told.errors[0].type], [{ resolveReviewThread: null }, "FORBIDDEN"]);
    const question = `{ repository(owner: "octo", name: "cellar") { isPrivate issue(number: 1) { title } } }`;
    const secret = await failed((await token({ contents: "read" })).graphql(question));
    assert.deepEqual([secret.data, secret.errors[0].type], [{ repository: { isPrivate: true, issue: null } }, "FORBIDDEN"]);
    const { id } = await issue(maya, "");
    const react = `mutation { addReaction(input: { subjectId: "${id}", content: EYES }) { clientMutationId } }`;
    assert.equal((await failed((await token({ contents: "read" })).graphql(react))).errors[0].type, "FORBIDDEN");
  });

  await check("GraphQL: a deed that fails leaves its neighbours; wrong questions in GitHub's words", async () => {
    const { id } = await issue(maya, "");
    const add = (name, body) => `${name}: addComment(input: { subjectId: "${id}", body: "${body}" }) { clientMutationId }`;
    const told = await failed(maya.graphql(`mutation { ${add("one", " ")} ${add("two", "Two")} }`));
    assert.deepEqual([told.data, told.errors[0].type], [{ one: null, two: { clientMutationId: null } }, "UNPROCESSABLE"]);
    const unknown = await failed(maya.graphql("{ viewer { shoeSize } }"));
    assert.deepEqual([unknown.data, unknown.errors[0].message], [undefined, "Field 'shoeSize' doesn't exist on type 'User'"]);
    const cursor = await failed(maya.graphql(`{ repository(owner: "octo", name: "garden") { issues(first: 1, after: "x") { totalCount } } }`));
    assert.equal(cursor.errors[0].type, "INVALID_CURSOR_ARGUMENTS");
  });

  await check("GraphQL: a discussion wears a label", async () => {
    const read = async () =>
      (await ask(maya, `query ($owner: String!, $repo: String!) {
        repository(owner: $owner, name: $repo) {
          discussion(number: ${world.discussion}) { id labels(first: 5) { nodes { name } } }
        }
      }`)).repository.discussion;
    const { id } = await read();
    const label = await maya.request("GET /repos/{owner}/{repo}/labels/{name}", { ...garden, name: "bug" });
    for (const [deed, worn] of [["addLabelsToLabelable", [{ name: "bug" }]], ["removeLabelsFromLabelable", []]]) {
      const change = `mutation ($id: ID!, $label: ID!) {
        ${deed}(input: { labelableId: $id, labelIds: [$label] }) { clientMutationId }
      }`;
      await ask(maya, change, { id, label: label.data.node_id });
      assert.deepEqual((await read()).labels.nodes, worn);
    }
  });

  await check("GraphQL: a discussion is answered below a comment", async () => {
    const read = async () =>
      (await ask(maya, `query ($owner: String!, $repo: String!) {
        repository(owner: $owner, name: $repo) {
          discussion(number: ${world.discussion}) { id comments(first: 20) { nodes { id body replies(first: 20) { nodes { body } } } } }
        }
      }`)).repository.discussion;
    const discussion = await read();
    const add = `mutation ($id: ID!, $above: ID, $body: String!) {
      addDiscussionComment(input: { discussionId: $id, replyToId: $above, body: $body }) { comment { id } }
    }`;
    const { addDiscussionComment } = await ask(maya, add, { id: discussion.id, body: "Which hose?" });
    await ask(maya, add, { id: discussion.id, above: addDiscussionComment.comment.id, body: "The green one." });
    const asked = (await read()).comments.nodes.find(({ body }) => body === "Which hose?");
    assert.deepEqual(asked.replies.nodes, [{ body: "The green one." }]);
  });
}
