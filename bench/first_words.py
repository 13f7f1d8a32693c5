#!/usr/bin/env python3
"""Measures how long it takes from the start of a program to its first question to the model, and from the model's last
answer to the program's end: `fro-bot action` (walled, with a simulated GitHub to answer on), bare `opencode serve` with one
prompt, and `opencode run`, in turn, on this machine alone. All three have the same small model catalogue and work in a
checkout of the same repository. Prints a table.

usage: bench/first_words.py [--short] [--times N] [--fro-bot FILE] [--before FILE] [--sim FILE] [--tools FOLDER]

Builds a release and fetches the engine first, unless the options name what is there. `--short` takes 5 turns instead of 15.
`--before` names another fro-bot, such as an older one, that takes its turns as well.
"""

import argparse
import contextlib
import functools
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
PROMPT = "Why is the floor wet?"
TICK = os.sysconf("SC_CLK_TCK")


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--short", action="store_true", help="5 turns instead of 15")
    parser.add_argument("--times", type=int, help="so many turns")
    parser.add_argument("--fro-bot", type=os.path.abspath)
    parser.add_argument("--before", type=os.path.abspath, help="another fro-bot that takes its turns as well")
    parser.add_argument("--sim", type=os.path.abspath)
    parser.add_argument("--tools", type=os.path.abspath, default=os.environ.get("RUNNER_TOOL_CACHE", os.path.join(TARGET, "tools")))
    options = parser.parse_args()
    if not (options.fro_bot and options.sim):
        subprocess.run(["cargo", "build", "--quiet", "--release", "--workspace", "--bins"], cwd=ROOT, check=True)
        options.fro_bot = options.fro_bot or os.path.join(TARGET, "release", "fro-bot")
        options.sim = options.sim or os.path.join(TARGET, "release", "fro-sim")
    return options


OPTIONS = options()
ENGINE = os.path.join(OPTIONS.tools, "opencode", "1.18.33", "x64", "opencode")


class Model(ThreadingHTTPServer):
    """A model that says one word, and knows when it was first asked and when it last answered."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.first = self.last = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def config(self):
        model = {"name": "M1", "tool_call": True, "limit": {"context": 100000, "output": 8000}}
        options = {"baseURL": f"http://127.0.0.1:{self.server_address[1]}/v1", "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "Bench", "options": options, "models": {"m1": model}}
        return {"model": "bench/m1", "enabled_providers": ["bench"], "provider": {"bench": provider},
                "agent": {"title": {"disable": True}}, "share": "disabled", "autoupdate": False, "snapshot": False}


class Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = time.monotonic()
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        # What a request means is asked before any engine starts, without tools: that is not the agent's question.
        if self.server.first is None and body.get("tools"):
            self.server.first = asked
        if not body.get("stream"):
            return self.send_whole("no")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m1"}
        word = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Rain."}, "finish_reason": None}]}
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        for part in (word, last):
            self.wfile.write(b"data: " + json.dumps({**head, **part}).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()
        self.server.last = time.monotonic()

    def send_whole(self, text):
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "m1", "choices": [choice], "usage": usage}
        text = json.dumps(whole).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Watch(threading.Thread):
    """What a process takes: its own CPU time and memory, and the most memory that its engine had at once."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.own, self.own_memory, self.engine = pid, 0.0, 0, 0
        self.start()

    def run(self):
        engine = None
        while os.path.exists(f"/proc/{self.pid}"):
            try:
                with open(f"/proc/{self.pid}/stat") as file:
                    user, system = file.read().rpartition(")")[2].split()[11:13]
                self.own = (int(user) + int(system)) / TICK
                self.own_memory = max(self.own_memory, peak(self.pid))
                engine = engine or next(engines_below(self.pid), None)
                self.engine = max(self.engine, peak(engine)) if engine else 0
            except (FileNotFoundError, ProcessLookupError):
                pass
            time.sleep(0.02)


def engines_below(pid):
    """The engines among a process and all that it started: others may run on the machine."""
    try:
        if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(ENGINE):
            yield pid
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                for child in file.read().split():
                    yield from engines_below(child)
    except OSError:
        pass


def peak(pid):
    try:
        with open(f"/proc/{pid}/status") as file:
            return next((int(line.split()[1]) // 1024 for line in file if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def finished(process, watch):
    """Waits for a process and returns its exit code, the CPU time of it and all below it, and what was watched."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, {"cpu": used.ru_utime + used.ru_stime, "own": watch.own, "memory": watch.engine, "own_memory": watch.own_memory}


def bare(folder):
    """The environment of an engine of its own: no network but the model, and no catalogue to read."""
    catalogue = os.path.join(folder, "models.json")
    with open(catalogue, "w") as file:
        file.write("{}")
    names = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE"]
    quiet = {f"OPENCODE_DISABLE_{name}": "true" for name in names}
    home = {name: os.path.join(folder, name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    return {"PATH": os.environ["PATH"], **quiet, **home, "OPENCODE_MODELS_PATH": catalogue}


@contextlib.contextmanager
def comment(folder):
    """A simulated GitHub with the job of a comment on it, whose first step has checked the repository out."""
    world = subprocess.Popen([OPTIONS.sim, "--json", "--jobs", folder], stdout=subprocess.PIPE)
    try:
        started = json.loads(world.stdout.readline())["jobs"]["comment"]
        job = started["environment"]
        address = job["GITHUB_SERVER_URL"].replace("://", f"://x-access-token:{started['token']}@")
        clone = ["git", "clone", "--quiet", "--depth=1", f"{address}/{job['GITHUB_REPOSITORY']}.git", job["GITHUB_WORKSPACE"]]
        subprocess.run(clone, check=True)
        yield started, job
    finally:
        world.send_signal(signal.SIGINT)
        world.wait()


def fro_bot(model, folder, started, job, program=OPTIONS.fro_bot):
    inputs = {"INPUT_GITHUB-TOKEN": started["token"], "INPUT_OPENCODE-CONFIG": json.dumps(model.config()), "INPUT_ENABLE-OMO": "false", "INPUT_SHARE": "false"}
    environment = {**job, **inputs, "PATH": os.environ["PATH"], "HOME": folder, "RUNNER_TOOL_CACHE": OPTIONS.tools}
    log = open(os.path.join(folder, "log"), "w")
    began = time.monotonic()
    run = subprocess.Popen([program, "action"], env=environment, cwd=job["GITHUB_WORKSPACE"], stdout=log, stderr=log)
    code, used = finished(run, Watch(run.pid))
    assert code == 0 and model.first, open(log.name).read()
    return {"first": model.first - began, "end": time.monotonic() - model.last, **used}


def serve(model, folder, _, job):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**bare(folder), "OPENCODE_CONFIG_CONTENT": json.dumps(model.config())}
    began = time.monotonic()
    engine = subprocess.Popen([ENGINE, "serve", "--hostname=127.0.0.1", f"--port={port}"], env=environment, cwd=job["GITHUB_WORKSPACE"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    watch = Watch(engine.pid)
    while b"listening" not in engine.stdout.readline():
        pass

    def post(path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"content-type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=60))

    session = post("/session", {})["id"]
    post(f"/session/{session}/message", {"parts": [{"type": "text", "text": PROMPT}]})
    engine.terminate()
    _, used = finished(engine, watch)
    return {"first": model.first - began, "end": time.monotonic() - model.last, **used}


def run(model, folder, _, job):
    environment = {**bare(folder), "OPENCODE_CONFIG_CONTENT": json.dumps(model.config())}
    began = time.monotonic()
    engine = subprocess.Popen([ENGINE, "run", PROMPT], env=environment, cwd=job["GITHUB_WORKSPACE"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    code, used = finished(engine, Watch(engine.pid))
    assert code == 0 and model.first, "opencode run failed"
    return {"first": model.first - began, "end": time.monotonic() - model.last, **used}


def main():
    tools = {**os.environ, "RUNNER_TOOL_CACHE": OPTIONS.tools}
    subprocess.run([OPTIONS.fro_bot, "warm", "--without-omo"], env=tools, stdout=subprocess.DEVNULL, check=True)
    before = os.getloadavg()[0]
    times = OPTIONS.times or (5 if OPTIONS.short else 15)
    programs = {"opencode serve": serve, "fro-bot action": fro_bot, "opencode run": run}
    if OPTIONS.before:
        programs["fro-bot action, before"] = functools.partial(fro_bot, program=OPTIONS.before)
    measured = {name: [] for name in programs}
    for turn in range(times):
        for name, program in programs.items():
            model = Model()
            with tempfile.TemporaryDirectory() as folder, comment(folder) as (started, job):
                measured[name].append(program(model, folder, started, job))
            model.shutdown()
            print(f"{turn + 1}/{times} {name}: {measured[name][-1]['first']:.2f} s", file=sys.stderr)
    print(f"{times} turns of each, one after the other; medians, least and most in brackets")
    print(f"load of the machine before and after: {before:.1f}, {os.getloadavg()[0]:.1f}")
    print("| program | start → first question | beside `opencode serve` | last answer → end | CPU, all processes | engine's memory "
          "| CPU, fro-bot itself | its memory |")
    print("|---|---|---|---|---|---|---|---|")
    pairs = {name: [one["first"] / bare["first"] for one, bare in zip(figures, measured["opencode serve"])] for name, figures in measured.items()}
    for name, figures in measured.items():
        keys = ("first", "end", "cpu", "memory", "own", "own_memory")
        first, end, cpu, memory, own, own_memory = ([figure[key] for figure in figures] for key in keys)
        # Clocks of single processes tick every 10 ms, so the mean says more than the median.
        own = f"{statistics.mean(own):.3f} s | {statistics.median(own_memory):.0f} MB" if name.startswith("fro-bot") else " | "
        print(f"| `{name}` | {statistics.median(first):.2f} s ({min(first):.2f}–{max(first):.2f}) | × {statistics.median(pairs[name]):.2f} "
              f"| {statistics.median(end):.2f} s ({min(end):.2f}–{max(end):.2f}) | {statistics.median(cpu):.2f} s "
              f"| {statistics.median(memory):.0f} MB | {own} |")


if __name__ == "__main__":
    main()
