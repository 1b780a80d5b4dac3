#!/usr/bin/env python3
"""Every controller behind every queue: docs/results/queues.md.

    experiments/queues.py [--jobs N] TRACES

TRACES holds the folders `mahimahi`, `nyc`, `5g`, `wifi` and `starlink`. Needs `cargo build --release -p lowtide`.
"""

import argparse
import json
import math
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs/results/queues.md")
BUILT = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release")
LINKS = [
    "mahimahi/TMobile-LTE-short.down",
    "mahimahi/Verizon-LTE-short.down",
    "nyc/trace-3201711-timessquare",
    "5g/xu5g_1.csv",
    "wifi/rest-wifi_0.csv",
    "starlink/leocc-a.down",
]
QUEUES = [
    ("drop-tail ∞", ["--buffer", "inf"]),
    ("drop-tail 2 BDP", ["--buffer", "2bdp"]),
    ("CoDel", ["--buffer", "inf", "--queue", "codel"]),
    ("FQ-CoDel", ["--buffer", "inf", "--queue", "fq_codel"]),
    ("PIE", ["--buffer", "inf", "--queue", "pie"]),
    ("DualPI2", ["--buffer", "inf", "--queue", "dualpi2"]),
    ("L4S marker", ["--buffer", "inf", "--queue", "l4s"]),
]
# Beside the controllers as they are: what they make of marks where that is an option.
VARIANTS = ["ebb:l4s=true", "bbr:ecn=true", "rbbr:ecn=true", "bbr-s:ecn=true", "rtt-gain:ecn=true", "ebcc:ecn=true",
            "bbr-acd:ecn=true", "cubic:abe=true", "newreno:abe=true"]
BASE = ("bbr", "drop-tail ∞")
HEAD = """# Controllers behind queues

Made by `experiments/queues.py TRACES`. One flow, 40 ms, 60 s; each queue as `lowtide list queues` has it by default, with no
other limit. Flows use ECN as their controller asks (`lowtide_cc::Controller::ecn`): the BBR family, Copa, LeoCC and windows send Not-ECT and
are dropped where others are marked; with `ecn=true` (ours, [bbr.md](../algorithms/bbr.md)) marks cap what is in flight. The L4S marker
marks ECT(1) alone.

In each field: throughput and p95 of the packets' queueing delay.

What it shows: who keeps the queue short by itself (`ebb`, Copa) gains next to nothing by a queue that is managed; who fills buffers is cured by
CoDel, at the price of a third of the throughput and more, because on such links a wait of 5 ms is no sign of congestion. Where marks
replace drops, delay is the same and nothing has to be sent again; where they are answered and drops were not (`ecn=true` of the BBR
family), the delay halves. A step at 1 ms, DualPI2's, hurts every controller on links that serve in slots, those that obey it most: L4S
on such links needs thresholds beyond a slot. One flow has a queue for itself, so that FQ-CoDel is CoDel here.
"""


def compare(args, link, queue):
    trace = os.path.join(args.traces, link)
    command = [args.lowtide, "compare", "--trace", trace, "--rtt", "40ms", "--duration", "60s", *queue]
    command += ["--json", "--no-timing", "--jobs", str(args.jobs)]
    for controller in args.controllers:
        command += ["--cc", controller]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return {entry["controller"]: entry for entry in json.loads(done.stdout)["results"]}


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n\n"


def value(entry):
    return entry["throughput_mbps"], entry["queue_delay_ms"]["p95"]


def mean_ratio(ratios):
    return math.exp(sum(math.log(max(ratio, 1e-9)) for ratio in ratios) / len(ratios))


def overview(args, measured):
    """Each controller behind each queue, against BBR before a queue without limit."""
    rows = []
    for controller in args.controllers:
        row = [f"`{controller}`"]
        for queue, _ in QUEUES:
            rates, delays = [], []
            for link in LINKS:
                rate, delay = value(measured[link, queue][controller])
                base_rate, base_delay = value(measured[link, BASE[1]][BASE[0]])
                rates.append(rate / base_rate)
                delays.append(delay / base_delay)
            row.append(f"{mean_ratio(rates):.2f} / {mean_ratio(delays):.2f}")
        rows.append(row)
    text = "## Over all six links\n\nGeometric means against `bbr` behind a drop-tail queue without limit (1.00 / 1.00).\n\n"
    return text + table(["controller", *[queue for queue, _ in QUEUES]], rows)


def each(args, measured, link):
    rows = []
    for controller in args.controllers:
        row = [f"`{controller}`"]
        for queue, _ in QUEUES:
            entry = measured[link, queue][controller]
            rate, delay = value(entry)
            lost = f" ({100 * entry['loss_share']:.1f} %)" if entry["loss_share"] >= 0.001 else ""
            row.append(f"{rate:.2f} / {delay:.0f}{lost}")
        rows.append(row)
    text = f"## {link}\n\nMbit/s / ms, and in brackets what was lost.\n\n"
    return text + table(["controller", *[queue for queue, _ in QUEUES]], rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--lowtide", default=os.path.join(BUILT, "lowtide"))
    parser.add_argument("traces")
    args = parser.parse_args()
    listed = subprocess.run([args.lowtide, "list", "--json"], stdout=subprocess.PIPE, check=True)
    # Those of QUIC stacks, with a slash, run over their stacks alone.
    names = [entry["name"] for entry in json.loads(listed.stdout) if "/" not in entry["name"]]
    args.controllers = [name for name in names if name not in ("window", "oracle", "causal", "abc")] + VARIANTS
    measured = {(link, name): compare(args, link, queue) for link in LINKS for name, queue in QUEUES}
    text = HEAD + "\n" + overview(args, measured) + "".join(each(args, measured, link) for link in LINKS)
    with open(DOCUMENT, "w") as document:
        document.write(text.rstrip() + "\n")


if __name__ == "__main__":
    main()
