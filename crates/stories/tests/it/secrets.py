"""Looks for values, one per line of the file given first, in everything that a harness (its pid comes second) started.

For each process below it: the environment, the arguments and the memory. Prints a line for each find and each process.
"""

import os
import re
import sys

needles = [line.encode() for line in open(sys.argv[1]).read().splitlines()]
harness = int(sys.argv[2])


def parent(pid):
    try:
        return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError):
        return 0


def below(pid):
    while pid > 1:
        pid = parent(pid)
        if pid == harness:
            return True
    return False


def is_there(pages, start, end):
    """Whether anything is behind these addresses: engines reserve far more than they use."""
    pages.seek(start // 4096 * 8)
    return any(pages.read((end - start + 4095) // 4096 * 8)[7::8])


def pieces(pid):
    """The writable memory, piece by piece, each with a little of the one before."""
    with (
        open(f"/proc/{pid}/maps") as maps,
        open(f"/proc/{pid}/mem", "rb", 0) as memory,
        open(f"/proc/{pid}/pagemap", "rb", 0) as pages,
    ):
        for line in maps:
            start, end, rights = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line).groups()
            if "rw" not in rights or "[v" in line:
                continue
            start, end, tail = int(start, 16), int(end, 16), b""
            while start < end:
                size = min(1 << 20, end - start)
                if not is_there(pages, start, start + size):
                    start, tail = start + size, b""
                    continue
                try:
                    memory.seek(start)
                    piece = memory.read(size)
                except (OSError, ValueError, OverflowError):
                    break
                if not piece:
                    break
                yield tail + piece
                tail = piece[-200:]
                start += len(piece)


def look(pid, name, where, content):
    for number, needle in enumerate(needles, 1):
        if needle in content:
            print(f"LEAK value {number} in the {where} of {name}")


for pid in [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and below(int(entry))]:
    try:
        arguments = open(f"/proc/{pid}/cmdline", "rb").read()
        name = arguments.split(b"\0")[0].decode().rsplit("/", 1)[-1]
        look(pid, name, "arguments", arguments)
        look(pid, name, "environment", open(f"/proc/{pid}/environ", "rb").read())
        seen = 0
        for piece in pieces(pid):
            seen += len(piece)
            look(pid, name, "memory", piece)
        print(f"looked at {name}: {seen >> 20} MB")
    except FileNotFoundError:
        pass
