"""Issues as GitHub keeps them: their state and its reasons, filters, labels, locks, and the texts that it takes."""

from datetime import timedelta

from rows import check, same, world
from stage import by, garden, raw, refused

repo = garden("maya")


@check("Issue.edit: labels, assignees, state and its reason; closed by whom and when")
def _():
    issue = repo.create_issue("Frost")
    same(issue.body, None)
    issue.edit(labels=["bug", "cold"], assignees=["rita"], state="closed", state_reason="not_planned")
    issue.update()
    same([label.name for label in issue.labels], ["bug", "cold"])
    same([person.login for person in issue.assignees], ["rita"])
    same((issue.state, issue.state_reason, issue.closed_by.login), ("closed", "not_planned", "maya"))
    closed_at = issue.closed_at
    issue.edit(body="Tonight")
    issue.update()
    same((issue.closed_at, issue.body), (closed_at, "Tonight"))
    issue.edit(state="open")
    issue.update()
    same((issue.state, issue.state_reason, issue.closed_at, issue.closed_by), ("open", "reopened", None, None))


@check("Repository.get_issues: since, sort, direction, assignee")
def _():
    tomatoes = repo.get_issue(3)
    tomatoes.create_comment("Six")
    tomatoes.add_to_assignees("maya")
    numbers = lambda **filters: [issue.number for issue in repo.get_issues(**filters)]
    same(numbers(sort="created", direction="asc")[:3], [1, 2, 3])
    # The pull request is the one that nothing has happened to in this world.
    same(numbers(sort="updated")[-1], 2)
    same(numbers(assignee="maya"), [3])
    same(3 in numbers(assignee="none"), False)
    since = repo.get_issue(3).updated_at - timedelta(seconds=1)
    same(3 in numbers(since=since), True)
    same(2 in numbers(since=since), False)


@check("Issue: labels are set, taken off all at once, and move its time")
def _():
    issue = repo.get_issue(2)
    before = issue.updated_at
    issue.add_to_labels("wet")
    issue.update()
    assert issue.updated_at > before
    issue.set_labels("bug", "cold")
    same([label.name for label in issue.get_labels()], ["bug", "cold"])
    raw_status, _, _ = raw("maya", "POST", "/repos/octo/garden/issues/2/labels", input=[{"name": "wet"}])
    same(raw_status, 200)
    issue.delete_labels()
    same(list(issue.get_labels()), [])
    refused(422, lambda: repo.create_label("x" * 51, "ededed"))


@check("Issue.lock, unlock, add_to_assignees, remove_from_assignees")
def _():
    issue = repo.get_issue(3)
    issue.lock("resolved")
    issue.update()
    same((issue.locked, issue.active_lock_reason), (True, "resolved"))
    refused(403, lambda: garden("mallory").get_issue(3).create_comment("But"))
    issue.unlock()
    issue.remove_from_assignees("maya")
    issue.update()
    same((issue.locked, issue.assignees), (False, []))


@check("texts that are taken, and those that are not")
def _():
    issue = repo.get_issue(1)
    issue.create_comment("x" * 100_000)
    refused(422, lambda: issue.create_comment("x" * 262_145))
    refused(422, lambda: repo.create_issue("Long", body="x" * 65_537))
    refused(422, lambda: repo.create_issue("x" * 1_100))
    refused(422, lambda: repo.create_issue(" "))


@check("Repository.get_issues_comments: of all issues, newest last unless sorted otherwise")
def _():
    for number in (1, 3):
        repo.get_issue(number).create_comment(f"On {number}")
    bodies = lambda **order: [comment.body for comment in repo.get_issues_comments(**order)]
    same(bodies()[-2:], ["On 1", "On 3"])
    same(bodies(sort="created", direction="desc")[:2], ["On 3", "On 1"])
    # A direction alone is not obeyed.
    same(bodies(direction="desc")[-2:], ["On 1", "On 3"])


@check("a list leads on by the repository's number, and every page is there")
def _():
    paged = garden("maya", per_page=2)
    issue = paged.get_issue(2)
    for n in range(5):
        issue.create_comment(str(n))
    same([comment.body for comment in issue.get_comments()], ["0", "1", "2", "3", "4"])
    _, headers, _ = raw("maya", "GET", "/repos/octo/garden/issues/2/comments?per_page=2")
    assert f"/repositories/{repo.id}/issues/2/comments?per_page=2&page=2>; rel=\"next\"" in headers["link"], headers
    same(by("maya").get_repo(repo.id).full_name, "octo/garden")
    refused(404, lambda: by("mallory").requester.requestJsonAndCheck("GET", "/repositories/412911020/issues"))


@check("a comment of an app says which app")
def _():
    comment = garden("github-actions[bot]").get_issue(1).create_comment("Beep")
    same(comment.performed_via_github_app.slug, "github-actions")
    same(repo.get_issue(3).create_comment("Mine").performed_via_github_app, None)
    same(world["tokens"]["maya"].startswith("ghp_"), True)
