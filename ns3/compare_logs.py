#!/usr/bin/env python3
"""Two packet logs side by side, in windows of time.

    ns3/compare_logs.py sim.csv ns3.csv [WINDOW_SECONDS] [FLOW]

The first from the example packet_log of lowtide-lab, the second from lowtide-ns3 --log.
"""

import collections
import csv
import sys

EVENTS = ["send", "resend", "drop", "lost", "timeout", "ack"]


def load(path, window, flow):
    """By window: counts of events, sum and number of RTTs, bytes in flight at its end."""
    windows = collections.defaultdict(lambda: [collections.Counter(), 0, 0, 0])
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if flow is not None and row["flow"] != flow:
                continue
            at = windows[int(int(row["time_ns"]) / 1e9 / window)]
            at[0][row["event"]] += 1
            if row["event"] == "ack":
                rtt = int(row["rtt_ns"] or 0)
                at[1] += rtt
                at[2] += rtt > 0
                at[3] = int(row["in_flight"] or 0)
    return windows


def main():
    window = float(sys.argv[3]) if len(sys.argv) > 3 else 0.5
    flow = sys.argv[4] if len(sys.argv) > 4 else None
    logs = [load(path, window, flow) for path in sys.argv[1:3]]
    print("    time  engine " + "".join(f"{e:>9}" for e in EVENTS) + "   rtt ms  in flight kB")
    for n in range(max(max(log, default=0) for log in logs) + 1):
        for engine, log in zip(["sim", "ns-3"], logs):
            counts, total, samples, in_flight = log[n]
            rtt = total / samples / 1e6 if samples else float("nan")
            print(f"{n * window:8.2f}  {engine:6} " + "".join(f"{counts[e]:9}" for e in EVENTS)
                  + f"{rtt:9.1f} {in_flight / 1000:13.0f}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
