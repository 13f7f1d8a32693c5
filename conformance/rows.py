"""Rows of what a client in Python saw, one on each line of the output, and the world that it was in."""

import json
import sys
import traceback
from pathlib import Path

world = json.loads(Path(sys.argv[1]).read_text())


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


def same(told, expected):
    assert told == expected, f"{told!r} instead of {expected!r}"
