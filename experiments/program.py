"""The programs of a release build, and what they print."""

import argparse
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release")

# The families of traces that were there first: LTE and WiGig.
FIRST = ["mahimahi", "nyc", "wigig"]


def arguments(about):
    """The flags that each experiment has: traces, jobs, the program."""
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("traces", metavar="TRACES", help="folder that holds a folder for each family of traces")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="simulations at a time")
    parser.add_argument("--lowtide", default=os.path.join(BUILT, "lowtide"))
    return parser


def printed(command, **more):
    """What a command prints; its failure ends the experiment."""
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, **more).stdout


def measured(args, command, **more):
    """What `lowtide` with these arguments says as JSON."""
    command = [args.lowtide, *command, "--json", "--no-timing", "--jobs", str(args.jobs)]
    return json.loads(printed(command, **more))


def scored(args, command):
    """What `lowtide score` with these arguments says as JSON; cases that fail are no error."""
    command = [args.lowtide, "score", *command, "--json", "--jobs", str(args.jobs)]
    done = subprocess.run(command, stdout=subprocess.PIPE)
    if done.returncode not in (0, 1):
        raise subprocess.CalledProcessError(done.returncode, command)
    return json.loads(done.stdout)


def folder_of(families, traces, into):
    """A folder in the folder `into` that holds these families of traces and no others."""
    path = os.path.join(into, "-".join(families))
    os.makedirs(path, exist_ok=True)
    for family in families:
        link = os.path.join(path, family)
        if not os.path.lexists(link):
            os.symlink(os.path.join(os.path.abspath(traces), family), link)
    return path


def controllers(args):
    """The controllers that are anybody's: neither bounds nor constant windows, nor those of one stack or router."""
    listed = json.loads(printed([args.lowtide, "list", "--json"]))
    names = [entry["name"] for entry in listed if "/" not in entry["name"]]
    return [name for name in names if name not in ("window", "oracle", "causal", "abc")]
