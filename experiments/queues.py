#!/usr/bin/env python3
"""Every controller behind every queue, on six recorded links.

    experiments/queues.py [--jobs N] TRACES

TRACES holds the folders `mahimahi`, `nyc`, `5g`, `wifi` and `starlink`. Needs `cargo build --release -p lowtide`.
Flows last 60 s, with 40 ms of RTT; each queue is as `lowtide list queues` has it, with no other limit.
"""

import os

from program import arguments, controllers, measured
from tables import geomean, table

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


def compare(args, link, queue):
    command = ["compare", "--trace", os.path.join(args.traces, link), "--rtt", "40ms", "--duration", "60s", *queue]
    for controller in args.controllers:
        command += ["--cc", controller]
    return {entry["controller"]: entry for entry in measured(args, command)["results"]}


def value(entry):
    return entry["throughput_mbps"], entry["queue_delay_ms"]["p95"]


def overview(args, found):
    """Each controller behind each queue, against BBR before a queue without limit."""
    rows = []
    for controller in args.controllers:
        row = [f"`{controller}`"]
        for queue, _ in QUEUES:
            rates, delays = [], []
            for link in LINKS:
                rate, delay = value(found[link, queue][controller])
                base_rate, base_delay = value(found[link, BASE[1]][BASE[0]])
                rates.append(rate / base_rate)
                delays.append(delay / base_delay)
            row.append(f"{geomean(rates):.2f} / {geomean(delays):.2f}")
        rows.append(row)
    text = "## Over all six links\n\nThroughput and p95 of the queueing delay, geometric means against `bbr` behind a "
    text += "drop-tail queue without limit (1.00 / 1.00).\n\n"
    return text + table(["controller", *[queue for queue, _ in QUEUES]], rows)


def each(args, found, link):
    rows = []
    for controller in args.controllers:
        row = [f"`{controller}`"]
        for queue, _ in QUEUES:
            entry = found[link, queue][controller]
            rate, delay = value(entry)
            lost = f" ({100 * entry['loss_share']:.1f} %)" if entry["loss_share"] >= 0.001 else ""
            row.append(f"{rate:.2f} / {delay:.0f}{lost}")
        rows.append(row)
    text = f"## {link}\n\nMbit/s / ms, and in brackets what was lost.\n\n"
    return text + table(["controller", *[queue for queue, _ in QUEUES]], rows)


def main():
    args = arguments(__doc__).parse_args()
    args.controllers = controllers(args) + VARIANTS
    found = {(link, name): compare(args, link, queue) for link in LINKS for name, queue in QUEUES}
    print(overview(args, found) + "".join(each(args, found, link) for link in LINKS))


if __name__ == "__main__":
    main()
