#!/usr/bin/env python3
"""Runs the same scenarios in Lowtide's simulator and in ns-3, and writes how far they agree.

    ns3/agreement.py [--subset] [--cc NAME]... [--seeds N] [--traces DIR] [--jobs N]
                     [--json FILE] [--report docs/fidelity-table.md]

Needs target/release/lowtide and target/ns3/lowtide-ns3 (ns3/README.md builds both). Exit code 1 when
fewer cells than the goal agree.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIMULATOR = os.path.join(ROOT, "target/release/lowtide")
NS3 = os.path.join(ROOT, "target/ns3/lowtide-ns3")

CONTROLLERS = ["bbr", "cubic", "newreno", "bbr-acd", "rtt-gain", "bbr-s", "ebcc"]
TRACES = ["mahimahi/Verizon-LTE-short.down", "mahimahi/TMobile-LTE-short.down"]

# Metric, how to read it, largest relative difference.
GOALS = [
    ("throughput", lambda r: r["throughput_mbps"], 0.05),
    ("mean RTT", lambda r: r["rtt_ms"]["mean"], 0.05),
    ("p95 RTT", lambda r: r["rtt_ms"]["p95"], 0.10),
]
SHARE_OF_CELLS = 0.90


def scenarios(args):
    """Name and flags of each scenario; flags mean the same to both engines."""
    rates, rtts, buffers = ["10mbit", "50mbit"], ["20ms", "60ms"], ["0.8bdp", "2bdp", "80bdp"]
    flows = ["1", "2", "6"]
    if args.subset:
        rates, rtts, flows = ["10mbit"], ["20ms"], ["1", "2"]
    for rate, rtt, buffer, n in itertools.product(rates, rtts, buffers, flows):
        name = f"{rate}, {rtt}, {buffer}, {n} flow" + ("s" if n != "1" else "")
        yield name, ["--rate", rate, "--rtt", rtt, "--buffer", buffer, "--flows", n]
    for rate, rtt in itertools.product(rates, rtts):
        name = f"{rate}, {rtt}, 2bdp, 1 flow, 0.1 % loss"
        yield name, ["--rate", rate, "--rtt", rtt, "--buffer", "2bdp", "--loss", "0.1%"]
    for trace, n in itertools.product(TRACES, ["1", "2"]):
        path = os.path.join(args.traces, trace)
        if os.path.exists(path):
            name = f"{os.path.basename(trace)}, 40ms, {n} flow" + ("s" if n != "1" else "")
            yield name, ["--trace", path, "--rtt", "40ms", "--flows", n]
        else:
            print(f"skipped: {path} is not there", file=sys.stderr)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)["results"]


def in_simulator(flags, controllers, args):
    """Results by controller, means over the seeds."""
    command = [SIMULATOR, "compare", "--json", "--no-timing", "--transport", "tcp", "--jobs", "1"]
    command += ["--duration", args.duration, "--seeds", str(args.seeds)]
    command += flags + [word for cc in controllers for word in ("--cc", cc)]
    return {r["controller"]: r for r in run(command) if r["controller"] in controllers}


def in_ns3(flags, controllers, args):
    """As in_simulator. Controllers to whom the second seed makes no difference get no third."""
    results = {cc: [] for cc in controllers}
    left = list(controllers)
    for seed in range(1, args.seeds + 1):
        command = [NS3, "--duration", args.duration, "--seed", str(seed)] + flags
        command += [word for cc in left for word in ("--cc", cc)]
        for r in run(command):
            results[r["controller"]].append(r)
        if seed == 2:
            left = [cc for cc in left if results[cc][0] != results[cc][1]]
        if not left:
            break
    return {cc: mean(results[cc]) for cc in controllers}


def mean(values):
    if isinstance(values[0], dict):
        return {key: mean([v[key] for v in values]) for key in values[0] if key != "flows"}
    if isinstance(values[0], (int, float)):
        return sum(values) / len(values)
    return values[0]


def cell(task):
    (name, flags), controllers, args = task
    ours, theirs = in_simulator(flags, controllers, args), in_ns3(flags, controllers, args)
    print(f"done: {name}", file=sys.stderr, flush=True)
    rows = []
    for cc in controllers:
        differences = [value(ours[cc]) / value(theirs[cc]) - 1.0 for _, value, _ in GOALS]
        within = all(abs(d) <= goal for d, (_, _, goal) in zip(differences, GOALS))
        rows.append({
            "scenario": name, "controller": cc, "within": within,
            "simulator": [value(ours[cc]) for _, value, _ in GOALS],
            "ns3": [value(theirs[cc]) for _, value, _ in GOALS],
            "differences": differences,
            "retransmitted": [ours[cc]["retransmitted_share"], theirs[cc]["retransmitted_share"]],
            "timeouts_ns3": theirs[cc]["timeouts"],
        })
    return rows


def table(rows):
    lines = [
        "| controller | scenario | Mbit/s | ns-3 | | RTT ms | ns-3 | | p95 ms | ns-3 | "
        "| resent % | ns-3 |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        shown = []
        for ours, theirs, difference, (_, _, goal) in zip(
                r["simulator"], r["ns3"], r["differences"], GOALS):
            mark = "" if abs(difference) <= goal else "**"
            shown += [f"{ours:.2f}", f"{theirs:.2f}", f"{mark}{100 * difference:+.1f} %{mark}"]
        shown += [f"{100 * share:.2f}" for share in r["retransmitted"]]
        lines.append(f"| {r['controller']} | {r['scenario']} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def summary(rows):
    text = ["| controller | cells | within the goal | throughput | mean RTT | p95 RTT |",
            "|---|---|---|---|---|---|"]
    names = list(dict.fromkeys(r["controller"] for r in rows))
    for name in names + ["all"]:
        of = [r for r in rows if name in ("all", r["controller"])]
        share = lambda good: f"{100 * sum(map(good, of)) / len(of):.0f} %"
        each = [share(lambda r, n=n, goal=goal: abs(r["differences"][n]) <= goal)
                for n, (_, _, goal) in enumerate(GOALS)]
        text.append(f"| {name} | {len(of)} | {share(lambda r: r['within'])} | "
                    + " | ".join(each) + " |")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subset", action="store_true", help="a few cells, for CI")
    parser.add_argument("--cc", action="append", help="controller [default: those that exist]")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--duration", default="30s")
    parser.add_argument("--traces", default=os.environ.get(
        "LOWTIDE_TRACES", os.path.join(ROOT, "../shared/traces")))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", help="write all cells here")
    parser.add_argument("--report", help="write summary and table here, as Markdown")
    args = parser.parse_args()

    listed = subprocess.run([SIMULATOR, "list", "--json"], capture_output=True, text=True)
    known = [c["name"] for c in json.loads(listed.stdout)]
    controllers = args.cc or [c for c in CONTROLLERS if c in known]
    tasks = [(s, controllers, args) for s in scenarios(args)]
    with ThreadPoolExecutor(args.jobs) as pool:
        rows = [row for rows in pool.map(cell, tasks) for row in rows]
    rows.sort(key=lambda r: controllers.index(r["controller"]))  # stable
    if args.json:
        with open(args.json, "w") as out:
            json.dump(rows, out, indent=1)
    text = summary(rows) + "\n" + table(rows)
    if args.report:
        with open(args.report, "w") as out:
            out.write(text)
    print(text)
    agreeing = sum(r["within"] for r in rows)
    print(f"{agreeing} of {len(rows)} cells within the goal")
    return 0 if agreeing >= SHARE_OF_CELLS * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
