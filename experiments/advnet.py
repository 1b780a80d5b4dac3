"""Networks that AdvNet found for the kernel's BBR and Vegas, scored by its definition for controllers of ours.

FOLDER is a checkout of AdvNet (Ahmed et al., CoNEXT 2026). A line of its `patterns/bbr_2` or `patterns/vegas_2` is
`[b1, b2, l1, l2, d1, d2, q] score`: two rates in 500 kbit/s, two one-way delays in ms, two durations in 50 ms, a
buffer in 100 packets, and the share of the offered bytes that the kernel's controller left unused in that time.
"""

import argparse
import ast
import os
import statistics
import sys

import program

KERNELS = ["bbr", "vegas"]


def networks(path):
    """Each network's seven numbers and its printed score."""
    with open(path) as lines:
        for number, line in enumerate(lines, 1):
            numbers, _, score = line.rpartition("] ")
            try:
                found = [int(n) for n in ast.literal_eval(numbers + "]")]
                score = float(score)
            except (SyntaxError, TypeError, ValueError):
                found = []
            if len(found) != 7:
                sys.exit(f"error: {path}:{number}: not seven numbers in brackets and a score")
            yield found, score


def setting(network):
    """The network as flags: its second half lasts to the end."""
    r1, r2, l1, l2, d1, d2, queue = network
    change = 50 * d1
    return [
        *("--schedule", f"0ms:{500 * r1}kbit,{change}ms:{500 * r2}kbit"),
        *("--rtt", f"{2 * l1}ms", "--rtt-steps", f"{change}ms:{2 * l2}ms"),
        *("--buffer", f"{100 * queue}p", "--transport", "tcp", "--measure-from", "0s"),
        *("--duration", f"{change + 50 * d2}ms"),
    ]


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    placed = [0] * len(values)
    for rank, at in enumerate(order):
        placed[at] = rank
    return placed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", metavar="FOLDER", help="a checkout of AdvNet")
    parser.add_argument("--cc", default="bbr,vegas,cubic,newreno,bbr3,copa,ebb", help="controllers, by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--lowtide", default=os.path.join(program.BUILT, "lowtide"))
    args = parser.parse_args()
    flags = [flag for name in args.cc.split(",") for flag in ("--cc", name)]
    for kernel in KERNELS:
        found = list(networks(os.path.join(args.folder, "patterns", f"{kernel}_2")))
        scores = {name: [] for name in args.cc.split(",")}
        for network, _ in found:
            for result in program.measured(args, ["compare", *flags, *setting(network)])["results"]:
                if result["controller"] in scores:
                    scores[result["controller"]].append(1 - result["utilisation"])
        printed = [score for _, score in found]
        print(f"\n{len(found)} networks found for the kernel's {kernel}: share unused\n")
        print("| | mean | median | worst | above .5 | rank correlation with the printed |")
        print("|---|--:|--:|--:|--:|--:|")
        for name, values in {f"kernel's {kernel}, printed": printed, **scores}.items():
            alike = statistics.correlation(ranks(values), ranks(printed))
            above = sum(value > 0.5 for value in values) / len(values)
            figures = [statistics.mean(values), statistics.median(values), max(values), above, alike]
            print(f"| {name} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |")


if __name__ == "__main__":
    main()
