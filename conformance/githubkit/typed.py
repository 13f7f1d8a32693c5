"""Answers and events, each read by the model that GitHub's description makes of it."""

import json
from pathlib import Path

from githubkit import AppInstallationAuthStrategy, GitHub
from githubkit.exception import RequestFailed
from githubkit.webhooks import parse_obj
from rows import check, same, world

GARDEN = ("octo", "garden")


def client(auth):
    return GitHub(auth, base_url=world["api"] + "/", http_cache=False, auto_retry=False)


# The names below `rest` hold their client only weakly.
clients = {login: client(token) for login, token in world["tokens"].items()}
octo, maya, rita = (clients[login].rest for login in ("octo", "maya", "rita"))


def refused(deed, *any_of):
    try:
        deed()
    except RequestFailed as error:
        return same(error.response.status_code in any_of, True)
    raise AssertionError("it was not refused")


def read(answer):
    """What the answer says, if the model takes it."""
    return answer.parsed_data


def event(job):
    return json.loads(Path(world["jobs"][job]["environment"]["GITHUB_EVENT_PATH"]).read_text())


@check("webhooks.parse_obj: the event files of jobs have every field")
def _():
    pushed = parse_obj("pull_request", event("pull"))
    same((pushed.action, pushed.number, pushed.after), ("synchronize", 2, pushed.pull_request.head.sha))
    same((pushed.pull_request.head.repo.full_name, pushed.repository.full_name), ("octo/garden", "octo/garden"))
    same(len(pushed.before), 40)
    said = parse_obj("issue_comment", event("comment"))
    same((said.action, said.comment.body, said.sender.login), ("created", "@fro-bot why?", "maya"))


@check("repos, issues, labels, reactions, users and limits are what their models say")
def _():
    same(read(maya.repos.get(*GARDEN)).full_name, "octo/garden")
    same(read(maya.repos.get_collaborator_permission_level(*GARDEN, "maya")).permission, "write")
    same(read(maya.issues.get(*GARDEN, 1)).number, 1)
    assert read(maya.issues.list_for_repo(*GARDEN))
    comment = read(maya.issues.create_comment(*GARDEN, 1, body="Dry."))
    same(read(maya.issues.list_comments(*GARDEN, 1))[-1].id, comment.id)
    same(read(maya.reactions.create_for_issue_comment(*GARDEN, comment.id, content="eyes")).content, "eyes")
    assert read(maya.issues.list_labels_for_repo(*GARDEN))
    same(read(maya.users.get_authenticated()).login, "maya")
    same(read(maya.rate_limit.get()).resources.core.limit, 5000)
    same(read(maya.repos.get_latest_release(*GARDEN)).tag_name, "v1.0.0")


@check("pulls, files, commits, comparisons, contents and reviews are what their models say")
def _():
    pull = read(maya.pulls.get(*GARDEN, 2))
    same((pull.head.ref, pull.changed_files), ("new-seal", 1))
    assert read(maya.pulls.list(*GARDEN)) and read(maya.pulls.list_files(*GARDEN, 2))
    same(read(maya.pulls.list_commits(*GARDEN, 2))[-1].sha, pull.head.sha)
    same(read(maya.repos.get_commit(*GARDEN, pull.head.sha)).sha, pull.head.sha)
    same(read(maya.repos.compare_commits(*GARDEN, "main...new-seal")).status, "ahead")
    same(read(maya.repos.get_content(*GARDEN, "tap.rs")).name, "tap.rs")
    remark = {"path": "tap.rs", "line": 6, "body": "Rubber?"}
    review = read(octo.pulls.create_review(*GARDEN, 2, event="COMMENT", comments=[remark]))
    same(read(maya.pulls.list_reviews(*GARDEN, 2))[-1].id, review.id)
    same(read(maya.pulls.list_review_comments(*GARDEN, 2))[-1].body, "Rubber?")


@check("checks.list_for_ref, list_suites_for_ref; actions: runs and jobs of a red workflow")
def _():
    head = read(maya.pulls.get(*GARDEN, 2)).head.sha
    runs = read(maya.checks.list_for_ref(*GARDEN, head))
    assert "failure" in [run.conclusion for run in runs.check_runs], runs
    suites = read(maya.checks.list_suites_for_ref(*GARDEN, head)).check_suites
    same({run.check_suite.id for run in runs.check_runs}, {suite.id for suite in suites})
    assert world["red_run"] in [run.id for run in read(maya.actions.list_workflow_runs_for_repo(*GARDEN)).workflow_runs]
    jobs = read(maya.actions.list_jobs_for_workflow_run(*GARDEN, world["red_run"]))
    same([job.conclusion for job in jobs.jobs], ["failure"])


@check("repos.create_commit_status: the newest of each context counts, and one bad one makes all bad")
def _():
    head = read(maya.pulls.get(*GARDEN, 2)).head.sha
    combined = lambda: read(maya.repos.get_combined_status_for_ref(*GARDEN, "new-seal"))
    say = lambda **said: read(maya.repos.create_commit_status(*GARDEN, head, **said))
    same((combined().state, combined().total_count), ("pending", 0))
    made = say(state="success")
    same((made.context, made.creator.login, made.description), ("default", "maya", None))
    same(combined().state, "success")
    say(state="pending", context="ci/water", description="Filling", target_url="https://ci.example/1")
    same(combined().state, "pending")
    say(state="error", context="ci/water")
    same((combined().state, combined().sha, combined().total_count), ("failure", head, 2))
    say(state="success", context="ci/water")
    same((combined().state, [status.context for status in combined().statuses]), ("success", ["ci/water", "default"]))
    all_of_them = read(maya.repos.list_commit_statuses_for_ref(*GARDEN, head))
    same([status.state for status in all_of_them], ["success", "error", "pending", "success"])
    refused(lambda: clients["maya"].request("POST", f"/repos/octo/garden/statuses/{head}", json={"state": "fine"}), 422)
    refused(lambda: maya.repos.create_commit_status(*GARDEN, "0" * 40, state="success"), 422)
    # Which of the two it is, is not documented.
    refused(lambda: rita.repos.create_commit_status(*GARDEN, head, state="success"), 403, 404)


@check("repos.list_branches: all, and those that are protected")
def _():
    names = lambda **which: [branch.name for branch in read(maya.repos.list_branches(*GARDEN, **which))]
    same(names(), ["main", "new-seal"])
    same((names(protected=True), names(protected=False)), (["main"], ["new-seal"]))
    same(names(per_page=1, page=2), ["new-seal"])


@check("AppInstallationAuthStrategy: an app's token is asked for, and reads")
def _():
    app = world["app"]
    helper = client(AppInstallationAuthStrategy(app["id"], app["key"], app["installation"], app["client_id"]))
    same(read(helper.rest.apps.list_repos_accessible_to_installation(per_page=1)).total_count, 2)


@check("graphql, page by page")
def _():
    query = """query($cursor: String) { repository(owner: "octo", name: "garden") {
        issues(first: 1, after: $cursor) { nodes { number } pageInfo { hasNextPage endCursor } } } }"""
    pages = clients["maya"].graphql.paginate(query)
    numbers = [node["number"] for page in pages for node in page["repository"]["issues"]["nodes"]]
    same((len(numbers) > 1, len(set(numbers))), (True, len(numbers)))
