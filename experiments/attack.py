"""What `lowtide attack` finds: more than random search does, and failures that others have published, from nothing.

    experiments/attack.py methods    the worst of as many networks by each method, over repetitions
    experiments/attack.py known      known failures, each with a budget and a criterion that were written before the search
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile

import program

QUESTIONS = [("ebb", "delay", "wired"), ("bbr3", "throughput", "satellite"), ("copa", "memory", "cellular")]
METHODS = ["random", "elites", "cma", "both"]


def interval(values):
    """The 95 % interval of the median, by bootstrap."""
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def attacked(args, **asked):
    """What an attack says as JSON."""
    flags = [part for name, value in asked.items() for part in (f"--{name}", str(value))]
    return json.loads(program.printed([args.lowtide, "attack", *flags, "--jobs", str(args.jobs), "--json"]))["results"]


def methods(args):
    budget = args.budget or 400
    print(f"Worst of {budget} networks, {args.repetitions} repetitions: median (95 % interval)\n")
    print("| controller, goal, world | " + " | ".join(METHODS) + " |")
    print("|---|" + "--:|" * len(METHODS))
    for controller, goal, world in QUESTIONS:
        if args.only not in f"{controller}, {goal}, {world}":
            continue
        cells = []
        for method in METHODS:
            worst = []
            for seed in range(1, args.repetitions + 1):
                found = attacked(
                    args, cc=controller, goal=goal, world=world, method=method, seed=seed, budget=budget, most=0)
                worst.append(found[0]["worst"])
                print(controller, goal, world, method, seed, worst[-1], file=sys.stderr)
            low, high = interval(worst)
            cells.append(f"{statistics.median(worst):.3f} ({low:.3f}–{high:.3f})")
        print(f"| {controller}, {goal}, {world} | " + " | ".join(cells) + " |", flush=True)


class Finding:
    """A finding, and what its case says when a line of it is another."""

    def __init__(self, args, told, path):
        self.args, self.told, self.path = args, told, path
        self.trouble = told["trouble"].split(", ")

    def value(self, controller, *changes):
        with open(self.path) as file, tempfile.TemporaryDirectory() as folder:
            text = file.read()
            for old, new in changes:
                assert old in text, old
                text = text.replace(old, new)
            changed = os.path.join(folder, "changed.toml")
            with open(changed, "w") as file:
                file.write(text)
            card = program.scored(self.args, ["--suite", changed, "--cc", controller])
        return card["results"][0]["cases"][0]["value"]


def is_of_shorter_path(finding):
    own = "[measures.own.least]"
    shorter, longer = (finding.value("bbr", (own, f"{own}\ngroup = {n}")) for n in (0, 1))
    return shorter > 0.9 and shorter > longer


def is_of_hystart(finding):
    share = {hystart: 1 - finding.value("ebb", ('"cubic"', f'"cubic:hystart={hystart}"')) for hystart in ("true", "false")}
    return share["true"] < share["false"] / 2


# What is known, the search, and when it counts as found: a finding beyond its goal's limit by the mean of five seeds, of which
# this holds. A trouble that a finding names is needed: without it the value falls by more than a tenth.
KNOWN = [
    ("BBR v1 stalls for good (CC-Fuzz, HotNets 2022)",
     {"cc": "bbr", "goal": "memory", "world": "anything", "reference": "cubic"},
     "10 s after the trouble has ended it carries less than a tenth of what CUBIC does",
     lambda finding: finding.told["score"] > 0.9),
    ("BBR v1 starves the shorter round trip (Hock et al., ICNP 2017)", {"cc": "bbr", "goal": "rtt", "world": "wired"},
     "the shorter of two round trips has less than a tenth of its fair share for 10 s",
     is_of_shorter_path),
    ("Copa takes a longer path for a queue", {"cc": "copa", "goal": "throughput,stall", "world": "cellular", "reference": "cubic"},
     "nothing but the base delay moves", lambda finding: finding.trouble == ["delay"]),
    ("Ten Copa flows in a short queue", {"cc": "copa", "goal": "crowd", "world": "wired", "reference": "cubic"},
     "a queue below half a BDP is the only trouble",
     lambda finding: finding.trouble == ["none"] and float(finding.told["link"]["buffer"].removesuffix("bdp")) < 0.5),
    ("BBRv3 flows starve each other under jitter (Kairos, 2026)", {"cc": "bbr3", "goal": "starvation", "world": "wifi"},
     "jitter is needed", lambda finding: "jitter" in finding.trouble),
    ("quinn's BBR: a window without bound", {"cc": "quinn/bbr", "goal": "loss", "world": "cellular", "reference": "quinn/cubic"},
     "a tenth of all packets lost beyond quinn's CUBIC", lambda finding: True),
    ("noq's BBRv3 stays in Startup while the application limits it",
     {"cc": "noq/bbr3", "goal": "loss,delay", "world": "cellular", "reference": "bbr3"},
     "pauses of the application are needed, and Lowtide's bbr3 in noq does not fail",
     lambda finding: "pauses" in finding.trouble),
    ("ebb gives way to CUBIC with HyStart", {"cc": "ebb", "goal": "share:cubic", "world": "wired"},
     "below a twentieth, and less than half of what it has beside CUBIC without HyStart",
     is_of_hystart),
]


def known(args):
    budget = args.budget or 1000
    print(f"{budget} networks for each goal, seed {args.seed}\n\n| known | search | found when | found |\n|---|---|---|---|")
    for name, asked, criterion, holds in KNOWN:
        if args.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            results = attacked(args, **asked, budget=budget, seed=args.seed, most=10, method=args.method, keep=folder)
            told = [finding for result in results for finding in result["findings"]]
            findings = [Finding(args, one, os.path.join(folder, one["id"] + ".toml")) for one in told]
            found = [finding for finding in findings if holds(finding)]
            worst = ", ".join(f"{result['worst']:.2f}" for result in results)
            said = f"no (worst {worst}; {len(findings)} others)"
            if found:
                with open(found[0].path) as file:
                    flags = next(line for line in file if "found by search" in line).split("compare ")[1].strip(' "\n')
                said = f"{found[0].told['score']:.2f}: `{flags}`"
        search = " ".join(f"--{flag} {value}" for flag, value in asked.items())
        print(f"| {name} | `{search}` | {criterion} | {said} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("which", choices=["methods", "known"])
    parser.add_argument("--budget", type=int, help="networks of a search")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--method", default="both")
    parser.add_argument("--only", default="", help="questions and known failures with this in their names")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--lowtide", default=os.path.join(program.BUILT, "lowtide"))
    args = parser.parse_args()
    {"methods": methods, "known": known}[args.which](args)


if __name__ == "__main__":
    main()
