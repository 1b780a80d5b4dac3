#!/usr/bin/env python3
"""Runs the same scenarios in Lowtide's simulator and in ns-3, and writes how far they agree.

    ns3/agreement.py [--subset] [--cc NAME]... [--seeds N] [--most-seeds N] [--traces DIR] [--jobs N]
                     [--json FILE] [--report docs/fidelity.md]

Needs target/release/lowtide and target/ns3/lowtide-ns3 (ns3/README.md builds both). Exit code 1 when
fewer cells than the goal agree.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

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
    # Without a limit of the buffer CUBIC and NewReno keep ns-3 busy for minutes: one run will do in CI.
    traces = TRACES[:1] if args.subset else TRACES
    for trace, n in itertools.product(traces, flows[:1] if args.subset else ["1", "2"]):
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


def in_simulator(flags, controllers, seeds, args):
    """Results by controller, means over the seeds."""
    command = [SIMULATOR, "compare", "--json", "--no-timing", "--transport", "tcp", "--jobs", "1"]
    command += ["--duration", args.duration, "--seeds", str(seeds)]
    command += flags + [word for cc in controllers for word in ("--cc", cc)]
    return {r["controller"]: r for r in run(command) if r["controller"] in controllers}


def in_ns3(flags, seeds, args):
    """As in_simulator; `seeds`: how many, by controller."""
    results = {cc: [] for cc in seeds}
    for seed in range(1, max(seeds.values()) + 1):
        command = [NS3, "--duration", args.duration, "--seed", str(seed)] + flags
        command += [word for cc in seeds if seeds[cc] >= seed for word in ("--cc", cc)]
        for r in run(command):
            results[r["controller"]].append(r)
    return {cc: mean(results[cc]) for cc in seeds}


def seeds_needed(result, args):
    """How many seeds a controller gets in a scenario, by what the simulator shows with args.seeds."""
    noise = result["ci95"]["rtt_ms"]["mean"] / result["rtt_ms"]["mean"]
    if noise == 0.0:
        # It makes no choices of its own: one run of the slow engine says all.
        return 1
    # A mean of which half a 95 % interval is more than the goal cannot agree with anything.
    return args.seeds if noise <= GOALS[1][2] else args.most_seeds


def mean(values):
    if isinstance(values[0], dict):
        return {key: mean([v[key] for v in values]) for key in values[0] if key != "flows"}
    if isinstance(values[0], (int, float)):
        return sum(values) / len(values)
    return values[0]


def cell(task):
    (name, flags), controllers, args = task
    ours = in_simulator(flags, controllers, args.seeds, args)
    seeds = {cc: seeds_needed(ours[cc], args) for cc in controllers}
    noisy = [cc for cc in controllers if seeds[cc] > args.seeds]
    if noisy:
        ours.update(in_simulator(flags, noisy, args.most_seeds, args))
    theirs = in_ns3(flags, seeds, args)
    rows = []
    for cc in controllers:
        differences = [value(ours[cc]) / value(theirs[cc]) - 1.0 for _, value, _ in GOALS]
        within = all(abs(d) <= goal for d, (_, _, goal) in zip(differences, GOALS))
        rows.append({
            "scenario": name, "controller": cc, "within": within, "seeds": seeds[cc],
            "simulator": [value(ours[cc]) for _, value, _ in GOALS],
            "ns3": [value(theirs[cc]) for _, value, _ in GOALS],
            "differences": differences,
            "retransmitted": [ours[cc]["retransmitted_share"], theirs[cc]["retransmitted_share"]],
            "timeouts_ns3": theirs[cc]["timeouts"],
        })
    print(f"done: {name}", file=sys.stderr, flush=True)
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


BEGIN, END = "<!-- agreement.py: begin -->\n", "<!-- agreement.py: end -->\n"


def write_between_marks(path, text):
    """Keeps what people wrote around the table."""
    before, after = "", ""
    if os.path.exists(path):
        with open(path) as file:
            before, _, rest = file.read().partition(BEGIN)
            after = rest.partition(END)[2]
    with open(path, "w") as out:
        out.write(before + BEGIN + text + END + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subset", action="store_true", help="a few cells, for CI")
    parser.add_argument("--cc", action="append", help="controller [default: those that exist]")
    parser.add_argument("--seeds", type=int, default=3, help="at least 2")
    parser.add_argument("--most-seeds", type=int, default=10,
                        help="where the mean RTT's interval is wider than the goal")
    parser.add_argument("--duration", default="30s")
    parser.add_argument("--traces", default=os.environ.get(
        "LOWTIDE_TRACES", os.path.join(ROOT, "../shared/traces")))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="runs at a time; 0: report what --json holds")
    parser.add_argument("--json", help="keep cells here; those that it has are not run again")
    parser.add_argument("--report", help="put summary and table into this file, between its marks")
    args = parser.parse_args()

    listed = subprocess.run([SIMULATOR, "list", "--json"], capture_output=True, text=True)
    known = [c["name"] for c in json.loads(listed.stdout)]
    controllers = args.cc or [c for c in CONTROLLERS if c in known]
    rows = []
    if args.json and os.path.exists(args.json):
        with open(args.json) as kept:
            rows = json.load(kept)
    known = {(r["scenario"], r["controller"]) for r in rows}
    tasks = []
    for name, flags in scenarios(args):
        missing = [cc for cc in controllers if (name, cc) not in known]
        if missing:
            tasks.append(((name, flags), missing, args))
    # The slowest last: ns-3 walks through all segments in flight for each packet.
    if args.jobs == 0:
        tasks = []
    tasks.sort(key=lambda task: "80bdp" in task[0][1] and "50mbit" in task[0][1])
    with ThreadPoolExecutor(max(args.jobs, 1)) as pool:
        for done in as_completed([pool.submit(cell, task) for task in tasks]):
            rows += done.result()
            if args.json:
                with open(args.json, "w") as out:
                    json.dump(rows, out, indent=1)
    order = [name for name, _ in scenarios(args)]
    rows = [r for r in rows if r["controller"] in controllers and r["scenario"] in order]
    rows.sort(key=lambda r: (controllers.index(r["controller"]), order.index(r["scenario"])))
    text = summary(rows) + "\n" + table(rows)
    if args.report:
        write_between_marks(args.report, text)
    print(text)
    agreeing = sum(r["within"] for r in rows)
    print(f"{agreeing} of {len(rows)} cells within the goal")
    return 0 if agreeing >= SHARE_OF_CELLS * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
