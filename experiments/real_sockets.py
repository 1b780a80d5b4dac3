#!/usr/bin/env python3
"""RBBR's experiment on real sockets: QUIC transfers through the emulated link, beside the simulator.

    experiments/real_sockets.py [--seconds N] [--runs N] [--real-time] [--ack-every N] [--cc NAME]... TRACE...

One `lowtide serve` and one `lowtide fetch` over UDP, in two network namespaces joined by
`lowtide link`; then the same link in the simulator, with its own QUIC model and with s2n-quic in
virtual time. Prints a table in Markdown. Needs root, Linux, and target/release/lowtide
(cargo build --release -p lowtide). docs/fidelity-kernel.md says what is compared.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from program import BUILT

CONTROLLERS = ["bbr", "bbr-noagg", "rbbr", "bbr-s", "cubic"]
RTT_MS = 40
# The simulator gives each packet an acknowledgment per two; s2n-quic's default is one per ten.
MAX_ACK_DELAY = "1ms"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="mahimahi trace")
    parser.add_argument("--seconds", type=int, default=60, help="length of a transfer")
    parser.add_argument("--runs", type=int, default=1, help="transfers of each kind")
    parser.add_argument("--seeds", type=int, default=5, help="runs of the simulator")
    parser.add_argument("--cc", action="append", help="controller; repeat it for several")
    parser.add_argument("--buffer", default="200p", help="queue before the link")
    parser.add_argument("--lowtide", default=os.path.join(BUILT, "lowtide"))
    parser.add_argument("--real-time", action="store_true",
                        help="give both programs real-time priority, for a machine that is busy")
    parser.add_argument("--ack-every", type=int, help="packets of an acknowledgment in the simulator")
    parser.add_argument("--transfer", help="program for serve and fetch [default: the same]")
    return parser.parse_args()


def link_flags(args, trace):
    return ["--trace", trace, "--rtt", f"{RTT_MS}ms", "--buffer", args.buffer]


def times(queue_delay):
    """Mean RTT and 95th percentile of the queueing delay, ms."""
    return RTT_MS + queue_delay["mean"], queue_delay["p95"]


def real(args, trace, cc):
    """Throughput in Mbit/s, mean RTT and 95th percentile of the queueing delay in ms, all of IP packets at the link."""
    transfer = args.transfer or args.lowtide
    if args.real_time:
        transfer = f"chrt -f 1 {transfer}"
    with tempfile.TemporaryDirectory() as folder:
        summary = os.path.join(folder, "link.json")
        fetch = f"{transfer} fetch $LOWTIDE_LINK_PEER:4455 --duration {args.seconds}s"
        command = [args.lowtide, "link", *link_flags(args, trace), f"--json={summary}"]
        command += ["--peer", f"{transfer} serve --cc {cc} --one-off"]
        command += ["--", "sh", "-c", f"{fetch} --max-ack-delay {MAX_ACK_DELAY}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"error: {' '.join(command)}\n{done.stderr}")
        with open(summary) as file:
            link = json.load(file)
    for complaint in link["complaints"]:
        print(f"warning: {cc}: {complaint}", file=sys.stderr)
    down = link["down"]
    # The link is there a little before and after the transfer.
    mbps = down["delivered_bytes"] * 8e-6 / args.seconds
    return mbps, *times(down["queue_delay_ms"])


def simulated(args, trace, host):
    """The same for each controller, by the simulator."""
    command = [args.transfer or args.lowtide, "compare", *link_flags(args, trace)]
    for cc in args.cc:
        command += ["--cc", cc]
    command += ["--duration", f"{args.seconds}s", "--host", host, "--json"]
    if args.ack_every:
        command += ["--ack-every", str(args.ack_every)]
    command += ["--seeds", str(args.seeds if host == "model" else 1), "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)}\n{done.stderr}")
    results = json.loads(done.stdout)["results"]
    return {
        r["controller"]: (r["throughput_mbps"], *times(r["queue_delay_ms"]))
        for r in results
    }


def main():
    args = arguments()
    args.cc = args.cc or CONTROLLERS
    with open("/proc/loadavg") as file:
        load = file.read().split()[0]
    print(f"{args.seconds} s, RTT {RTT_MS} ms, buffer {args.buffer}; load average {load}\n")
    sides = ["sockets", "virtual time", "model"]
    columns = [f"{what}: {side}" for what in ["Mbit/s", "mean RTT, ms", "p95 queue, ms"]
               for side in sides]
    print(f"| trace | controller | {' | '.join(columns)} |")
    print("|---|---|" + "--:|" * len(columns))
    deviations = []
    for trace in args.traces:
        model = simulated(args, trace, "model")
        quic = simulated(args, trace, "quic")
        for cc in args.cc:
            runs = [real(args, trace, cc) for _ in range(args.runs)]
            sockets = [statistics.mean(v) for v in zip(*runs)]
            cells = list(zip(sockets, quic[cc], model[cc], strict=True))
            digits = zip(cells, [2, 1, 1], strict=True)
            values = [f"{value:.{d}f}" for row, d in digits for value in row]
            start = f"| {os.path.basename(trace)} | {cc} |"
            print(f"{start} {' | '.join(values)} |", flush=True)
            over = [f"{100 * (m / side - 1):+.1f}" for s, q, m in cells for side in (s, q)]
            deviations.append(f"{start} {' | '.join(over)} |")
    columns = [f"{what}: {side}" for what in ["Mbit/s", "mean RTT", "p95 queue"]
               for side in ["sockets", "virtual time"]]
    print("\nThe model over the other two, per cent:\n")
    print(f"| trace | controller | {' | '.join(columns)} |")
    print("|---|---|" + "--:|" * len(columns))
    print("\n".join(deviations))


if __name__ == "__main__":
    main()
