"""Draws what a program printed on a terminal as an SVG: usage: picture.py PRINTED.ansi PICTURE.svg"""

import io
import os
import re
import sys

from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.terminal_theme import TerminalTheme

# A theme that reads on GitHub's light and dark pages alike: the picture brings its own background.
DARK = TerminalTheme(
    (22, 27, 34),
    (230, 237, 243),
    [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196)],
    [(110, 118, 129), (255, 161, 152), (86, 211, 100), (227, 179, 65), (121, 192, 255), (210, 168, 255), (86, 212, 221), (240, 246, 252)],
)
WIDTH = 100
# Fonts of the reader's machine: a picture that fetches one is not shown on GitHub.
FORMAT = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="A run of fro-bot demo">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
<defs><clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath></defs>
</svg>
"""


def shown(printed):
    """The run and the answer, without the summary that is folded on GitHub."""
    lines = printed.splitlines()
    fold = next(number for number, line in enumerate(lines) if re.search(r"│\S* ---$", line))
    # Addresses, ids and folders differ in every run, and say nothing.
    plain = [(r"127\.0\.0\.1:\d+", "127.0.0.1"), (r"ses_\w+", "ses_…"), (re.escape(os.path.expanduser("~")) + "/", "~/")]
    for pattern, instead in plain:
        lines = [re.sub(pattern, instead, line) for line in lines]
    return lines[:fold - 1]


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        lines = shown(file.read())
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    # One reader for all lines: a colour goes on where a line was wrapped.
    reader = AnsiDecoder()
    for line in lines:
        console.print(reader.decode_line(line), overflow="ellipsis", no_wrap=True)
    picture = console.export_svg(title="", theme=DARK, code_format=FORMAT, unique_id="demo")
    with open(target, "w", encoding="utf-8") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
