"""What every part needs: clients of people, and what they are refused."""

from github import Auth, Github, GithubException
from rows import world


def client(token, **more):
    settings = {"retry": None, "seconds_between_requests": 0, "seconds_between_writes": 0, **more}
    return Github(auth=Auth.Token(token), base_url=world["api"], **settings)


def by(login, **more):
    return client(world["tokens"][login], **more)


def garden(login, **more):
    return by(login, **more).get_repo("octo/garden")


def refused(status, deed):
    """Expects a refusal with this status and returns what it says."""
    try:
        deed()
    except GithubException as error:
        assert error.status == status, f"{error.status} instead of {status}: {error.data}"
        return error.data
    raise AssertionError("it was not refused")


def raw(login, method, path, **more):
    """One request without any model of the answer: status, headers, text."""
    return by(login).requester.requestJson(method, path, **more)
