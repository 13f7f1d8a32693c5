"""Finds canaries in whatever form they are: usage: seen.py NEEDLES FOLDER.

NEEDLES is a file with one canary in each line. Every file below FOLDER is looked at as it is, backwards, with its letters
moved by thirteen, and as what it has in base64, hexadecimal or percent signs or packed, two layers deep. Printed are lines
of the place, which is the first part of the path below FOLDER, and the canary.
"""

import base64
import binascii
import codecs
import os
import re
import sys
import urllib.parse
import zlib

LAYERS = 2
MOST = 64 << 20
# What is larger has its first layer taken off, and no second.
LARGE = 1 << 20
WORDS = re.compile(rb"[A-Za-z0-9+/_-]{24,}")
BREAKS = re.compile(rb"\\[nr]|\s")
DIGITS = re.compile(rb"(?:[0-9a-fA-F]{2}[\s:]?){24,}[0-9a-fA-F]?")
PACKED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
TURNED = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", b"NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm"
)


def from_base64(word):
    """The bytes of a word that may begin with up to three letters that belong to something else."""
    word = word.replace(b"-", b"+").replace(b"_", b"/")
    for start in range(4):
        part = word[start:]
        part = part[:-1] if len(part) % 4 == 1 else part
        yield base64.b64decode(part + b"=" * (-len(part) % 4))


def unpacked(raw):
    # A view: there may be thousands of places that look like a beginning.
    view = memoryview(raw)
    for found in PACKED.finditer(raw):
        try:
            kind = 31 if raw[found.start()] == 0x1F else 15
            yield zlib.decompressobj(kind).decompress(view[found.start() :], MOST)
        except zlib.error:
            pass


def decoded(raw):
    words = WORDS.findall(raw)
    words += WORDS.findall(BREAKS.sub(b"", raw))
    # One text of all of them: a look at many small ones would take long.
    yield b"\n".join(part for word in words for part in from_base64(word))
    runs = [re.sub(rb"[\s:]", b"", run) for run in DIGITS.findall(raw)]
    both = [run[start:] for run in runs for start in (0, 1)]
    yield b"\n".join(binascii.unhexlify(run[: len(run) // 2 * 2]) for run in both)
    if b"%" in raw:
        yield urllib.parse.unquote_to_bytes(raw)
    if b"\\u00" in raw:
        yield codecs.decode(raw, "unicode_escape").encode("latin-1", "replace")
    yield from unpacked(raw)


def forms(raw, layers):
    yield raw
    if layers == LAYERS or layers > 0 and 0 < len(raw) < LARGE:
        for text in decoded(raw):
            yield from forms(text, layers - 1)


def canaries_in(raw, needles):
    found = set()
    for text in forms(raw, LAYERS):
        if b"\0" in text:
            text += text.replace(b"\0", b"")
        for whole in (text, text[::-1], text.translate(TURNED)):
            found.update(needle for needle in needles - found if needle in whole)
    return found


def main(needles_file, folder):
    with open(needles_file, "rb") as file:
        needles = {line.strip() for line in file if line.strip()}
    for path, _, names in os.walk(folder):
        for name in names:
            whole = os.path.join(path, name)
            with open(whole, "rb") as file:
                raw = file.read()
            place = os.path.relpath(whole, folder).split(os.sep)[0]
            for needle in sorted(canaries_in(raw, needles)):
                print(place, needle.decode(), sep="\t")


main(*sys.argv[1:])
