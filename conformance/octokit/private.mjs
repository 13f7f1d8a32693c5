// What somebody may not see or do, by each of the doors: private repositories, reviews that are not given, narrow tokens.

import assert from "node:assert/strict";
import { App } from "octokit";
import { rest } from "../world.mjs";

export default async function testify({ world, Client, as, check, refused, garden, maya, octo, rita }) {
  const { id, installation, key } = world.app;
  const signed = new App({ appId: id, privateKey: key, Octokit: Client }).octokit;
  const holding = async (permissions) => {
    const { data } = await signed.rest.apps.createInstallationAccessToken({ installation_id: installation, permissions });
    return as(data.token);
  };
  const cellar = { owner: "octo", repo: "cellar" };
  /** What GraphQL answers in part: the data, and the kinds of its errors. */
  const partly = async (client, text, variables) => {
    try {
      return { data: await client.graphql(text, variables), kinds: [] };
    } catch (error) {
      return { data: error.response.data, kinds: error.response.errors.map(({ type }) => type) };
    }
  };

  await check("A1 resolveReviewThread wants contents besides pull_requests; it is told null", async () => {
    await maya.rest.pulls.createReviewComment({
      ...garden, pull_number: 2, commit_id: (await maya.rest.pulls.get({ ...garden, pull_number: 2 })).data.head.sha, path: "tap.rs", line: 6, body: "Hm",
    });
    const { repository } = await maya.graphql(`{ repository(owner: "octo", name: "garden") {
      pullRequest(number: 2) { reviewThreads(first: 1) { nodes { id } } } } }`);
    const [thread] = repository.pullRequest.reviewThreads.nodes;
    const helper = await holding({ pull_requests: "write", contents: "read" });
    const told = await partly(helper, "mutation ($id: ID!) { resolveReviewThread(input: { threadId: $id }) { thread { id } } }", { id: thread.id });
    assert.deepEqual(told, { data: { resolveReviewThread: null }, kinds: ["FORBIDDEN"] });
  });

  await check("A2 GraphQL reads of a private repository by permission: issues, one issue, and by its id", async () => {
    const helper = await holding({ contents: "read" });
    const read = (fields) => partly(helper, `{ repository(owner: "octo", name: "cellar") { ${fields} } }`);
    const many = await read("name issues(first: 1) { nodes { title } }");
    assert.deepEqual(many, { data: { repository: null }, kinds: ["FORBIDDEN"] });
    const one = await read("name issue(number: 1) { title }");
    assert.deepEqual(one, { data: { repository: { name: "cellar", issue: null } }, kinds: ["FORBIDDEN"] });
    const { node_id } = (await octo.rest.issues.get({ ...cellar, issue_number: 1 })).data;
    const byId = await partly(helper, "query ($id: ID!) { node(id: $id) { ... on Issue { title } } }", { id: node_id });
    assert.deepEqual(byId, { data: { node: null }, kinds: ["FORBIDDEN"] });
    await refused(403, helper.rest.issues.get({ ...cellar, issue_number: 1 }));
    const own = await holding({ issues: "read" });
    const { repository } = await own.graphql('{ repository(owner: "octo", name: "cellar") { issues(first: 1) { totalCount } } }');
    assert.equal(repository.issues.totalCount, 1);
  });

  await check("A4 a review that is not given yet is in no list and on no page of anybody else's", async () => {
    const pull = { ...garden, pull_number: 2 };
    const begun = (await rita.rest.pulls.createReview({ ...pull, comments: [{ path: "tap.rs", line: 6, body: "Between us" }] })).data;
    assert.equal(begun.state, "PENDING");
    const [own] = (await rita.rest.pulls.listCommentsForReview({ ...pull, review_id: begun.id })).data;
    assert.equal(own.body, "Between us");
    const ids = (items) => items.map(({ id }) => id);
    assert.ok(!ids((await octo.rest.pulls.listReviews(pull)).data).includes(begun.id));
    assert.ok(!ids((await octo.rest.pulls.listReviewComments(pull)).data).includes(own.id));
    assert.ok(!ids((await octo.rest.pulls.listReviewCommentsForRepo(garden)).data).includes(own.id));
    const { repository } = await octo.graphql(`{ repository(owner: "octo", name: "garden") { pullRequest(number: 2) {
      latestReviews(first: 9) { nodes { author { login } } } reviewThreads(first: 9) { nodes { comments(first: 9) { nodes { body } } } } } } }`);
    assert.ok(!JSON.stringify(repository).includes("rita") && !JSON.stringify(repository).includes("Between us"));
    const page = await (await fetch(`${world.api}/octo/garden/pull/2`)).text();
    assert.ok(page.includes("Give the tap a new seal") && !page.includes("Between us"));
    await rita.rest.pulls.deletePendingReview({ ...pull, review_id: begun.id });
  });

  await check("A5 outside its grant nothing is there; a reaction without permission is FORBIDDEN; no page for strangers", async () => {
    const job = as(world.jobs.comment.token);
    await refused(404, job.rest.issues.createComment({ ...cellar, issue_number: 1, body: "x" }));
    await refused(404, job.rest.repos.get(cellar));
    const helper = await holding({ contents: "read" });
    const subject = (await maya.rest.issues.get({ ...garden, issue_number: 1 })).data.node_id;
    const told = await partly(helper, "mutation ($id: ID!) { addReaction(input: { subjectId: $id, content: EYES }) { reaction { content } } }", { id: subject });
    assert.deepEqual(told, { data: { addReaction: null }, kinds: ["FORBIDDEN"] });
    assert.equal((await fetch(`${world.api}/octo/cellar/issues/1`)).status, 404);
  });

  await check("B3 an outdated remark has no position; a review is given at the time it is given, and is asked for no more", async () => {
    const { git, pulls } = maya.rest;
    const main = (await git.getRef({ ...garden, ref: "heads/main" })).data.object.sha;
    const commit = async (text, parent) => {
      const entry = { path: "tap.rs", mode: "100644", type: "blob", content: text };
      const tree = (await git.createTree({ ...garden, base_tree: parent, tree: [entry] })).data.sha;
      return (await git.createCommit({ ...garden, message: text, tree, parents: [parent] })).data.sha;
    };
    const first = await commit("one\ntwo\nthree\n", main);
    await git.createRef({ ...garden, ref: "refs/heads/lines", sha: first });
    const { number } = (await pulls.create({ ...garden, title: "Lines", head: "lines", base: "main" })).data;
    const pull = { ...garden, pull_number: number };
    const said = { ...pull, commit_id: first, path: "tap.rs", body: "Two?", start_line: 1, line: 2, side: "RIGHT", start_side: "RIGHT" };
    const { data: remark } = await octo.rest.pulls.createReviewComment(said);
    assert.deepEqual([remark.start_line, remark.line, typeof remark.position], [1, 2, "number"]);
    await pulls.requestReviewers({ ...pull, reviewers: ["rita"] });
    const begun = (await rita.rest.pulls.createReview({ ...pull, body: "Later" })).data;
    assert.equal(begun.submitted_at, undefined);
    await git.updateRef({ ...garden, ref: "heads/lines", sha: await commit("quite another\n", first) });
    // Without octokit: the description has the lines of a remark as numbers, and not the null of an outdated one.
    const { body: outdated } = await rest(world, `/repos/octo/garden/pulls/comments/${remark.id}`);
    assert.deepEqual([outdated.position, outdated.line, outdated.start_line], [null, null, null]);
    assert.deepEqual([outdated.original_line, outdated.original_start_line, outdated.original_commit_id], [2, 1, first]);
    const started = Date.now() - 1000;
    const { data: given } = await rita.rest.pulls.submitReview({ ...pull, review_id: begun.id, event: "COMMENT" });
    assert.ok(Date.parse(given.submitted_at) >= started - 1000);
    assert.deepEqual((await pulls.listRequestedReviewers(pull)).data.users, []);
  });

  await check("D2 a wrong question has no data, and is refused in the words of GitHub's library", async () => {
    const words = async (text) => {
      const answer = await fetch(world.graphql, {
        method: "POST", headers: { authorization: `Bearer ${world.tokens.maya}` }, body: JSON.stringify({ query: text }),
      });
      const { data, errors } = await answer.json();
      return [data, errors[0].message, errors[0].extensions.code];
    };
    assert.deepEqual(await words("{ viewer { nope } }"), [undefined, "Field 'nope' doesn't exist on type 'User'", "undefinedField"]);
    assert.deepEqual(await words('{ repository(owner: "octo") { id } }'), [
      undefined, "Field 'repository' is missing required arguments: name", "missingRequiredArguments",
    ]);
    const [, selections] = await words("{ viewer }");
    assert.match(selections, /^Field must have selections \(field 'viewer' returns User but has no selections/);
  });

  await check("D4 blank and long words are UNPROCESSABLE, a cursor of nobody's is refused, a folded comment keeps its kind", async () => {
    const { node_id: subject } = (await maya.rest.issues.get({ ...garden, issue_number: 1 })).data;
    const { repository } = await maya.graphql(`query ($n: Int!) { repository(owner: "octo", name: "garden") { discussion(number: $n) { id } } }`, { n: world.discussion });
    const comment = "mutation ($id: ID!, $body: String!) { addComment(input: { subjectId: $id, body: $body }) { clientMutationId } }";
    const discuss = "mutation ($id: ID!, $body: String!) { addDiscussionComment(input: { discussionId: $id, body: $body }) { clientMutationId } }";
    for (const body of [" \n", "x".repeat(300_000)]) {
      assert.deepEqual(await partly(maya, comment, { id: subject, body }), { data: { addComment: null }, kinds: ["UNPROCESSABLE"] });
      const told = await partly(maya, discuss, { id: repository.discussion.id, body });
      assert.deepEqual(told, { data: { addDiscussionComment: null }, kinds: ["UNPROCESSABLE"] });
    }
    const page = await partly(maya, '{ repository(owner: "octo", name: "garden") { issues(first: 1, after: "nobody") { totalCount } } }');
    assert.deepEqual(page.kinds, ["INVALID_CURSOR_ARGUMENTS"]);
    const [last] = (await maya.rest.issues.listComments({ ...garden, issue_number: 1 })).data;
    const { minimizeComment } = await maya.graphql(
      "mutation ($id: ID!) { minimizeComment(input: { subjectId: $id, classifier: OUTDATED }) { minimizedComment { __typename } } }",
      { id: last.node_id },
    );
    assert.equal(minimizeComment.minimizedComment.__typename, "IssueComment");
  });

  await check("E3 issues.listForRepo: mentioned and milestone; repos.listCommits: author, since, until", async () => {
    const found = async (filter) => (await maya.rest.issues.listForRepo({ ...garden, ...filter })).data.map(({ number }) => number);
    await maya.rest.issues.createComment({ ...garden, issue_number: 3, body: "@rita, how many?" });
    assert.deepEqual(await found({ mentioned: "rita" }), [3]);
    assert.deepEqual(await found({ milestone: "*" }), []);
    assert.ok((await found({ milestone: "none" })).length > 1);
    const commits = async (filter) => (await maya.rest.repos.listCommits({ ...garden, ...filter })).data.length;
    assert.equal(await commits({ author: "mallory" }), 0);
    assert.ok((await commits({ author: "maya" })) > 0);
    assert.deepEqual([await commits({ since: "2040-01-01T00:00:00Z" }), await commits({ until: "2000-01-01T00:00:00Z" })], [0, 0]);
  });

  await check("E5 a pool of its own for REST, GraphQL and searching; a 304 costs nothing; an empty pool refuses", async () => {
    const stranger = as("mallory");
    const left = async () => {
      const { resources } = (await stranger.rest.rateLimit.get()).data;
      return ["core", "graphql", "search"].map((pool) => resources[pool].used);
    };
    const { headers } = await stranger.rest.issues.get({ ...garden, issue_number: 1 });
    assert.deepEqual(await left(), [1, 0, 0]);
    await refused(304, stranger.rest.issues.get({ ...garden, issue_number: 1, headers: { "if-none-match": headers.etag } }));
    await stranger.graphql("{ viewer { login } }");
    assert.deepEqual((await left()).slice(0, 2), [1, 1]);
    const limits = async (client) => (await client.rest.rateLimit.get()).data.resources;
    assert.equal((await limits(await holding({ issues: "read" }))).core.limit, 5000);
    assert.deepEqual([(await limits(as(world.jobs.comment.token))).core.limit, (await limits(maya)).search.limit], [1000, 30]);
    const search = () => stranger.rest.search.issuesAndPullRequests({ q: "repo:octo/garden" });
    // At most a minute's worth, and one more in case that a minute ends meanwhile.
    let refusal;
    for (let n = 0; n < 61 && !refusal; n += 1) refusal = await search().then(() => undefined, (error) => error);
    assert.equal(refusal?.status, 403, "thirty searches a minute");
    assert.match(refusal.message, /API rate limit exceeded/);
    assert.deepEqual([refusal.response.headers["x-ratelimit-remaining"], refusal.response.headers["x-ratelimit-resource"]], ["0", "search"]);
  });
}
