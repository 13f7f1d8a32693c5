#!/usr/bin/env python3
"""Measures how long it takes from the start of a program to its first question to the model: `fro-bot action`, bare
`opencode serve` with one prompt, and `opencode run`, in turn, on this machine alone. Prints a table.

usage: bench/first_words.py [TIMES]      (after `cargo build --release -p fro-cli -p fro-sim` and `fro-bot warm`)
"""

import json
import os
import resource
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
RELEASE = os.path.join(TARGET, "release")
TOOLS = os.environ.get("RUNNER_TOOL_CACHE", os.path.join(TARGET, "tools"))
ENGINE = os.path.join(TOOLS, "opencode", "1.18.33", "x64", "opencode")
PROMPT = "Why is the floor wet?"


class Model(ThreadingHTTPServer):
    """A model that says one word, and knows when it was first asked."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked = threading.Event()
        self.first = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def config(self):
        model = {"name": "M1", "tool_call": True, "limit": {"context": 100000, "output": 8000}}
        options = {"baseURL": f"http://127.0.0.1:{self.server_address[1]}/v1", "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "Bench", "options": options, "models": {"m1": model}}
        return {"model": "bench/m1", "enabled_providers": ["bench"], "provider": {"bench": provider},
                "agent": {"title": {"disable": True}}, "share": "disabled", "autoupdate": False, "snapshot": False}


class Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        if self.server.first is None:
            self.server.first = time.monotonic()
            self.server.asked.set()
        self.rfile.read(int(self.headers.get("content-length", 0)))
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

    def log_message(self, *_):
        pass


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bare(folder):
    """The environment of an engine of its own: no network but the model, and no catalogue to read."""
    catalogue = os.path.join(folder, "models.json")
    with open(catalogue, "w") as file:
        file.write("{}")
    names = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE"]
    quiet = {f"OPENCODE_DISABLE_{name}": "true" for name in names}
    home = {name: os.path.join(folder, name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    return {"PATH": os.environ["PATH"], **quiet, **home, "OPENCODE_MODELS_PATH": catalogue}


def fro_bot(model, folder):
    world = subprocess.Popen([os.path.join(RELEASE, "fro-sim"), "--json", "--jobs", folder], stdout=subprocess.PIPE)
    job = json.loads(world.stdout.readline())["jobs"]["comment"]
    job = job.get("env", job)
    inputs = {"INPUT_OPENCODE-CONFIG": json.dumps(model.config()), "INPUT_ENABLE-OMO": "false", "INPUT_SHARE": "false"}
    environment = {**job, **inputs, "PATH": os.environ["PATH"], "HOME": folder, "RUNNER_TOOL_CACHE": TOOLS}
    before, began = spent(), time.monotonic()
    log = open(os.path.join(folder, "log"), "w")
    run = subprocess.Popen([os.path.join(RELEASE, "fro-bot"), "action"], env=environment, cwd=job.get("GITHUB_WORKSPACE", folder), stdout=log, stderr=log)
    code = run.wait(120)
    used = spent() - before
    world.send_signal(signal.SIGINT)
    world.wait()
    assert code == 0 and model.first, open(log.name).read()
    return model.first - began, used


def serve(model, folder):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**bare(folder), "OPENCODE_CONFIG_CONTENT": json.dumps(model.config())}
    before, began = spent(), time.monotonic()
    engine = subprocess.Popen([ENGINE, "serve", "--hostname=127.0.0.1", f"--port={port}"], env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while b"listening" not in engine.stdout.readline():
        pass

    def post(path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"content-type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=60))

    session = post("/session", {})["id"]
    post(f"/session/{session}/message", {"parts": [{"type": "text", "text": PROMPT}]})
    engine.terminate()
    engine.wait()
    return model.first - began, spent() - before


def run(model, folder):
    environment = {**bare(folder), "OPENCODE_CONFIG_CONTENT": json.dumps(model.config())}
    before, began = spent(), time.monotonic()
    subprocess.run([ENGINE, "run", PROMPT], env=environment, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    return model.first - began, spent() - before


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    programs = {"fro-bot action": fro_bot, "opencode serve, one prompt": serve, "opencode run": run}
    measured = {name: [] for name in programs}
    for turn in range(times):
        for name, program in programs.items():
            model = Model()
            with tempfile.TemporaryDirectory() as folder:
                measured[name].append(program(model, folder))
            model.shutdown()
            print(f"{turn + 1}/{times} {name}: {measured[name][-1][0]:.2f} s", file=sys.stderr)
    print(f"| {times} times each, in turn | first question, median | least | most | CPU to the end, median |\n|---|---|---|---|---|")
    for name, figures in measured.items():
        seconds, cpu = zip(*figures)
        print(f"| `{name}` | {statistics.median(seconds):.2f} s | {min(seconds):.2f} s | {max(seconds):.2f} s | {statistics.median(cpu):.2f} s |")


if __name__ == "__main__":
    main()
