#!/usr/bin/env python3
"""Draws what a command prints in a terminal of 80 columns as an SVG, for README.md.

docs/run_picture.py -o docs/run.svg -- tune --yaml configs/gemm_cpu.yaml --tune --top 10 --output build/demo/gemm_cpu

Each `--` begins a command. They run in a pseudo-terminal, one after the other, in the current folder. The picture has
light and dark colours, by what the reader prefers.
"""

import argparse
import fcntl
import html
import itertools
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios

COLUMNS = 80
WIDTH, HEIGHT = 8.4, 18  # of a character
STYLE = """
text { font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre; fill: #24292f }
.bold { font-weight: bold } .prompt { fill: #6e7781 } rect { fill: #f6f8fa; stroke: #d0d7de }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .prompt { fill: #8b949e } rect { fill: #0d1117; stroke: #30363d }
}
"""


def output_of(command):
    """What it prints on a terminal, standard error included."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    if shutil.which(command[0]) is None:
        sys.exit(f"there is no program {command[0]}")
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, close_fds=True) as child:
        os.close(terminal)
        printed = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            printed += piece
    if child.returncode != 0:
        sys.exit(f"{shlex.join(command)} ended with {child.returncode}:\n{printed.decode()}")
    return printed.decode()


def lines_on_screen(printed):
    """The lines that stay, each a list of (character, is bold)."""
    lines, row, column, bold = [[]], 0, 0, False
    for piece in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|.|\n", printed):
        line = lines[row]
        if piece == "\n":
            row += 1
            if row == len(lines):
                lines.append([])
        elif piece == "\r":
            column = 0
        elif piece == "\x1b[A":
            row = max(row - 1, 0)
        elif piece == "\x1b[K":
            del line[column:]
        elif piece.endswith("m") and piece.startswith("\x1b"):
            bold = piece == "\x1b[1m"
        elif not piece.startswith("\x1b"):
            line += [(" ", False)] * (column - len(line))
            line[column : column + 1] = [(piece, bold)]
            column += 1
    return lines


def as_svg(lines):
    while lines and not lines[-1]:
        lines.pop()
    width, height = COLUMNS * WIDTH + 24, len(lines) * HEIGHT + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}">',
        f"<style>{STYLE}</style>",
        f'<rect x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1}" rx="6"/>',
    ]
    for number, line in enumerate(lines):
        spans, text, style = [], "", None
        for character, bold in [*line, ("", None)]:
            if bold != style and text:
                spans.append(f'<tspan class="bold">{html.escape(text)}</tspan>' if style else html.escape(text))
                text = ""
            text, style = text + character, bold
        if not spans:
            continue
        name = ' class="prompt"' if spans[0].startswith("$ ") else ""
        parts.append(f'<text x="12" y="{number * HEIGHT + 26}"{name} xml:space="preserve">{"".join(spans)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", required=True)
    options, words = parser.parse_known_args()
    if "--" not in words:
        parser.error("no command: write -- before each")
    lines = []
    for begin in (i for i, word in enumerate(words) if word == "--"):
        command = list(itertools.takewhile(lambda word: word != "--", words[begin + 1 :]))
        lines.append([(character, False) for character in "$ " + shlex.join(command)])
        lines += lines_on_screen(output_of(command).removesuffix("\r\n"))
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(as_svg(lines))


main()
