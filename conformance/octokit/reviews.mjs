// Reviews and remarks beside the code, with the anchors that GitHub refuses.

import assert from "node:assert/strict";

export default async function testify({ check, refused, garden, maya, octo, rita }) {
  const pull = { ...garden, pull_number: 2 };
  const { pulls, reactions } = octo.rest;
  const head = (await pulls.get(pull)).data.head.sha;
  const on = { ...pull, commit_id: head, path: "tap.rs", body: "Hm" };
  await check("pulls.createReview with remarks, get, list, its comments, update", async () => {
    const comments = [
      { path: "tap.rs", line: 5, body: "Rubber was fine" },
      { path: "tap.rs", start_line: 4, line: 6, side: "RIGHT", body: "All of this" },
      { path: "tap.rs", line: 5, side: "LEFT", body: "Why?" },
    ];
    const { data } = await pulls.createReview({ ...pull, event: "COMMENT", body: "Three things", comments });
    assert.deepEqual([data.state, data.commit_id], ["COMMENTED", head]);
    const review = { ...pull, review_id: data.id };
    const told = (await pulls.listCommentsForReview(review)).data;
    assert.deepEqual(told.map(({ body }) => body), comments.map(({ body }) => body));
    const all = (await pulls.listReviewComments(pull)).data;
    assert.deepEqual(all.map(({ start_line, line, side }) => [start_line, line, side]), [
      [null, 5, "RIGHT"],
      [4, 6, "RIGHT"],
      [null, 5, "LEFT"],
    ]);
    assert.match(all[0].diff_hunk, /^@@ -2,7 \+2,9 @@/);
    await pulls.updateReview({ ...review, body: "Three small things" });
    assert.equal((await pulls.getReview(review)).data.body, "Three small things");
    assert.equal((await pulls.listReviews(pull)).data.length, 1);
  });
  await check("a review begun, not seen by others, submitted or deleted", async () => {
    const { data } = await pulls.createReview({ ...pull, comments: [{ path: "tap.rs", line: 4, body: "Later" }] });
    const review = { ...pull, review_id: data.id };
    assert.equal(data.state, "PENDING");
    await refused(422, pulls.createReview(pull));
    await refused(404, maya.rest.pulls.getReview(review));
    assert.equal((await maya.rest.pulls.listReviewComments(pull)).data.length, 3);
    await pulls.submitReview({ ...review, event: "REQUEST_CHANGES", body: "Please" });
    assert.equal((await maya.rest.pulls.listReviewComments(pull)).data.length, 4);
    assert.equal((await pulls.dismissReview({ ...review, message: "Settled" })).data.state, "DISMISSED");
    const other = { ...pull, review_id: (await pulls.createReview(pull)).data.id };
    await pulls.deletePendingReview(other);
    await refused(404, pulls.getReview(other));
    await refused(422, pulls.deletePendingReview(review));
  });
  await check("reviews that GitHub refuses", async () => {
    const review = (more) => pulls.createReview({ ...pull, event: "COMMENT", body: "Hm", ...more });
    const at = (place) => review({ comments: [{ path: "tap.rs", body: "Hm", ...place }] });
    await refused(422, at({ line: 500 }), /thread line must be part of the diff/);
    await refused(422, at({ line: 3, side: "LEFT" }), /thread line must be part of the diff/);
    await refused(422, at({ line: 5, start_line: 5 }), /start line must precede the end line/);
    await refused(422, at({ line: 5, start_line: 6 }), /start line must precede the end line/);
    await refused(422, at({ line: 5, path: "door.rs" }), /path is invalid/);
    await refused(422, review({ body: "" }), /Body can't be blank/);
    await refused(422, review({ body: "x".repeat(65_537) }), /too long/);
    await refused(422, maya.rest.pulls.createReview({ ...pull, event: "APPROVE" }), /approve your own/);
    await refused(422, maya.rest.pulls.createReview({ ...pull, event: "REQUEST_CHANGES", body: "x" }), /your own/);
    assert.equal((await pulls.listReviews(pull)).data.length, 2);
  });
  await check("pulls.createReviewComment on lines and on a file, get, update, delete; refusals", async () => {
    const { data } = await pulls.createReviewComment({ ...on, start_line: 4, line: 5 });
    assert.deepEqual([data.start_line, data.line, data.subject_type], [4, 5, "line"]);
    const file = (await pulls.createReviewComment({ ...on, subject_type: "file" })).data;
    assert.deepEqual([file.subject_type, file.line], ["file", undefined]);
    await refused(422, pulls.createReviewComment({ ...on, line: 500 }), /pull_request_review_thread.line/);
    await refused(422, pulls.createReviewComment({ ...on, line: 5, start_line: 7 }), /pull_request_review_thread.start_line/);
    await refused(422, pulls.createReviewComment({ ...on, line: 5, commit_id: "f".repeat(40) }), /commit_id/);
    const comment = { ...garden, comment_id: data.id };
    await pulls.updateReviewComment({ ...comment, body: "Well" });
    assert.equal((await pulls.getReviewComment(comment)).data.body, "Well");
    await refused(403, rita.rest.pulls.deleteReviewComment(comment));
    await pulls.deleteReviewComment(comment);
    await refused(404, pulls.getReviewComment(comment));
  });
  await check("pulls.createReplyForReviewComment, in_reply_to; a reply has no replies", async () => {
    const root = (await pulls.createReviewComment({ ...on, line: 5 })).data;
    const reply = { ...pull, comment_id: root.id, body: "So?" };
    const first = (await maya.rest.pulls.createReplyForReviewComment(reply)).data;
    const second = (await maya.rest.pulls.createReviewComment({ ...on, in_reply_to: root.id })).data;
    assert.deepEqual([first.in_reply_to_id, second.in_reply_to_id], [root.id, root.id]);
    await refused(404, maya.rest.pulls.createReplyForReviewComment({ ...reply, comment_id: first.id }));
    assert.ok((await pulls.listReviewCommentsForRepo(garden)).data.some(({ id }) => id === first.id));
  });
  await check("reactions on a remark: create, list, delete", async () => {
    const [{ id }] = (await pulls.listReviewComments(pull)).data;
    const remark = { ...garden, comment_id: id };
    const { data } = await reactions.createForPullRequestReviewComment({ ...remark, content: "heart" });
    assert.equal((await reactions.listForPullRequestReviewComment(remark)).data[0].content, "heart");
    await reactions.deleteForPullRequestComment({ ...remark, reaction_id: data.id });
    assert.deepEqual((await reactions.listForPullRequestReviewComment(remark)).data, []);
  });
}
