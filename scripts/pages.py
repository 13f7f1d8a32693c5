"""Checks the commands and the YAML, JSON and TOML of README.md and docs/; see `scripts/pages`.

usage: pages.py FRO-BOT
"""

import glob
import json
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import tomllib

import yaml

PROGRAM = sys.argv[1]
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(glob.glob("docs/*.md"))]
ACTIONS = {"fro-bot/agent": "action.yaml", "fro-bot/agent/review": "review/action.yaml"}
SCHEMA = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", "--output-format", "json"]


def inputs(file):
    with open(file) as text:
        return set(yaml.safe_load(text)["inputs"])


INPUTS = {name: inputs(file) for name, file in ACTIONS.items()}
complaints, checked = [], {"commands": 0, "YAML blocks": 0, "workflows": 0, "JSON and TOML blocks": 0}


def blocks(text):
    """The code blocks of a page: line, language, text."""
    for found in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```", text, re.M | re.S):
        yield text.count("\n", 0, found.start()) + 1, found[2], textwrap.dedent(found[3])


def spans(text):
    """The commands between backticks in a page's sentences."""
    prose = re.sub(r"^( *)```.*?^\1```", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)
    for found in re.finditer(r"`(fro-bot [^`\n]+)`", prose):
        yield prose.count("\n", 0, found.start()) + 1, found[1]


def commands(script):
    """The lines of a shell script that start our program, without what stands around it."""
    for line in script.replace("\\\n", " ").splitlines():
        line = re.sub(r"\s#.*|\s*(\||>|&&|;).*", "", line).strip()
        line = re.sub(r"^(\w+=(\$\([^)]*\)|\S*)\s+)+", "", line)
        if re.match(r"(\S*/)?fro-bot( |$)", line):
            yield line


def check_command(where, line):
    """The program reads every word before it prints its help, so what it does not know is an error."""
    words = [word for word in shlex.split(line)[1:] if word not in ("…", "...")]
    checked["commands"] += 1
    ended = subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True)
    if ended.returncode != 0:
        complaints.append(f"{where}: `{line}`: {ended.stderr.strip().splitlines()[0]}")


def check_inputs(where, action, given):
    known = INPUTS.get(action.split("@")[0])
    for name in set(given or {}) - known if known is not None else ():
        complaints.append(f"{where}: {action} has no input `{name}`")
    for name in ("opencode-config", "output-schema", "auth-json"):
        text = str((given or {}).get(name, ""))
        if text.lstrip().startswith("{") and "${{" not in text:
            try:
                json.loads(text)
            except ValueError as error:
                complaints.append(f"{where}: `{name}` is not JSON: {error}")


def steps(document):
    for job in (document.get("jobs") or {}).values():
        yield from job.get("steps") or []


def check_workflow(where, document):
    checked["workflows"] += 1
    for step in steps(document):
        check_inputs(where, step.get("uses", ""), step.get("with"))
    text = yaml.safe_dump({"on" if key is True else key: value for key, value in document.items()})
    # The schema is older than `cache-mode`.
    text = re.sub(r"^ *cache-mode: \w+\n", "", text, flags=re.M)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        ended = subprocess.run([*SCHEMA, file.name], capture_output=True, text=True)
    for error in json.loads(ended.stdout).get("errors", []):
        complaints.append(f"{where}: {error['path']}: {error['message']}")


def check_yaml(where, text):
    checked["YAML blocks"] += 1
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        complaints.append(f"{where}: not YAML: {error}")
        return
    job = {"runs-on": "ubuntu-latest", "steps": [{"run": "true"}]}
    if isinstance(document, list):
        check_workflow(where, {"on": "push", "jobs": {"part": {**job, "steps": document}}})
    elif True in document or "on" in document or "jobs" in document:
        whole = {"jobs": {"part": job}, **document}
        check_workflow(where, whole if True in document or "on" in document else {"on": "push", **whole})
    elif "permissions" in document or "steps" in document:
        check_workflow(where, {"on": "push", "jobs": {"part": {**job, **document}}})
    else:
        check_inputs(where, "fro-bot/agent", document)


def check_data(where, language, text):
    """`…` stands for what a page leaves out."""
    checked["JSON and TOML blocks"] += 1
    try:
        {"json": json.loads, "toml": tomllib.loads}[language](text)
    except ValueError as error:
        complaints.append(f"{where}: not {language.upper()}: {error}")


for page in PAGES:
    with open(page) as file:
        text = file.read()
    for line, language, block in blocks(text):
        where = f"{page}:{line}"
        if language == "sh":
            for command in commands(block):
                check_command(where, command)
        if language in ("json", "toml"):
            check_data(where, language, block)
        if language == "yaml":
            check_yaml(where, block)
            for command in commands(re.sub(r"^\s*- run: ", "", block, flags=re.M)):
                check_command(where, command)
    for line, command in spans(text):
        check_command(f"{page}:{line}", command)
for example in sorted(glob.glob("docs/examples/*.yaml")):
    with open(example) as file:
        check_workflow(example, yaml.safe_load(file))

print("\n".join([*complaints, ", ".join(f"{n} {what}" for what, n in checked.items()) + f": {len(complaints)} complaints"]))
sys.exit(1 if complaints else 0)
