"""Reviews: what carries a remark, what a pending one hides, and when it was given."""

from rows import check, same
from stage import garden, refused

octo, maya = garden("octo"), garden("maya")
pull = octo.get_pull(2)
head = octo.get_commit(pull.head.sha)


@check("PullRequest.create_review_comment makes a review that says nothing itself; so does a reply")
def _():
    remark = pull.create_review_comment("Rubber?", head, "tap.rs", line=5)
    review = pull.get_review(remark.pull_request_review_id)
    same((review.state, review.body, review.user.login), ("COMMENTED", "", "octo"))
    reply = maya.get_pull(2).create_review_comment_reply(remark.id, "No.")
    own = pull.get_review(reply.pull_request_review_id)
    same((own.state, own.user.login, own.id == review.id), ("COMMENTED", "maya", False))
    same([said.id for said in pull.get_single_review_comments(own.id)], [reply.id])


@check("PullRequest.create_review: remarks need no text beside them")
def _():
    review = pull.create_review(event="COMMENT", comments=[{"path": "tap.rs", "line": 6, "body": "Hm"}])
    same((review.state, review.body), ("COMMENTED", ""))
    refused(422, lambda: pull.create_review(event="COMMENT"))


@check("PullRequest.get_review_comments: since and sort; a direction alone is not obeyed")
def _():
    bodies = lambda **order: [said.body for said in pull.get_review_comments(**order)]
    written = ["Rubber?", "No.", "Hm"]
    same(bodies(), written)
    same(bodies(direction="desc"), written)
    same(bodies(sort="created", direction="desc"), written[::-1])
    newest = list(pull.get_review_comments())[-1]
    same("Hm" in bodies(since=newest.updated_at), True)


@check("a review begun is its author's own, and given when it is given")
def _():
    pull.create_review_request(reviewers=["rita"])
    mine = garden("rita").get_pull(2)
    begun = mine.create_review(comments=[{"path": "tap.rs", "line": 4, "body": "Later"}])
    same((begun.state, begun.submitted_at), ("PENDING", None))
    asked = lambda: [person.login for person in pull.get_review_requests()[0]]
    same(asked(), ["rita"])
    same([said.body for said in mine.get_review_comments()][-1], "Later")
    assert "Later" not in [said.body for said in pull.get_review_comments()]
    refused(422, lambda: mine.create_review())
    given = mine.get_review(begun.id)
    given.requester.requestJsonAndCheck("POST", f"{mine.url}/reviews/{begun.id}/events", input={"event": "COMMENT", "body": "Now"})
    same(mine.get_review(begun.id).state, "COMMENTED")
    same(asked(), [])


@check("PullRequest.create_review_comment is refused in GitHub's words")
def _():
    data = refused(422, lambda: pull.create_review_comment("Hm", head, "tap.rs", line=500))
    same(data["errors"][0]["message"], "pull_request_review_thread.line must be part of the diff")
    same(data["errors"][0]["field"], "pull_request_review_thread.line")
