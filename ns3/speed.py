#!/usr/bin/env python3
"""Packets per wall second and peak memory of both engines on the same scenarios, as Markdown.

    ns3/speed.py [--cc NAME] [--duration 60s]

Run it on an idle machine. The simulator's run holds the oracle and eleven constant windows, too;
packets of all runs count.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time

from agreement import NS3, SIMULATOR

SCENARIOS = [
    ("10 Mbit/s, 20 ms, 1 flow", ["--rate", "10mbit", "--rtt", "20ms"]),
    ("100 Mbit/s, 20 ms, 1 flow", ["--rate", "100mbit", "--rtt", "20ms"]),
    ("50 Mbit/s, 60 ms, 6 flows", ["--rate", "50mbit", "--rtt", "60ms", "--flows", "6"]),
]


def measure(command):
    """Packets, wall seconds and peak memory in MB of a command that prints JSON."""
    with tempfile.TemporaryFile("w+") as out:
        started = time.monotonic()
        child = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - started
        if status != 0:
            raise RuntimeError(f"{' '.join(command)}: status {status}")
        out.seek(0)
        return json.load(out)["simulated_packets"], wall, usage.ru_maxrss / 1024.0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cc", default="bbr")
    parser.add_argument("--duration", default="60s")
    args = parser.parse_args()
    print("| scenario | engine | packets | wall s | packets per wall second | peak MB |")
    print("|---|---|---|---|---|---|")
    for name, flags in SCENARIOS:
        flags = flags + ["--cc", args.cc, "--duration", args.duration]
        simulator = [SIMULATOR, "compare", "--json", "--transport", "tcp", "--jobs", "1"] + flags
        for engine, command in [("Lowtide", simulator), ("ns-3.37", [NS3] + flags)]:
            packets, wall, memory = measure(command)
            print(f"| {name} | {engine} | {packets} | {wall:.2f} | {packets / wall:,.0f} | "
                  f"{memory:.1f} |", flush=True)


if __name__ == "__main__":
    main()
