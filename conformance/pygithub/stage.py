"""What every part needs: clients of people, and rows of what was seen, one on each line of the output."""

import json
import sys
import traceback
from pathlib import Path

from github import Auth, Github, GithubException

world = json.loads(Path(sys.argv[1]).read_text())


def client(token, **more):
    settings = {"retry": None, "seconds_between_requests": 0, "seconds_between_writes": 0, **more}
    return Github(auth=Auth.Token(token), base_url=world["api"], **settings)


def by(login, **more):
    return client(world["tokens"][login], **more)


def garden(login, **more):
    return by(login, **more).get_repo("octo/garden")


def check(operation):
    """Plays a function at once and prints its row; what it raises is why it failed."""

    def play(deed):
        try:
            deed()
            why = None
        except Exception:
            why = traceback.format_exc()
        print(json.dumps({"operation": operation, "why": why}), flush=True)

    return play


def refused(status, deed):
    """Expects a refusal with this status and returns what it says."""
    try:
        deed()
    except GithubException as error:
        assert error.status == status, f"{error.status} instead of {status}: {error.data}"
        return error.data
    raise AssertionError("it was not refused")


def same(told, expected):
    assert told == expected, f"{told!r} instead of {expected!r}"


def raw(login, method, path, **more):
    """One request without any model of the answer: status, headers, text."""
    return by(login).requester.requestJson(method, path, **more)
