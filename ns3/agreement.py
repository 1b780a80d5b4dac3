#!/usr/bin/env python3
"""Runs the same scenarios in Lowtide's simulator and in ns-3, and writes how far they agree.

    ns3/agreement.py [--subset] [--queues] [--cc NAME]... [--only TEXT] [--seeds N] [--most-seeds N]
                     [--traces DIR] [--jobs N] [--json FILE] [--report FILE]

Needs target/release/lowtide (or the binary that LOWTIDE_BIN names) and target/ns3/lowtide-ns3;
ns3/README.md builds both. Exit code 1 when a scenario fails or fewer cells than the goal agree.
"""

import argparse
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"))
SIMULATOR = os.path.abspath(os.environ.get("LOWTIDE_BIN", os.path.join(TARGET, "release/lowtide")))
NS3 = os.environ.get("LOWTIDE_NS3", os.path.join(ROOT, "target/ns3/lowtide-ns3"))

CONTROLLERS = ["ebb", "bbr", "cubic", "newreno", "bbr-acd", "rtt-gain", "bbr-s", "ebcc"]
TRACES = ["mahimahi/Verizon-LTE-short.down", "mahimahi/TMobile-LTE-short.down"]

# Metric, how to read it, largest relative difference.
GOALS = [
    ("throughput", lambda r: r["throughput_mbps"], 0.05),
    ("mean RTT", lambda r: r["rtt_ms"]["mean"], 0.05),
    ("p95 RTT", lambda r: r["rtt_ms"]["p95"], 0.10),
]
SHARE_OF_CELLS = 0.90


# ns-3 has these as well. Its sender's ECN is off, and so is ours. Its PIE holds the probability at zero
# while a burst is let pass, which RFC 8033 does not: neither engine lets one pass.
QUEUES = {"codel": "codel", "fq_codel": "fq_codel", "pie": "pie:max_burst=0s"}
QUEUE_CONTROLLERS = ["bbr", "cubic", "newreno"]


def managed(args):
    """Scenarios with managed queues."""
    for queue, rate, rtt, n in itertools.product(
            QUEUES, ["10mbit", "20mbit"], ["20ms", "60ms"], ["1", "2", "6"]):
        name = f"{queue}, {rate}, {rtt}, {n} flow" + ("s" if n != "1" else "")
        yield name, ["--rate", rate, "--rtt", rtt, "--queue", QUEUES[queue], "--buffer", "1000p",
                     "--flows", n]


def of_seed(flags, seed):
    """The flags of one run. Behind a managed queue flows start a little apart, each seed by another
    time: which flow's packet is at the head when CoDel drops is up to single packets, and decides
    which flow ends its slow start."""
    if "--queue" not in flags or flags[flags.index("--flows") + 1] == "1":
        return flags
    return flags + ["--stagger", f"{seed * 9700}us"]


def scenarios(args):
    """Name and flags of each scenario; flags mean the same to both engines."""
    if args.queues:
        yield from managed(args)
        return
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
            yield name, ["--trace", path, "--rtt", "40ms", "--buffer", "inf", "--flows", n]
        else:
            print(f"skipped: {path} is not there", file=sys.stderr)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)["results"]


def in_simulator(flags, controllers, args):
    """By controller: means over the seeds, half 95 % intervals, both in the order of GOALS, and the
    share that was sent again."""
    command = [SIMULATOR, "compare", "--json", "--no-timing", "--transport", "tcp", "--jobs", "1"]
    command += ["--duration", args.duration]
    command += [word for cc in controllers for word in ("--cc", cc)]
    if "--queue" in flags:
        command += ["--ecn", "off"]
    runs = {cc: [] for cc in controllers}
    for seed in range(1, args.most_seeds + 1):
        for r in run(command + of_seed(flags, seed) + ["--seed", str(seed)]):
            if r["controller"] in runs:
                runs[r["controller"]].append(r)
    values = {cc: [[value(r) for r in of] for _, value, _ in GOALS] for cc, of in runs.items()}
    return {
        cc: {
            "mean": [statistics.fmean(v) for v in values[cc]],
            "half": [half_interval(v) for v in values[cc]],
            "retransmitted": statistics.fmean(r["retransmitted_share"] for r in runs[cc]),
        }
        for cc in controllers
    }


def in_ns3(flags, seeds, args):
    """By controller: the results of each of its `seeds`, one after the other."""
    results = {cc: [] for cc in seeds}
    for seed in sorted(set().union(*seeds.values())):
        command = [NS3, "--duration", args.duration, "--seed", str(seed)]
        command += of_seed(flags, seed)
        command += [word for cc in seeds if seed in seeds[cc] for word in ("--cc", cc)]
        for r in run(command):
            results[r["controller"]].append({
                "seed": seed, "values": [value(r) for _, value, _ in GOALS],
                "retransmitted": r["retransmitted_share"], "timeouts": r["timeouts"],
            })
    return results


def seeds_needed(ours, args):
    """How many seeds the slow engine needs, by what the fast one shows with `args.most_seeds`: half the
    95 % interval of each mean is to be at most half the difference that is allowed."""
    noise = max(half / mean / (goal / 2)
                for half, mean, (_, _, goal) in zip(ours["half"], ours["mean"], GOALS))
    if noise < 1e-9:
        # It makes no choices of its own: one run says all.
        return 1
    return min(max(math.ceil(args.most_seeds * noise ** 2), args.seeds), args.most_seeds)


def half_interval(values):
    """Half the 95 % interval of the mean of values that spread as a normal distribution does. With few
    values it is too narrow by the ratio of Student's quantile to 1.96."""
    return 1.96 * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def cell(task):
    """Rows of one scenario; `had`: what ns-3 said before, by controller."""
    (name, flags), had, args = task
    ours = in_simulator(flags, list(had), args)
    missing = {cc: range(len(had[cc]) + 1, seeds_needed(ours[cc], args) + 1) for cc in had}
    missing = {cc: seeds for cc, seeds in missing.items() if seeds}
    theirs = in_ns3(flags, missing, args) if missing else {}
    print(f"done: {name}", file=sys.stderr, flush=True)
    return [
        {"scenario": name, "controller": cc, "simulator": ours[cc],
         "ns3": had[cc] + theirs.get(cc, [])}
        for cc in had
    ]


def judge(row):
    """Means and differences of a row, and whether all are within their goal."""
    ours, runs = row["simulator"], row["ns3"]
    row["theirs"] = [statistics.fmean(values) for values in zip(*(r["values"] for r in runs))]
    row["differences"] = [a / b - 1.0 for a, b in zip(ours["mean"], row["theirs"])]
    row["uncertain"] = [
        math.hypot(half / mean, half_interval(values) / statistics.fmean(values))
        for half, mean, values in zip(
            ours["half"], ours["mean"], zip(*(r["values"] for r in runs)))
    ]
    # A managed queue's 95th percentile is that of a few seconds of slow start.
    counted = GOALS[:2] if row["scenario"].startswith(tuple(QUEUES)) else GOALS
    row["within"] = all(abs(d) <= goal for d, (_, _, goal) in zip(row["differences"], counted))


def table(rows):
    lines = [
        "| controller | scenario | seeds | Mbit/s | ns-3 | | RTT ms | ns-3 | | p95 ms | ns-3 | "
        "| resent % | ns-3 |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        shown = [str(len(r["ns3"]))]
        for ours, theirs, difference, uncertain, (_, _, goal) in zip(
                r["simulator"]["mean"], r["theirs"], r["differences"], r["uncertain"], GOALS):
            mark = "" if abs(difference) <= goal else "**"
            text = f"{100 * difference:+.1f}"
            if uncertain >= 0.0005:
                text += f" ± {100 * uncertain:.1f}"
            shown += [f"{ours:.2f}", f"{theirs:.2f}", f"{mark}{text} %{mark}"]
        resent = statistics.fmean(run["retransmitted"] for run in r["ns3"])
        shown += [f"{100 * share:.2f}" for share in (r["simulator"]["retransmitted"], resent)]
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
    parser.add_argument("--queues", action="store_true",
                        help="managed queues instead; throughput and mean RTT count")
    parser.add_argument("--cc", action="append", help="controller [default: those that exist]")
    parser.add_argument("--seeds", type=int, default=3, help="of ns-3 where seeds matter, at least")
    parser.add_argument("--most-seeds", type=int, default=30,
                        help="of the simulator, and of ns-3 where results spread most; at least 2")
    parser.add_argument("--only", default="", help="scenarios whose name holds this")
    parser.add_argument("--duration", default="30s")
    parser.add_argument("--traces", default=os.environ.get(
        "LOWTIDE_TRACES", os.path.join(ROOT, "../shared/traces")))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="runs at a time; 0: report what --json holds")
    parser.add_argument("--json", help="keep runs of ns-3 here; those that it has are not run again")
    parser.add_argument("--report", help="write summary and table to this file")
    args = parser.parse_args()

    listed = subprocess.run([SIMULATOR, "list", "--json"], capture_output=True, text=True)
    known = [c["name"] for c in json.loads(listed.stdout)]
    usual = QUEUE_CONTROLLERS if args.queues else CONTROLLERS
    controllers = args.cc or [c for c in usual if c in known]
    kept = {}
    if args.json and os.path.exists(args.json):
        with open(args.json) as file:
            kept = {(r["scenario"], r["controller"]): r for r in json.load(file)}
    tasks = []
    for name, flags in scenarios(args):
        if args.only not in name:
            continue
        had = {cc: kept.get((name, cc), {"ns3": []})["ns3"] for cc in controllers}
        tasks.append(((name, flags), had, args))
    # The slowest last: ns-3 walks through all segments in flight for each packet.
    if args.jobs == 0:
        tasks = []
    tasks.sort(key=lambda task: "80bdp" in task[0][1] and "50mbit" in task[0][1])
    failed = False
    with ThreadPoolExecutor(max(args.jobs, 1)) as pool:
        for done in as_completed([pool.submit(cell, task) for task in tasks]):
            if done.exception():
                print(f"error: {done.exception()}", file=sys.stderr, flush=True)
                failed = True
                continue
            kept.update({(r["scenario"], r["controller"]): r for r in done.result()})
            if args.json:
                with open(args.json, "w") as out:
                    json.dump(list(kept.values()), out, indent=1)
    order = [name for name, _ in scenarios(args)]
    rows = [r for r in kept.values() if r["controller"] in controllers and r["scenario"] in order]
    if not rows:
        sys.exit("error: no cell to report")
    for row in rows:
        judge(row)
    rows.sort(key=lambda r: (controllers.index(r["controller"]), order.index(r["scenario"])))
    text = summary(rows) + "\n" + table(rows)
    if args.report:
        with open(args.report, "w") as out:
            out.write(text)
    print(text)
    agreeing = sum(r["within"] for r in rows)
    print(f"{agreeing} of {len(rows)} cells within the goal")
    return 1 if failed or agreeing < SHARE_OF_CELLS * len(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
