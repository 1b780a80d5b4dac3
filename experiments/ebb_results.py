#!/usr/bin/env python3
"""ebb on recorded links: its frontier on the first families, on the others, and what its constants are worth.

    experiments/ebb_results.py [--cache DIR] [--jobs N] TRACES frontier | families | ablation

TRACES holds a folder for each family of traces. Needs `cargo build --release -p lowtide` and the same with
`--example ebb_tuning`. With --cache what was measured is kept, and not measured again.
"""

import json
import math
import os
import subprocess
import tempfile

import program
from program import BUILT, FIRST, ROOT, folder_of
from tables import digits, geomean, table

OTHERS = ["5g", "wifi", "starlink"]
EBB = "ebb:idle=0.01/0.02/0.03/0.05/0.08/0.12"
# ebb's default among them.
DEFAULT = 3
CAUSAL = "causal:margin=0/0.15/0.3/0.6/1/1.5"
# Every controller of `lowtide list`, the parameters that trade throughput for delay swept.
CONTROLLERS = [
    EBB,
    CAUSAL,
    "bbr",
    "bbr:aggregation=false,policer=false",
    "bbr-noagg",
    "rbbr:alpha=0.5/0.6/0.7/0.8/0.9/0.95",
    "rbbr:from=timestamps,alpha=0.5/0.6/0.7/0.8/0.9/0.95",
    "rbbr:filter=ewma,alpha=0.05/0.125/0.25/0.5",
    "rtt-gain:alpha=0.5/0.7/0.8/0.9/1",
    "bbr-acd",
    "bbr-s:queue=1.05/1.1/1.25/1.5/2/4",
    "ebcc:gamma=5/10/30/100/300",
    "bbrx:beta=0.05/0.1/0.2/0.4/0.8",
    "bbrx:k=1.1/1.25/1.5/2/3",
    "bbr3:offload=1/3",
    "copa:delta=0.02/0.05/0.1/0.2/0.5/1",
    "copa:mode=default,delta=0.02/0.05/0.1/0.2/0.5/1",
    "cubic:hystart=false/true",
    "newreno",
    "vegas:alpha=2,beta=4",
    "vegas:alpha=5,beta=8",
    "vegas:alpha=10,beta=15",
    "vegas:alpha=20,beta=30",
    "vegas:alpha=40,beta=60",
    "vegas:alpha=80,beta=120",
    "compound:gamma=30/100/300",
    "window:packets=5/10/14/20/28/40/56/80/112/160/224/320/448/640/896/1280/2560",
    "oracle",
]
BOUNDS = ["oracle", "causal"]
RATIOS = [0.95, 0.97, 1.0]
# One trace lasts 9 s, which Startup and what follows it decide.
SHORT = "wigig/walkandturn"
IDLES = "0.01/0.02/0.05/0.1/0.2"
DEFAULT_OF_IDLES = 2
OFF = [
    "batch_memory=0", "jitter=0", "gain=0", "root=0", "lively=0.000001", "standing=50", "alone=50",
    "kernel=1", "rise=1", "growth=50", "calm_pacing_gain=2",
]


def arguments():
    parser = program.arguments(__doc__)
    parser.add_argument("which", choices=["frontier", "families", "ablation"])
    parser.add_argument("--cache", help="folder for what the commands print")
    parser.add_argument("--tuning", default=os.path.join(BUILT, "examples/ebb_tuning"))
    args = parser.parse_args()
    args.cache = args.cache or tempfile.mkdtemp()
    args.traces = os.path.abspath(args.traces)
    return args


def measure(args, name, command):
    """What the command prints as JSON."""
    path = os.path.join(args.cache, f"{name}.json")
    if not os.path.exists(path):
        command = [*command, "--jobs", str(args.jobs), "--no-timing", "--json"]
        with open(path, "wb") as file:
            file.write(program.printed(command))
    with open(path) as file:
        return json.load(file)


def frontier(args, families, rtt, buffer, controllers, program, name):
    command = [program, "frontier", "--traces", folder_of(families, args.traces, args.cache), "--rtt", f"{rtt}ms"]
    command += ["--buffer", buffer]
    for cc in controllers:
        command += ["--cc", cc]
    return measure(args, name, command)


def point(row, without=()):
    """Throughput and delay of a row over its base's, without some of the traces."""
    kept = [t for t in row["on_traces"] if t["trace"] not in without]
    if any(t["queue_p95_ratio"] is None for t in kept):
        return None
    return (geomean(t["throughput_ratio"] for t in kept), geomean(t["queue_p95_ratio"] for t in kept))


def on_line(points, ratio):
    """The delay where the line through the points reaches a throughput, as `lowtide frontier` has it."""
    points = [p for p in points if p]
    best = sorted(p for p in points
                  if not any(q != p and q[0] >= p[0] and q[1] <= p[1] for q in points))
    for (t0, d0), (t1, d1) in zip(best, best[1:]):
        if t0 <= ratio <= t1:
            share = (ratio - t0) / (t1 - t0)
            return math.exp(math.log(d0) + share * (math.log(d1) - math.log(d0)))
    return None


def ratio(value):
    return digits(value, 3)


def rows_of(result):
    return {row["controller"]: row for row in result["rows"]}


def default_name(result):
    """ebb at its default, as the result calls it."""
    return next(c for c in result["curves"] if c["controller"] == EBB)["points"][DEFAULT]


def dominators(result, row, place):
    """Who, bounds and ebb's other points apart, has more throughput and less delay, each by more than 1 %."""
    mine = row["on_traces"][place]
    found = []
    for other in result["rows"]:
        name = other["controller"]
        theirs = other["on_traces"][place]
        if name.split(":")[0] in [*BOUNDS, "ebb"] or theirs["queue_delay_ms"]["p95"] is None:
            continue
        throughput = theirs["throughput_mbps"] / mine["throughput_mbps"]
        delay = theirs["queue_delay_ms"]["p95"] / mine["queue_delay_ms"]["p95"]
        if throughput > 1.01 and delay < 1 / 1.01:
            found.append((delay / throughput, name, throughput, delay))
    return sorted(found)


def setting(result, title):
    """A section: the lines, ebb's points, ebb on each trace, and who dominates it."""
    rows = rows_of(result)
    text = f"## {title}\n\n"
    lines = []
    for curve in result["curves"]:
        at = [a["queue_p95_ratio"] for a in curve["at"]]
        if any(a is not None for a in at):
            lines.append([curve["controller"], *map(ratio, at)])
    text += table(["delay on the line", *(f"at {r}" for r in RATIOS)], lines)
    points = []
    for name, row in rows.items():
        if name.split(":")[0] in ["ebb", *BOUNDS] or ":" not in name:
            points.append([
                name, ratio(row["throughput_ratio"]), ratio(row["throughput_ratio_min"]),
                ratio(row["queue_p95_ratio"]), ratio(row["queue_p95_ratio_max"]),
                str(len(row["dominated_on"])),
            ])
    head = ["controller", "throughput", "worst", "delay", "worst", "dominated"]
    text += table(head, points)
    ebb = rows[default_name(result)]
    traces = []
    for place, trace in enumerate(result["traces"]):
        mine = ebb["on_traces"][place]
        found = dominators(result, ebb, place)
        who = "-"
        if found:
            _, name, throughput, delay = found[0]
            others = f"; {len(found) - 1} more" if len(found) > 1 else ""
            who = f"{name}: {throughput:.3f} / {delay:.3f}{others}"
        traces.append([
            trace, digits(mine["throughput_mbps"], 2), digits(mine["queue_delay_ms"]["p95"], 1),
            ratio(mine["throughput_ratio"]), ratio(mine["queue_p95_ratio"]), who,
        ])
    head = [f"`{ebb['controller']}` on", "Mbit/s", "p95 queue, ms", "throughput", "delay", "dominated by"]
    return text + table(head, traces)


def command_shown(buffer="BUFFER", families="DIR"):
    lines = [f"lowtide frontier --traces {families} --rtt RTT --buffer {buffer} \\"]
    lines += [f"    --cc {cc} \\" for cc in CONTROLLERS[:-1]]
    return "\n".join(lines + [f"    --cc {CONTROLLERS[-1]}"])


HOW = """`throughput` and `delay` (95th percentile of the queueing delay) are geometric means over the
traces, relative to bbr's on the same trace; `worst` is the trace where the ratio is worst, `dominated`
the number of traces on which another controller of the run had more throughput and less delay, each by
more than 1 %. [How the lines are drawn](../frontier.md). A line that ends below a throughput, or begins
above it, has `-` there; controllers whose lines reach none of them are left out of the first table.
`dominated by`: the one that does so most, its throughput and delay over ebb's; bounds and ebb's other
points do not count. One flow, one seed.
"""



def first_traces(args):
    text = f"```sh\n{command_shown()}\n```\n\n`DIR` holds the folders `mahimahi`, `nyc` and `wigig`.\n\n{HOW}\n"
    sections = []
    for rtt, buffer in [(40, "inf"), (20, "inf"), (100, "inf"), (40, "2bdp")]:
        result = frontier(args, FIRST, rtt, buffer, CONTROLLERS, args.lowtide, f"first-{rtt}-{buffer}")
        section = setting(result, f"RTT {rtt} ms, buffer {buffer}")
        lines = []
        for curve in result["curves"]:
            if curve["controller"] in [EBB, CAUSAL]:
                points = [point(rows_of(result)[p], [SHORT]) for p in curve["points"]]
                lines.append([curve["controller"], *(ratio(on_line(points, r)) for r in RATIOS)])
        name = default_name(result)
        eleven = point(rows_of(result)[name], [SHORT])
        section += f"Without `{SHORT}`, which lasts 9 s, `{name}` has {eleven[0]:.3f} of the throughput "
        section += f"at {eleven[1]:.3f} of the delay, and\n\n"
        section += table(["delay on the line", *(f"at {r}" for r in RATIOS)], lines)
        sections.append(section)
    seeds = measure(args, "first-seeds", [
        args.lowtide, "frontier", "--traces", folder_of(FIRST, args.traces, args.cache), "--rtt", "40ms", "--buffer", "inf",
        "--cc", "ebb,bbr-noagg,causal:margin=0.6", "--seeds", "10"])
    rows = []
    for row in seeds["rows"]:
        ci = row["ci95"] or {}
        cells = [row["controller"]]
        for key in ["throughput_ratio", "queue_p95_ratio"]:
            half = ci.get(key)
            cells.append(ratio(row[key]) + (f" ± {half:.3f}" if half is not None else ""))
        rows.append(cells)
    text += "".join(sections)
    text += "## Ten seeds\n\n```sh\nlowtide frontier --traces DIR --rtt 40ms --buffer inf "
    text += "--cc ebb,bbr-noagg,causal:margin=0.6 --seeds 10\n```\n\n"
    text += table(["controller", "throughput", "delay"], rows)
    text += "## By the peer's acknowledgments\n\n```sh\n"
    text += "lowtide compare --traces DIR --rtt 40ms --buffer inf --cc ebb --cc bbr [--ack-every N | --timestamps]\n```\n\n"
    text += "`frontier` has one acknowledgment for two packets. ebb with others, over bbr with the same:\n\n"
    shown = []
    for flags in [[], *(["--ack-every", n] for n in ["1", "2", "5", "10"]), ["--timestamps"],
                  ["--timestamps", "--ack-every", "5"], ["--timestamps", "--ack-every", "10"]]:
        results = measure(args, "first-acks" + "".join(flags), [
            args.lowtide, "compare", "--traces", folder_of(FIRST, args.traces, args.cache), "--rtt", "40ms",
            "--buffer", "inf", "--cc", "ebb", "--cc", "bbr", *flags])
        pairs = [[next(r for r in link["results"] if r["controller"] == name)
                  for name in ["ebb", "bbr"]] for link in results]
        ratios = [e["throughput_mbps"] / b["throughput_mbps"] for e, b in pairs]
        delays = [e["queue_delay_ms"]["p95"] / b["queue_delay_ms"]["p95"] for e, b in pairs]
        shown.append([" ".join(flags) or "default", ratio(geomean(ratios)), ratio(min(ratios)),
                      ratio(geomean(delays)), ratio(max(delays))])
    return text + table(["acknowledgments", "throughput", "worst", "delay", "worst"], shown)


def families(args):
    text = f"```sh\n{command_shown(families='DIR/FAMILY')}\n```\n\n{HOW}\n"
    for family in OTHERS:
        for rtt, buffer in [(40, "inf"), (20, "inf"), (100, "inf"), (40, "2bdp")]:
            name = f"{family}-{rtt}-{buffer}"
            # The largest links take minutes: one setting of them.
            if family == "5g" and (rtt, buffer) != (40, "inf"):
                continue
            result = frontier(args, [family], rtt, buffer, CONTROLLERS, args.lowtide, name)
            text += setting(result, f"{family}, RTT {rtt} ms, buffer {buffer}")
    return text


def variants(args):
    """Names and values of ebb's constants, each at half and twice its default, or off."""
    listed = subprocess.run([args.tuning, "list", "--json"], stdout=subprocess.PIPE, check=True)
    entry = next(e for e in json.loads(listed.stdout) if e["name"] == "ebb-tuning")
    found = [""]
    for parameter in entry["parameters"]:
        name, default = parameter["name"], float(parameter["default"])
        if name != "idle":
            values = [f"{name}={default * factor:g}" for factor in [0.5, 2.0]]
            found += values + [off for off in OFF if off.startswith(f"{name}=") and off not in values]
    return found


def metric_of(case):
    """What is looked at in a case of experiments/ebb-ablation.toml: its name, and that in JSON."""
    if case.startswith("10 flows"):
        return "Jain", "jain_overall"
    if case.startswith("4 flows"):
        return "lost", "loss_share"
    return "used", "utilisation"


def ablation(args):
    tried = variants(args)
    lines = [f"ebb-tuning:{v}{',' if v else ''}idle={IDLES}" for v in tried]
    result = frontier(args, FIRST, 40, "inf", lines, args.tuning, "ablation")
    scenario = os.path.join(ROOT, "experiments/ebb-ablation.toml")
    command = [args.tuning, "run", scenario]
    for variant in tried:
        name = f"ebb-tuning:{variant}" if variant else "ebb-tuning"
        command += ["--vary", f"flows.controller={name}"]
    others = {}
    for cell in measure(args, "ablation-others", command)["results"]:
        variant = cell["labels"]["flows.controller"].removeprefix("ebb-tuning").removeprefix(":")
        value = cell[metric_of(cell["labels"]["case"])[1]]
        others.setdefault(cell["labels"]["case"], {})[variant] = value
    rows = rows_of(result)
    curves = {c["controller"]: c for c in result["curves"]}
    shown = []
    for variant, line in zip(tried, lines):
        of_line = [rows[p] for p in curves[line]["points"]]
        default = of_line[DEFAULT_OF_IDLES]
        cells = [f"`{variant}`" if variant else "ebb", ratio(default["throughput_ratio"]),
                 ratio(default["throughput_ratio_min"]), ratio(default["queue_p95_ratio"])]
        for without, ratios in [((), [0.93, 0.95, 0.97, 1.0]), ([SHORT], [0.95, 0.97, 1.0])]:
            points = [point(r, without) for r in of_line]
            cells += [ratio(on_line(points, r)) for r in ratios]
        shown.append(cells + [ratio(others[case].get(variant)) for case in others])
    head = ["constant", "throughput", "worst", "delay", "at 0.93", "at 0.95", "at 0.97", "at 1",
            "11: at 0.95", "at 0.97", "at 1"]
    head += [f"{metric_of(case)[0]}, {case}" for case in others]
    text = "```sh\n"
    text += "cargo run --release -p lowtide --example ebb_tuning -- frontier --traces DIR --rtt 40ms --buffer inf \\\n"
    text += f"    --cc ebb-tuning:CONSTANT=VALUE,idle={IDLES} …\n"
    text += "cargo run --release -p lowtide --example ebb_tuning -- run experiments/ebb-ablation.toml \\\n"
    text += "    --vary flows.controller=ebb-tuning:CONSTANT=VALUE …\n```\n\n"
    text += "Each constant of `lowtide_cc::controllers::ebb::Tuning` at half and twice its default, and terms switched off, on the\n"
    text += "folders `mahimahi`, `nyc` and `wigig`. `throughput`, its `worst` trace and `delay` (p95 of the queueing delay) are those\n"
    text += "with `idle=0.05`, relative to bbr's (geometric means); `at`: the delay where the line over `idle` reaches that\n"
    text += "throughput, `-` where it does not reach it or all of it lies above. "
    text += f"`11:` the same without `{SHORT}`, whose 9 s\nStartup and what follows it decide. "
    text += "Jain's index and the shares of the link used and of packets lost are those of\n`experiments/ebb-ablation.toml` (one seed).\n\n"
    return text + table(head, shown) + preference(args)


def preference(args):
    """A section: what larger values of `idle` do, with and without the rounds' mean RTTs."""
    lines = [f"ebb-tuning:{v}idle=0.005/0.02/0.05/0.1/0.2" for v in ["", "jitter=0,"]]
    result = frontier(args, FIRST, 40, "inf", lines, args.tuning, "ablation-idle")
    cc = " ".join(f"--cc {line}" for line in lines)
    shown = [[f"`{name}`", *map(ratio, point(row)), *map(ratio, point(row, [SHORT]))]
             for name, row in rows_of(result).items() if name.startswith("ebb")]
    text = "## The preference\n\n```sh\ncargo run --release -p lowtide --example ebb_tuning -- frontier "
    text += f"--traces DIR --rtt 40ms --buffer inf \\\n    {cc}\n```\n\n"
    text += "Where more may stay unused the margin is nearer to 0, and the link counts as calm: the rounds' mean RTTs count.\n\n"
    return text + table(["ebb", "throughput", "delay", "11: throughput", "delay"], shown)


def main():
    args = arguments()
    os.makedirs(args.cache, exist_ok=True)
    tasks = {"frontier": first_traces, "families": families, "ablation": ablation}
    print(tasks[args.which](args))


if __name__ == "__main__":
    main()
