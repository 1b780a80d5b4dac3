"""Do the searches of `lowtide attack` beat random search? The worst of as many networks, over repetitions."""

import argparse
import json
import os
import random
import statistics

import program

QUESTIONS = [("ebb", "delay", "wired"), ("bbr3", "throughput", "satellite"), ("copa", "memory", "cellular")]
METHODS = ["random", "elites", "cma"]


def interval(values):
    """The 95 % interval of the median, by bootstrap."""
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=400, help="networks of a search")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--lowtide", default=os.path.join(program.BUILT, "lowtide"))
    args = parser.parse_args()
    print(f"Worst of {args.budget} networks, {args.repetitions} repetitions: median (95 % interval)\n")
    print("| controller, goal, world | " + " | ".join(METHODS) + " |")
    print("|---|" + "--:|" * len(METHODS))
    for controller, goal, world in QUESTIONS:
        cells = []
        for method in METHODS:
            worst = []
            for seed in range(1, args.repetitions + 1):
                asked = ["--cc", controller, "--goal", goal, "--world", world, "--method", method]
                asked += ["--seed", str(seed), "--budget", str(args.budget), "--most", "0", "--jobs", str(args.jobs)]
                found = program.printed([args.lowtide, "attack", *asked, "--json"])
                worst.append(json.loads(found)["results"][0]["worst"])
            low, high = interval(worst)
            cells.append(f"{statistics.median(worst):.3f} ({low:.3f}–{high:.3f})")
        print(f"| {controller}, {goal}, {world} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
