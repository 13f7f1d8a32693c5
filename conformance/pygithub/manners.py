"""What every request must say and every answer tells: limits, headers, refusals, apps."""

import http.client
import json
from urllib.parse import urlparse

from github import Auth, GithubIntegration
from rows import check, same, world
from stage import by, client, raw, refused

ISSUE = "/repos/octo/garden/issues/1"


@check("a 304 costs nothing, and GraphQL has a pool of its own")
def _():
    left = lambda: by("rita").get_rate_limit().resources
    by("rita").get_repo("octo/garden")
    before = left()
    _, headers, _ = raw("rita", "GET", ISSUE)
    same(left().core.used, before.core.used + 1)
    again, _, _ = raw("rita", "GET", ISSUE, headers={"If-None-Match": headers["etag"]})
    same((again, left().core.used), (304, before.core.used + 1))
    raw("rita", "POST", "/graphql", input={"query": "{ viewer { login } }"})
    same((left().core.used, left().graphql.used), (before.core.used + 1, before.graphql.used + 1))
    same(left().search.limit, 30)


@check("headers that clients read")
def _():
    _, headers, _ = raw("maya", "GET", ISSUE)
    same(headers["x-accepted-github-permissions"], "issues=read")
    same(headers["cache-control"], "private, max-age=60, s-maxage=60")
    assert "Authorization" in headers["vary"]
    again, _, _ = raw("maya", "GET", ISSUE, headers={"If-Modified-Since": headers["last-modified"]})
    same(again, 304)
    # A later time will do, an earlier one will not; of several tags one is enough, weak or not.
    asked = lambda **headers: raw("maya", "GET", ISSUE, headers={name.replace("_", "-"): value for name, value in headers.items()})[0]
    same(asked(If_Modified_Since="Fri, 01 Jan 2100 00:00:00 GMT"), 304)
    same(asked(If_Modified_Since="Thu, 01 Jan 2015 00:00:00 GMT"), 200)
    strong = headers["etag"].removeprefix("W/")
    same((asked(If_None_Match=f'"other", {strong}'), asked(If_None_Match='"other"')), (304, 200))


@check("who says not what they are is refused")
def _():
    connection = http.client.HTTPConnection(urlparse(world["api"]).netloc)
    connection.request("GET", "/repos/octo/garden", headers={"Authorization": f"Bearer {world['tokens']['maya']}"})
    answer = connection.getresponse()
    same((answer.status, "User-Agent" in answer.read().decode()), (403, True))


@check("what cannot be read is refused in JSON")
def _():
    said = lambda *args, **more: (lambda told: (told[0], json.loads(told[2])["message"]))(raw("maya", *args, **more))
    same(said("GET", "/repos/octo/garden/pulls/latest"), (404, "Not Found"))
    same(said("POST", f"{ISSUE}/comments", input={"body": 5})[0], 422)
    status, message = said("POST", "/repos/octo/garden/pulls", input={"title": "x", "base": "main"})
    same((status, '"head" wasn\'t supplied' in message), (422, True))


@check("GithubIntegration: an app by its client id; its repositories page by page")
def _():
    app = world["app"]
    signer = GithubIntegration(auth=Auth.AppAuth(app["client_id"], app["key"]), base_url=world["api"])
    same(signer.get_app().slug, "garden-helper")
    token = signer.get_access_token(app["installation"]).token
    helper = client(token)
    same(helper.get_rate_limit().resources.core.limit, 5000)
    _, _, body = helper.requester.requestJson("GET", "/installation/repositories?per_page=1")
    same((len(json.loads(body)["repositories"]), json.loads(body)["total_count"]), (1, 2))


@check("a job's token asks for a private repository outside of its grant: it is not there")
def _():
    job = client(world["jobs"]["comment"]["token"])
    path = "/repos/octo/cellar/issues/1/comments"
    refused(404, lambda: job.requester.requestJsonAndCheck("POST", path, input={"body": "x"}))
