// Finding things again: search, what happened to issues and when, and what is wrong with the list of code owners.

import assert from "node:assert/strict";

export default async function testify({ check, refused, garden, maya, octo, as }) {
  const issue = { ...garden, issue_number: 1 };
  const numbers = (items) => items.map(({ number }) => number);

  await check("search.issuesAndPullRequests: qualifiers, words, order, pages", async () => {
    const search = async (q, more) => (await maya.rest.search.issuesAndPullRequests({ q, ...more })).data;
    const all = await search("repo:octo/garden");
    assert.deepEqual([all.total_count, all.incomplete_results, numbers(all.items)], [3, false, [3, 2, 1]]);
    assert.deepEqual(numbers((await search("repo:octo/garden is:pr is:open")).items), [2]);
    assert.deepEqual(numbers((await search('repo:octo/garden is:issue label:"help wanted"')).items), [3]);
    assert.deepEqual(numbers((await search("repo:octo/garden is:issue -label:bug")).items), [3]);
    assert.deepEqual(numbers((await search("puddle repo:octo/garden")).items), [1]);
    assert.deepEqual(numbers((await search("repo:octo/garden", { sort: "created", order: "asc", per_page: 2 })).items), [1, 2]);
    const { headers } = await maya.rest.search.issuesAndPullRequests({ q: "repo:octo/garden", per_page: 1 });
    assert.match(headers.link, /\/search\/issues\?.*page=2>; rel="next"/);
    assert.equal(headers["x-ratelimit-resource"], "search");
    await refused(422, maya.request("GET /search/issues", { q: "" }));
    // What is private is found only by those who see it.
    const stranger = as("mallory").rest.search.issuesAndPullRequests({ q: "repo:octo/cellar" });
    await refused(422, stranger, /do not exist or you do not have permission to view them/);
    const own = (await octo.rest.search.issuesAndPullRequests({ q: "repo:octo/cellar" })).data;
    assert.ok(own.total_count > 0);
  });

  await check("GraphQL: search counts and shows issues and pull requests", async () => {
    const { search } = await maya.graphql(`{ search(type: ISSUE, query: "repo:octo/garden is:open", first: 2) {
      issueCount pageInfo { hasNextPage } edges { cursor }
      nodes { __typename ... on Issue { number } ... on PullRequest { number headRefName } }
    } }`);
    assert.deepEqual([search.issueCount, search.pageInfo.hasNextPage, search.edges.length], [3, true, 2]);
    const kinds = search.nodes.map(({ __typename, number }) => [__typename, number]);
    assert.deepEqual(kinds, [["Issue", 3], ["PullRequest", 2]]);
  });

  await check("issues.listEvents and the timeline: what was done and said, in its order, by whom", async () => {
    const { rest } = maya;
    await rest.issues.addLabels({ ...issue, labels: ["help wanted"] });
    await rest.issues.removeLabel({ ...issue, name: "help wanted" });
    await rest.issues.addAssignees({ ...issue, assignees: ["maya"] });
    await rest.issues.update({ ...issue, title: "The floor is wet" });
    await rest.issues.createComment({ ...issue, body: "Since May" });
    await rest.issues.lock({ ...issue, lock_reason: "resolved" });
    await rest.issues.unlock(issue);
    await rest.issues.update({ ...issue, state: "closed" });
    await rest.issues.update({ ...issue, state: "open" });
    const events = (await rest.issues.listEventsForTimeline(issue)).data;
    assert.deepEqual(events.map(({ event }) => event), [
      "commented", "commented", "labeled", "unlabeled", "assigned", "renamed", "commented", "locked", "unlocked", "closed", "reopened",
    ]);
    assert.deepEqual(events[2].label, { name: "help wanted", color: "008672" });
    assert.deepEqual([events[5].rename, events[5].actor.login], [{ from: "The floor is wet every morning", to: "The floor is wet" }, "maya"]);
    assert.equal(events[7].lock_reason, "resolved");
    const own = await maya.request("GET /repos/{owner}/{repo}/issues/{issue_number}/events", issue);
    const done = events.filter(({ event }) => event !== "commented");
    assert.deepEqual(own.data.map(({ id }) => id), done.map(({ id }) => id));
    const { data: everywhere } = await rest.issues.listEventsForRepo(garden);
    assert.deepEqual(everywhere.map(({ id }) => id), done.map(({ id }) => id).reverse());
    const { data: one } = await rest.issues.getEvent({ ...garden, event_id: done[0].id });
    assert.deepEqual([one.event, one.issue.number], ["labeled", 1]);
    await refused(404, rest.issues.getEvent({ ...garden, event_id: 1 }));
  });

  await check("the timeline of a pull request: commits, reviews, requests", async () => {
    const pull = { ...garden, pull_number: 2 };
    await maya.rest.pulls.requestReviewers({ ...pull, reviewers: ["octo"] });
    await octo.rest.pulls.createReview({ ...pull, event: "APPROVE" });
    const { data } = await maya.rest.issues.listEventsForTimeline({ ...garden, issue_number: 2 });
    const words = data.map(({ event }) => event);
    assert.deepEqual(words.slice(0, 3), ["committed", "review_requested", "reviewed"]);
    assert.deepEqual([data[1].requested_reviewer.login, data[2].user.login, data[2].state], ["octo", "octo", "approved"]);
  });

  await check("repos.codeownersErrors: as in the documentation's own example", async () => {
    await refused(404, maya.rest.repos.codeownersErrors(garden));
    const lines = ["# Who", "* @maya", "***/*.rb @maya", "", "docs/ maya@garden.example", "", "*.txt docs@", "*.rs @nobody-here"];
    const base = (await maya.rest.git.getRef({ ...garden, ref: "heads/main" })).data.object.sha;
    const file = { path: ".github/CODEOWNERS", mode: "100644", type: "blob", content: lines.join("\n") };
    const tree = (await maya.rest.git.createTree({ ...garden, base_tree: base, tree: [file] })).data.sha;
    const commit = (await maya.rest.git.createCommit({ ...garden, message: "Owners", tree, parents: [base] })).data.sha;
    await maya.rest.git.createRef({ ...garden, ref: "refs/heads/owners", sha: commit });
    const { errors } = (await maya.rest.repos.codeownersErrors({ ...garden, ref: "owners" })).data;
    assert.deepEqual(errors[0], {
      line: 3, column: 1, kind: "Invalid pattern", source: "***/*.rb @maya", suggestion: "Did you mean `**/*.rb`?",
      message: "Invalid pattern on line 3: Did you mean `**/*.rb`?\n\n  ***/*.rb @maya\n  ^", path: ".github/CODEOWNERS",
    });
    assert.deepEqual(errors[1], {
      line: 7, column: 7, kind: "Invalid owner", source: "*.txt docs@", suggestion: null,
      message: "Invalid owner on line 7:\n\n  *.txt docs@\n        ^", path: ".github/CODEOWNERS",
    });
    assert.deepEqual(errors.slice(2).map(({ line }) => line), [8]);
  });
}
