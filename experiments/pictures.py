#!/usr/bin/env python3
"""Draws the pictures of the book: docs/house.svg, docs/simulator/packet.svg and docs/ebb-run.svg.

    experiments/pictures.py            # needs a release build of lowtide
    experiments/pictures.py --check    # fails where the first two are not those of these sources

The first shows the crates and what they depend on, from the Cargo manifests. The second shows the way of a packet
through the simulator, and the files that it passes. The third is a run of ebb with its phases, from its qlog. The
same sources give the same bytes.
"""

import json
import math
import os
import sys
import tempfile
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

from program import BUILT, ROOT, printed

INK, MUTED, PAPER, BOX, LINE, BLUE = "#1b2733", "#5b6b7a", "#ffffff", "#eef3f8", "#8fa1b3", "#2f6fb0"

# Where each crate stands: column and storey. A crate may use those below it.
PLACES = {
    "lowtide-cc": (1.6, 0),
    "lowtide-host": (1.6, 1),
    "lowtide-kernel": (5, 1),
    "lowtide-noq": (0, 2),
    "lowtide-quinn": (1, 2),
    "lowtide-sim": (2, 2),
    "lowtide-ffi": (3.2, 2),
    "lowtide-stacks": (0, 3),
    "lowtide-quic": (1.45, 3),
    "lowtide-link": (3, 3),
    "lowtide-record": (4, 3),
    "lowtide-lab": (1.9, 4),
    "lowtide-report": (1.15, 5),
    "lowtide-attack": (2, 5),
    "lowtide-bench": (3, 5),
    "lowtide-transfer": (0, 6),
    "lowtide-wasm": (1.15, 6),
    "lowtide": (2.5, 7),
    "lowtide-py": (2.5, 8),
}
# What stands beside the others, so that the command line's line to it leaves by the side.
ASIDE = ("lowtide-transfer", "lowtide-record", "lowtide-kernel")


class Picture:
    """An SVG on a light ground, so that it can be read on dark pages as well."""

    def __init__(self, width, height, about):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-family="sans-serif" font-size="13" role="img">',
            f"<title>{escape(about)}</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>',
        ]

    def path(self, points, colour=LINE, width=1.3, dashed=False):
        line = " ".join(f"{'L' if i else 'M'}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(points))
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>')

    def box(self, x, y, width, height, fill, stroke="none", rx=0, about=""):
        title = f"<title>{escape(about)}</title>" if about else ""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{rx}" fill="{fill}" '
            f'stroke="{stroke}">{title}</rect>'
        )

    def text(self, x, y, text, colour=INK, anchor="start", size=13, bold=False):
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size}"{weight}>'
            f"{escape(text)}</text>"
        )

    def svg(self):
        return "\n".join([*self.parts, "</svg>", ""])


def manifests():
    """Each crate's description, and the crates that it uses: True where it does so as a feature only."""
    crates = {}
    for file in sorted(Path(ROOT, "crates").glob("*/Cargo.toml")):
        manifest = tomllib.loads(file.read_text())
        used = {
            name: isinstance(how, dict) and how.get("optional", False)
            for name, how in manifest["dependencies"].items()
            if name.startswith("lowtide")
        }
        crates[manifest["package"]["name"]] = (manifest["package"].get("description", ""), used)
    return crates


def direct(crates):
    """The arrows that others do not imply: (user, used, whether it is a feature)."""

    def reached(name):
        found = set()
        for used, optional in crates[name][1].items():
            if not optional:
                found |= {used} | reached(used)
        return found

    for name, (_, used) in crates.items():
        for other, optional in used.items():
            if not any(other in reached(third) for third in used if not used[third]):
                yield name, other, optional


def house():
    crates = manifests()
    without = set(crates) ^ set(PLACES)
    if without:
        sys.exit(f"error: no place for {', '.join(sorted(without))}: see PLACES")
    wide, high, step_x, step_y, top, left = 100, 28, 118, 46, 22, 62
    storeys = max(y for _, y in PLACES.values())

    def middle(name):
        x, y = PLACES[name]
        return left + x * step_x, top + (storeys - y) * step_y + high / 2

    columns = max(x for x, _ in PLACES.values())
    bottom = top * 2 + storeys * step_y + high
    picture = Picture(round(2 * left + columns * step_x), bottom + 12, "Crates and what they use")
    for name, other, optional in direct(crates):
        (x, y), (to_x, to_y) = middle(name), middle(other)
        if to_y < y + high:
            sys.exit(f"error: {name} uses {other}, which does not stand below it: see PLACES")
        start = [(x, y), (to_x, y)] if other in ASIDE and name == "lowtide" else [(x, y + high / 2)]
        picture.path([*start, (to_x, to_y - high / 2)], dashed=optional)
    for name, (about, _) in crates.items():
        x, y = middle(name)
        picture.box(x - wide / 2, y - high / 2, wide, high, BOX, LINE, 5, about)
        picture.text(x, y + 4.5, name.removeprefix("lowtide-"), anchor="middle", bold=True)
    picture.text(left - wide / 2, bottom, "A line leads down to a crate that is used; dashed: by a feature.", MUTED, size=12)
    return picture.svg()


# What a packet passes, and where that is in crates/lowtide-sim/src; there, and back as an acknowledgment from the right.
WAY = [
    [
        ("sender", "transport/sender.rs"),
        ("access", "network/access.rs"),
        ("policer", "network/bucket.rs"),
        ("queue", "network/queue"),
        ("link", "network/link"),
        ("loss", "network/impairment"),
        ("delay, jitter", "network/impairment"),
        ("receiver", "transport/receiver.rs"),
    ],
    [
        ("controller", "lowtide-cc"),
        ("access", "network/access.rs"),
        ("aggregation", "network/impairment"),
        ("delay, jitter", "network/impairment"),
        ("loss", "network/impairment"),
        ("link", "network/link"),
        ("queue", "network/queue"),
        ("acknowledgment", "transport/receiver.rs"),
    ],
]


def packet():
    sources = Path(ROOT, "crates/lowtide-sim/src")
    gone = [where for row in WAY for _, where in row if "/" in where and not (sources / where).exists()]
    if gone:
        sys.exit(f"error: {', '.join(gone)} is not in {sources}: see WAY")
    wide, high, step, top, down = 106, 44, 122, 34, 96
    picture = Picture(2 * 14 + step * (len(WAY[0]) - 1) + wide, 2 * top + down + high, "The way of a packet, and back")
    x = lambda column: 14 + column * step
    for row, places in enumerate(WAY):
        y = top + row * down
        ends = (x(0) + wide / 2, x(len(places) - 1) + wide / 2)
        picture.path([(ends[0], y + high / 2), (ends[1], y + high / 2)], BLUE, 1.6)
        for column, (name, where) in enumerate(places):
            picture.box(x(column), y, wide, high, BOX, LINE, 5)
            picture.text(x(column) + wide / 2, y + 19, name, anchor="middle", bold=True, size=12)
            picture.text(x(column) + wide / 2, y + 35, where.removeprefix("network/"), MUTED, "middle", 10)
        picture.text(sum(ends) / 2, y - 8, ("data \u2192", "\u2190 acknowledgments")[row], BLUE, "middle", 12)
        # Down at the receiver, up at the sender.
        picture.path([(ends[1 - row], top + high), (ends[1 - row], top + down)], BLUE, 1.6)
    picture.text(14, 2 * top + down + high - 8, "Gray: the file or folder, below network/ where none is named.", MUTED, size=11)
    return picture.svg()


SCHEDULE, RTT_MS, SECONDS = [(0, 20), (5, 8), (7, 20)], 40, 10
RUN = [
    *["compare", "--cc", "ebb", "--rtt", f"{RTT_MS}ms", "--duration", f"{SECONDS}s", "--buffer", "2bdp"],
    *["--schedule", ",".join(f"{at}s:{rate}mbit" for at, rate in SCHEDULE)],
]


def run_of_ebb():
    """Times in s and window in kB, RTT in ms; and phases as (name, from, until)."""
    with tempfile.TemporaryDirectory() as folder:
        printed([os.path.join(BUILT, "lowtide"), *RUN, "--qlog", folder])
        records = [json.loads(r) for r in Path(folder, "ebb.sqlog").read_text().split("\x1e") if r.strip()]
    metrics, phases = [], []
    for record in records[1:]:
        at, data = record["time"] / 1000, record["data"]
        if record["name"].endswith("recovery_metrics_updated"):
            metrics.append((at, data["congestion_window"] / 1000, data["latest_rtt"]))
        elif record["name"].endswith("congestion_state_updated"):
            if phases:
                phases[-1][2] = at
            phases.append([data["new"], at if phases else 0, SECONDS])
    return metrics, phases


def ebb_run():
    metrics, phases = run_of_ebb()
    left, right, width = 62, 14, 720
    across = lambda at: left + at / SECONDS * (width - left - right)
    # Top, height, and the value at the top, which is the largest rounded up.
    panels = {"window, kB": (46, 150, 50), "queueing delay, ms": (216, 110, 20)}
    picture = Picture(width, 372, "ebb on a link of 20, 8 and 20 Mbit/s: window and queueing delay, phase by phase")
    colours = {"Startup": "#c05a1c", "Drain": "#3c8a4e", "Steady": "#dfe7ef", "Compete": "#b04a9a"}
    free = left
    for name, since, until in phases:
        wide = max(across(until) - across(since), 2)
        picture.box(across(since), 22, wide, 10, colours[name], about=f"{name}, {since:.2f} to {until:.2f} s")
        if name != "Steady":
            picture.box(across(since), 32, wide, 294, colours[name] + "22")
            picture.text(max(across(since), free), 16, name, colours[name], size=12)
            free = max(across(since), free) + 8 * len(name)
    for label, (top, height, unit) in panels.items():
        column = 1 if label.startswith("window") else 2
        least = RTT_MS if column == 2 else 0
        most = math.ceil((max(sample[column] for sample in metrics) - least) / unit) * unit
        down = lambda value: top + height - max(value, 0) / most * height
        picture.path([(left, top), (left, top + height), (width - right, top + height)], LINE, 1)
        picture.text(left + 6, top + 12, label, MUTED, size=12)
        for value in (0, most / 2, most):
            picture.text(left - 6, down(value) + 4, f"{value:.0f}", MUTED, "end", 11)
        # The largest and the smallest value of each pixel column.
        bins = {}
        for sample in metrics:
            value = sample[column] - least
            low, high = bins.get(round(across(sample[0])), (value, value))
            bins[round(across(sample[0]))] = (min(low, value), max(high, value))
        points = [(x, down(v)) for x, pair in sorted(bins.items()) for v in (pair if pair[0] != pair[1] else pair[:1])]
        picture.path(points, BLUE, 1.4)
        if column == 1:
            steps = []
            for n, (at, rate) in enumerate(SCHEDULE):
                until = SCHEDULE[n + 1][0] if n + 1 < len(SCHEDULE) else SECONDS
                steps += [(across(at), down(rate * RTT_MS / 8)), (across(until), down(rate * RTT_MS / 8))]
            picture.path(steps, INK, 1, dashed=True)
            picture.text(width - right - 4, down(SCHEDULE[-1][1] * RTT_MS / 8) + 16, "BDP", INK, "end", 12)
    for at, rate in SCHEDULE:
        picture.text(across(at), 346, f"{at} s: {rate} Mbit/s", MUTED, size=12)
        picture.path([(across(at), 326), (across(at), 334)], LINE, 1)
    picture.text(width - right, 346, f"{SECONDS} s", MUTED, "end", 12)
    picture.text(left, 364, "lowtide " + " ".join(RUN), MUTED, size=11)
    return picture.svg()


def main():
    drawn = {Path(ROOT, "docs/house.svg"): house(), Path(ROOT, "docs/simulator/packet.svg"): packet()}
    if sys.argv[1:] == ["--check"]:
        old = [str(file) for file, svg in drawn.items() if not file.exists() or file.read_text() != svg]
        return f"error: {', '.join(old)} is old; run experiments/pictures.py" if old else 0
    for file, svg in drawn.items():
        file.write_text(svg)
    Path(ROOT, "docs/ebb-run.svg").write_text(ebb_run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
