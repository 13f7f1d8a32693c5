// Issues with their comments, labels and reactions.

import assert from "node:assert/strict";

export default async function testify({ world, check, refused, garden, maya, rita }) {
  const { issues, reactions } = maya.rest;
  await check("issues.get, listForRepo", async () => {
    assert.equal((await issues.get({ ...garden, issue_number: 1 })).data.user.login, "mallory");
    const numbers = (await issues.listForRepo(garden)).data.map(({ number }) => number);
    assert.deepEqual(numbers, [3, 2, 1]);
  });
  await check("issues.create, update; strangers' labels are dropped, their edits refused", async () => {
    const { data } = await issues.create({ ...garden, title: "Frost", body: "Tonight", labels: ["bug"] });
    assert.deepEqual([data.number, data.labels[0].name], [world.discussion + 1, "bug"]);
    const closed = await issues.update({ ...garden, issue_number: data.number, state: "closed", title: "No frost" });
    assert.deepEqual([closed.data.state, closed.data.title], ["closed", "No frost"]);
    const open = await rita.rest.issues.create({ ...garden, title: "Snails", labels: ["bug"] });
    assert.deepEqual(open.data.labels, []);
    await refused(403, rita.rest.issues.update({ ...garden, issue_number: 1, title: "Mine" }));
    await refused(422, issues.create({ ...garden, title: "Long", body: "x".repeat(65_537) }));
    assert.equal((await issues.listForRepo({ ...garden, state: "closed" })).data.length, 1);
  });
  await check("issues.createComment, get, update, list, delete", async () => {
    const { data } = await issues.createComment({ ...garden, issue_number: 1, body: "Six" });
    const comment = { ...garden, comment_id: data.id };
    await issues.updateComment({ ...comment, body: "Seven" });
    assert.equal((await issues.getComment(comment)).data.body, "Seven");
    assert.equal((await issues.listComments({ ...garden, issue_number: 1 })).data.at(-1).body, "Seven");
    await issues.deleteComment(comment);
    await refused(404, issues.getComment(comment));
  });
  await check("issues.createComment refuses what is too long or blank", async () => {
    await refused(422, issues.createComment({ ...garden, issue_number: 1, body: "x".repeat(262_145) }));
    await refused(422, issues.createComment({ ...garden, issue_number: 1, body: " " }));
  });
  await check("labels: create, get, list, add, remove", async () => {
    await issues.createLabel({ ...garden, name: "wet", color: "0052cc", description: "Water" });
    assert.equal((await issues.getLabel({ ...garden, name: "wet" })).data.color, "0052cc");
    await refused(422, issues.createLabel({ ...garden, name: "wet", color: "0052cc" }));
    await issues.addLabels({ ...garden, issue_number: 3, labels: ["wet"] });
    const names = (await issues.listLabelsOnIssue({ ...garden, issue_number: 3 })).data.map(({ name }) => name);
    assert.deepEqual(names, ["help wanted", "wet"]);
    await issues.removeLabel({ ...garden, issue_number: 3, name: "wet" });
    assert.equal((await issues.listLabelsForRepo(garden)).data.length, 3);
  });
  await check("reactions: on an issue and on a comment", async () => {
    const { data, status } = await reactions.createForIssue({ ...garden, issue_number: 1, content: "eyes" });
    assert.equal(status, 201);
    assert.equal((await reactions.createForIssue({ ...garden, issue_number: 1, content: "eyes" })).status, 200);
    assert.equal((await reactions.listForIssue({ ...garden, issue_number: 1, content: "eyes" })).data.length, 1);
    await reactions.deleteForIssue({ ...garden, issue_number: 1, reaction_id: data.id });
    const [comment] = (await issues.listComments({ ...garden, issue_number: 1 })).data;
    const on = { ...garden, comment_id: comment.id };
    const left = await reactions.createForIssueComment({ ...on, content: "hooray" });
    assert.equal((await reactions.listForIssueComment(on)).data[0].content, "hooray");
    await reactions.deleteForIssueComment({ ...on, reaction_id: left.data.id });
  });
  await check("issues: assignees, lock, labels set and removed, comments of the whole repository", async () => {
    const one = { ...garden, issue_number: 3 };
    const assigned = (await issues.addAssignees({ ...one, assignees: ["rita", "mallory"] })).data;
    assert.deepEqual(assigned.assignees.map(({ login }) => login), ["rita"]);
    assert.deepEqual((await issues.removeAssignees({ ...one, assignees: ["rita"] })).data.assignees, []);
    await issues.lock({ ...one, lock_reason: "spam" });
    assert.equal((await issues.get(one)).data.active_lock_reason, "spam");
    await issues.unlock(one);
    assert.deepEqual((await issues.setLabels({ ...one, labels: ["bug"] })).data.map(({ name }) => name), ["bug"]);
    await issues.removeAllLabels(one);
    assert.deepEqual((await issues.listLabelsOnIssue(one)).data, []);
    await refused(422, issues.addLabels({ ...one, labels: [] }));
    assert.ok((await issues.listCommentsForRepo(garden)).data.length > 0);
  });
  await check("paginate", async () => {
    for (let n = 0; n < 7; n += 1) await issues.createComment({ ...garden, issue_number: 3, body: `${n}` });
    const all = await maya.paginate(issues.listComments, { ...garden, issue_number: 3, per_page: 3 });
    assert.deepEqual(all.map(({ body }) => body), ["0", "1", "2", "3", "4", "5", "6"]);
  });
}
