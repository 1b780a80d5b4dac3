#!/usr/bin/env python3
"""Whole QUIC stacks in virtual time: what their own controllers do, and how far the model agrees with them.

    experiments/stacks.py [--jobs N] TRACES own | model

TRACES holds the folder `mahimahi`. Needs `cargo build --release -p lowtide`. noq draws the times between its BBRv3's
probes from the system's randomness, so that its rows differ from run to run.
"""

import os

from program import arguments, measured, scored
from tables import digits, table

LINKS = ["Verizon-LTE-short.down", "TMobile-LTE-short.down"]
OWN = {"noq": ["bbr3", "cubic", "newreno"], "quinn": ["bbr", "cubic", "newreno"], "quic": ["bbr", "cubic"]}
SUITES = ["app-limited", "cellular"]
# Neither noq nor quinn has HyStart++.
CUBIC = "cubic:hystart=false"


def own_name(host, name):
    return f"{'s2n' if host == 'quic' else host}/{name}"


def compare(args, host, controllers, *flags):
    command = ["compare", "--host", host, "--cc", ",".join(controllers), "--rtt", "40ms", *flags]
    return {entry["controller"]: entry for entry in measured(args, command)["results"]}


def recorded(args):
    rows = {}
    for link in LINKS:
        flags = ["--trace", os.path.join(args.traces, "mahimahi", link), "--buffer", "1mb", "--duration", "30s"]
        runs = {host: [own_name(host, name) for name in names] for host, names in OWN.items()} | {"model": ["ebb", "bbr"]}
        for host, names in runs.items():
            found = compare(args, host, names, *flags)
            for name in names:
                entry = found[name]
                rtt = entry["rtt_ms"]
                row = rows.setdefault(name, [f"`{name}`"])
                row += [digits(entry["throughput_mbps"], 2), digits(rtt["mean"], 0), digits(rtt["p95"], 0)]
                row.append(digits(100 * entry["loss_share"]))
    text = "## On recorded links\n\nOne bulk flow, 40 ms RTT, 1 MB of buffer, 30 s, one seed. ebb and bbr are the model's.\n\n"
    head = ["controller"]
    for link in LINKS:
        head += [f"{link}: Mbit/s", "mean RTT, ms", "p95 RTT, ms", "lost, %"]
    return text + table(head, rows.values())


def scorecards(args):
    rows = []
    for host, names in OWN.items():
        cards = {}
        for suite in SUITES:
            command = ["--host", host, "--suite", suite, "--cc", ",".join(own_name(host, n) for n in names)]
            cards[suite] = {score["controller"]: score for score in scored(args, [*command, "--traces", args.traces])["results"]}
        for name in (own_name(host, name) for name in names):
            row = [f"`{name}`"]
            for suite in SUITES:
                score = cards[suite][name]
                ran = score["passed"] + score["failed"] + score["undecided"]
                failed = [case["id"] for case in score["cases"] if case["verdict"] == "fail"]
                row += [f"{score['passed']}/{ran}", ", ".join(failed) or "-"]
            rows.append(row)
    text = "## On scorecards\n\nCases passed of those that ran, and those that fail; all seeds. In a suite quinn's own `bbr`, `cubic` and\n"
    text += "`newreno` stand for the yardsticks of these names.\n\n"
    return text + table(["controller", "app-limited", "fails", "cellular", "fails"], rows)


def two_hosts(args, controllers, host, *flags):
    """Rows of controllers, in the model and over a host: throughput, mean RTT and loss of both."""
    model = compare(args, "model", [ours for ours, _ in controllers], *flags)
    stack = compare(args, host, [theirs for _, theirs in controllers], *flags)
    for ours, theirs in controllers:
        a, b = model[ours], stack[theirs]
        yield [f"{ours}, {theirs} over {host}"] + [
            f"{digits(pair[0], 2)} / {digits(pair[1], 2)}" for pair in (
                (a["throughput_mbps"], b["throughput_mbps"]),
                (a["rtt_ms"]["mean"], b["rtt_ms"]["mean"]),
                (40 + a["queue_delay_ms"]["mean"], 40 + b["queue_delay_ms"]["mean"]),
                (100 * a["loss_share"], 100 * b["loss_share"]),
            )]


def model(args):
    same = [(name, name) for name in ["bbr", "bbr3", "rbbr", "ebb"]]
    windows = {host: [(CUBIC, f"{host}/cubic"), ("newreno", f"{host}/newreno")] for host in ("noq", "quinn")}
    in_s2n = [(name, name) for name in ["bbr", "rbbr", "bbr-s", CUBIC]]
    head = ["model / stack", "Mbit/s", "mean RTT, ms", "40 ms and mean queueing delay", "lost, %"]
    text = ""
    for rate, buffer in [("10mbit", "2bdp"), ("100mbit", "2bdp"), ("20mbit", "2bdp"), ("100mbit", "1bdp")]:
        flags = ["--rate", rate, "--buffer", buffer, "--duration", "30s"]
        rows = []
        for host, pairs in windows.items():
            rows += two_hosts(args, pairs, host, *flags)
        rows += two_hosts(args, same, "noq", *flags)
        rows += two_hosts(args, in_s2n, "quic", *flags)
        text += f"## {rate}, {buffer}\n\nOne bulk flow, 40 ms RTT, 30 s, one seed.\n\n" + table(head, rows)
    for link in ["ATT-LTE-driving-2016.down", *LINKS]:
        flags = ["--trace", os.path.join(args.traces, "mahimahi", link), "--buffer", "inf", "--duration", "30s", "--seeds", "10"]
        text += f"## {link}\n\nTen seeds, no limit to the buffer.\n\n" + table(head, two_hosts(args, in_s2n, "quic", *flags))
    return text


def main():
    parser = arguments(__doc__)
    parser.add_argument("which", choices=["own", "model"])
    args = parser.parse_args()
    print(recorded(args) + scorecards(args) if args.which == "own" else model(args))


if __name__ == "__main__":
    main()
