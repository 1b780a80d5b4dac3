#!/usr/bin/env python3
"""Makes the tables and figures of the book into target/results, as Markdown, SVG and JSON.

    experiments/results.py [--traces DIR] [--jobs N] [--list] [PAGE]...

Without a PAGE all are made, in about an hour of two processors. A PAGE is the path of a document below docs/
without its ending; `.ci/book` puts below each document what was made for it. Needs a release build:

    cargo build --release -p lowtide --bin lowtide --example ebb_tuning
    cargo build --release -p lowtide-record --examples

and for `fidelity` that of ns3/README.md. Nothing here depends on the machine but its speed.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from program import BUILT, FIRST, ROOT, folder_of

OUT = os.path.join(ROOT, "target/results")
SUITES = "bbr-draft cellular app-limited users c4 rfc8867 nsperf interop aqm link".split()
COMPARED = "ebb,bbr,bbr-noagg,bbr3,bbr-acd,bbr-s,bbrx,ebcc,rbbr,rtt-gain,leocc,c4,copa,sprout,prague,cubic,newreno,compound,vegas"
# What makes each page. A command that names {out} writes that file; of the others it is what they print.
PAGES = {
    "results/real-links": "lowtide compare --traces {first} --rtt 40ms --buffer inf --markdown --jobs {jobs}",
    "results/real-links-2bdp": "lowtide compare --traces {first} --rtt 40ms --buffer 2bdp --markdown --jobs {jobs}",
    "results/generated-4g": "lowtide compare --scenario 4g --seeds 10 --markdown --jobs {jobs}",
    "results/ebb-frontier": "experiments/ebb_results.py {traces} frontier --jobs {jobs}",
    "results/ebb-families": "experiments/ebb_results.py {traces} families --jobs {jobs}",
    "results/ebb-ablation": "experiments/ebb_results.py {traces} ablation --jobs {jobs}",
    "results/ebb-goals": "lowtide reproduce all --experiments experiments/ebb --traces {traces} --document {out} --jobs {jobs}",
    "results/queues": "experiments/queues.py {traces} --jobs {jobs}",
    "results/moving-links": "experiments/moving_links.py {traces} --jobs {jobs}",
    "results/recorded-links": "experiments/recorded_links.py {traces} --jobs {jobs}",
    "stock-stacks": "experiments/stacks.py {traces} own --jobs {jobs}",
    "fidelity-quic": "experiments/stacks.py {traces} model --jobs {jobs}",
    "scorecards": f"lowtide score {' '.join(f'--suite {suite}' for suite in SUITES)} --cc {COMPARED} --traces {{traces}} --document {{out}} --jobs {{jobs}}",
    "scorecards-rfc9743": f"lowtide score --suite rfc9743 --cc {COMPARED} --traces {{traces}} --document {{out}} --jobs {{jobs}}",
    "reproduction": "lowtide reproduce all --traces {traces} --document {out} --jobs {jobs}",
    "fidelity": "ns3/agreement.py --traces {traces} --jobs {jobs} --report {out}",
}


def tables(markdown):
    """The tables of a page, each with the heading that it stands under."""
    found, heading, rows = [], "", []
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
            continue
        if len(rows) > 2:
            found.append({"heading": heading, "columns": rows[0], "rows": rows[2:]})
        rows = []
        if line.startswith("#"):
            heading = line.lstrip("# ")
    return found


def make(page, args):
    """Makes a page; whether it came about."""
    out = os.path.join(OUT, f"{page}.md")
    os.makedirs(os.path.dirname(out), exist_ok=True)
    if os.path.exists(out):
        os.remove(out)
    named = {"traces": args.traces, "first": args.first, "out": out, "jobs": str(args.jobs)}
    command = shlex.split(PAGES[page].format(**{name: shlex.quote(value) for name, value in named.items()}))
    print(f"{page}: {shlex.join(command)}", file=sys.stderr, flush=True)
    shown = PAGES[page].split(" --jobs")[0].format(traces="DIR", first="DIR", out="FILE")
    if command[0] == "lowtide":
        command[0] = os.path.join(BUILT, "lowtide")
    built = {**os.environ, "LOWTIDE_BIN": os.path.join(BUILT, "lowtide")}
    done = subprocess.run(command, cwd=ROOT, env=built, stdout=subprocess.PIPE, text=True)
    if "{out}" not in PAGES[page] and done.returncode == 0:
        with open(out, "w") as file:
            file.write(done.stdout.rstrip() + "\n")
    if not os.path.exists(out):
        print(f"error: {page}: its command ended with {done.returncode} and left no page", file=sys.stderr)
        return False
    with open(out) as file:
        text = file.read()
    with open(os.path.join(OUT, f"{page}.json"), "w") as file:
        json.dump({"page": page, "command": shown, "version": args.version, "tables": tables(text)}, file, indent=1)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    parser.add_argument("--traces", default=os.environ.get("LOWTIDE_TRACES", os.path.join(ROOT, "../shared/traces")))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="simulations at a time")
    parser.add_argument("--list", action="store_true", help="name the pages and their commands")
    args = parser.parse_args()
    if args.list:
        for page, command in PAGES.items():
            print(f"{page}\n    {command}")
        return 0
    unknown = [page for page in args.pages if page not in PAGES]
    if unknown:
        parser.error(f"there is no page '{unknown[0]}'; known are {', '.join(PAGES)}")
    args.traces = os.path.abspath(args.traces)
    if not os.path.isdir(args.traces):
        parser.error(f"there is no folder '{args.traces}'; --traces names the folder of traces")
    version = subprocess.run([os.path.join(BUILT, "lowtide"), "--version"], stdout=subprocess.PIPE, text=True, check=True)
    args.version = version.stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        args.first = folder_of(FIRST, args.traces, folder)
        made = [make(page, args) for page in args.pages or PAGES]
    return 0 if all(made) else 1


if __name__ == "__main__":
    sys.exit(main())
