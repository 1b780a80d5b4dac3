#!/usr/bin/env python3
"""What `lowtide record` says of links, held against the links.

    experiments/recorded_links.py [--real] TRACES

TRACES holds the folders `mahimahi`, `nyc`, `5g`, `wifi` and `starlink`. Needs `cargo build --release -p lowtide` and
`cargo build --release -p lowtide-record --examples`. The first two tables are of virtual time and the same on every machine;
`--real` adds the one of real packets through `lowtide link`, which needs root or user namespaces, and takes 5 minutes.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

from program import BUILT, arguments, measured, printed
from tables import table

CONTROLLERS = ["ebb", "rbbr", "bbr", "bbr3", "copa", "cubic", "vegas"]
OPPORTUNITY = 1504
# Controllers are compared on links of at most so many Mbit/s on average.
SLOW = 30
# Runs of a controller on a link, and how much their round trips differ.
RUNS = 5
RTT_STEP_MS = 0.1
# Of recordings of real packets: what is recorded, and other flags of the link.
REAL = [
    ("LTE AT&T, driving", "mahimahi/ATT-LTE-driving-2016.down", []),
    ("LTE T-Mobile", "mahimahi/TMobile-LTE-short.down", []),
    ("LTE Verizon", "mahimahi/Verizon-LTE-short.down", []),
    ("LTE New York, taxi", "nyc/trace-2768760-taxi3", []),
    ("LTE New York, Times Square", "nyc/trace-3201711-timessquare", []),
    ("5G", "5g/xu5g_0.csv", []),
    ("5G mmWave uplink, walking", "5g/mmwave-uplink-walking-1.csv", []),
    ("WiFi, office", "wifi/office-wifi_0.csv", []),
    ("Starlink", "starlink/leocc-a.down", []),
    ("LTE T-Mobile, 1 % loss", "mahimahi/TMobile-LTE-short.down", ["--loss", "1%"]),
    ("LTE T-Mobile, jitter of 10 ms", "mahimahi/TMobile-LTE-short.down", ["--jitter", "10ms"]),
    ("constant, 100 Mbit/s", "100mbit", []),
    ("constant, 500 Mbit/s", "500mbit", []),
]
VIRTUAL = """## In virtual time

The recorder's own state machines over the simulator's network: 60 s, 20 ms each way, a queue without limit unless it says otherwise,
default limits. A bin of 100 ms counts as within 3 % also where it is off by less than one packet and one opportunity (2.9 kB), which is
what its edges cut. Truth is what the link brings to the receiver; it is not less for what is lost behind it, and what jitter moves
from one bin to the next stays where it was.

"""
COMPARED = """## Controllers on the recorded link and on the true one

The same recordings, of links below 30 Mbit/s: each controller over the recorded trace, with the round trip that was measured, and over that part of the true link
that was recorded, with the true one (40 ms), 50 s, a queue without limit. Wanted: throughput within 3 %, 95th percentile of the queueing delay within 15 % or 1 ms.

One run's p95 hangs on a tenth of a millisecond of the round trip. Each figure is therefore the mean of {runs} runs whose round trips differ
by 0.1 ms, and *itself* is the true link against itself with other {runs} of these: how many of the {controllers} controllers meet both goals
when nothing was recorded at all. *Pairs* are those whose order by delay is the same; equal within 3 % or 1 ms counts as the same.

"""
REALLY = """## Real packets

`lowtide link --trace FILE --rtt 40ms -- lowtide record`, 10 s, through the kernel of one machine with {cores} cores at a load average of {load}.
*Late* is what `lowtide link` says of itself: percentile 99 and the greatest of how late it sent packets on. The true link is found in its trace where
the two fit best.

"""


def percentile(values, p):
    values = sorted(values)
    return values[(len(values) - 1) * p // 100] if values else float("nan")


def compared_on(args, trace, rtt_ms):
    """Of each controller the throughput and the p95 queueing delay on a link, means over round trips."""
    sums = {c: [0.0, 0.0] for c in CONTROLLERS}
    for n in range(RUNS):
        command = ["compare", "--trace", trace, "--rtt", f"{rtt_ms + n * RTT_STEP_MS:.3f}ms", "--buffer", "inf"]
        command += ["--duration", "50s"]
        for controller in CONTROLLERS:
            command += ["--cc", controller]
        for found in measured(args, command)["results"]:
            if found["controller"] in sums:
                total = sums[found["controller"]]
                total[0] += found["throughput_mbps"] / RUNS
                total[1] += found["queue_delay_ms"]["p95"] / RUNS
    return sums


def errors(true, seen):
    """Of each controller the relative errors of throughput and delay."""
    pairs = [(true[c], seen[c]) for c in CONTROLLERS]
    return [(s[0] / t[0] - 1, 0 if abs(s[1] - t[1]) <= 1 else s[1] / t[1] - 1) for t, s in pairs]


def within(found):
    good = sum(abs(rate) <= 0.03 and abs(delay) <= 0.15 for rate, delay in found)
    return f"{good}/{len(found)}"


def in_order(true, seen):
    def near(a, b):
        return abs(a - b) <= max(0.03 * max(a, b), 1)

    same, pairs = 0, 0
    delays = [(true[c][1], seen[c][1]) for c in CONTROLLERS]
    for i, (t1, s1) in enumerate(delays):
        for t2, s2 in delays[:i]:
            pairs += 1
            same += near(t1, t2) or near(s1, s2) or (t1 < t2) == (s1 < s2)
    return f"{same}/{pairs}"


def compared(args, folder):
    rows = []
    names = sorted(f[: -len(".json")] for f in os.listdir(folder) if f.endswith(".json"))
    for name in names:
        path = os.path.join(folder, name)
        is_series = os.path.exists(f"{path}.true.csv")
        with open(f"{path}.json") as file:
            how = json.load(file)
        if how["down"]["mean_mbps"] > SLOW:
            continue
        base = how["base_rtt_ms"]
        true_file = f"{path}.true.csv" if is_series else f"{path}.true.down"
        true = compared_on(args, true_file, 40)
        itself = errors(true, compared_on(args, true_file, 40 + RUNS * RTT_STEP_MS))
        by_kind = [compared_on(args, f"{path}.{end}", base) for end in ("down", "down.csv")]
        row = [how["server"], "rate series" if is_series else "opportunities", within(itself)]
        row += [within(errors(true, seen)) for seen in by_kind]
        seen = by_kind[is_series]
        found = errors(true, seen)
        for part in (0, 1):
            n = max(range(len(found)), key=lambda n: abs(found[n][part]))
            row.append(f"{100 * found[n][part]:+.1f} % ({CONTROLLERS[n]})")
        rows.append(row + [in_order(true, seen)])
        print(rows[-1], file=sys.stderr, flush=True)
    head = ["link", "what it is", "itself", "`.down`", "`.down.csv`", "greatest error of throughput", "of p95 queueing delay"]
    return table(head + ["pairs in order"], rows)


def true_bytes(path, length_ms):
    """What a link carries in each millisecond from its beginning on, repeated."""
    carried = [0.0] * length_ms
    if path.endswith("mbit"):
        return [int(path[:-4]) * 125.0] * length_ms
    if path.endswith(".csv"):
        with open(path) as file:
            lines = [line for line in file if not line.startswith("#")]
        times, rates = zip(*[(float(a), float(b)) for a, b in csv.reader(lines[1:])])
        unit, rate_unit = lines[0].strip().split(",")
        to_ms = {"time_s": 1000, "time_ms": 1, "time_us": 0.001}[unit]
        to_bytes = {"rate_bps": 1 / 8e3, "rate_kbps": 1 / 8, "rate_mbps": 125, "rate_gbps": 125e3}[rate_unit]
        times = [t * to_ms for t in times]
        period = int(2 * times[-1] - times[-2])
        one, at = [], 0
        for ms in range(period):
            while at + 1 < len(times) and times[at + 1] <= ms:
                at += 1
            one.append(rates[at] * to_bytes)
        return [one[ms % period] for ms in range(length_ms)]
    with open(path) as file:
        times = [int(line) for line in file]
    period = times[-1]
    for start in range(0, length_ms, period):
        for t in times:
            if start + t < length_ms:
                carried[start + t] += OPPORTUNITY
    return carried


def fit(true, seen):
    """The millisecond of the true link at which what was seen begins: where the sums of 20 ms differ least."""

    def sums(values):
        total = [0.0]
        for value in values:
            total.append(total[-1] + value)
        return total

    true, seen = sums(true), sums(seen)
    coarse = range(0, len(seen) - 21, 20)

    def error(lag, step):
        marks = coarse[::step]
        return sum(abs((true[lag + m + 20] - true[lag + m]) - (seen[m + 20] - seen[m])) for m in marks) / len(marks)

    lags = range(0, len(true) - len(seen))
    near = sorted(lags[::5], key=lambda lag: error(lag, 7))[:20]
    return min({n + d for n in near for d in range(-6, 7) if 0 <= n + d < len(lags)}, key=lambda lag: error(lag, 1))


def real(args, folder):
    rows = []
    for name, link, flags in REAL:
        out = os.path.join(folder, "real")
        path = os.path.join(args.traces, link)
        limit = ["--rate", link] if link.endswith("mbit") else ["--trace", path]
        record = f"{args.lowtide} record $LOWTIDE_LINK_PEER --duration 10s --max-volume 2GB --max-rate 1gbit --packets -o {out}"
        command = [args.lowtide, "link", *limit, "--rtt", "40ms", "--buffer", "inf", *flags, f"--json={out}.link"]
        command += ["--peer", f"{args.lowtide} serve --record --only", "--", "sh", "-c", record]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        with open(f"{out}.json") as file:
            way = json.load(file)["down"]
        with open(f"{out}.link") as file:
            late = json.load(file)["down"]["release_error_ms"]
        length = int(way["length_s"] * 1000)
        seen = [0.0] * (length + 1)
        with open(f"{out}.down.packets.csv") as file:
            for row in csv.DictReader(file):
                seen[int(row["time_us"]) // 1000] += int(row["bytes"])
        # A recording begins a few seconds after the link does.
        true = true_bytes(link if link.endswith("mbit") else path, length + 12000)
        lag = fit(true, seen)
        errors, close = [], 0
        for start in range(0, length - 100, 100):
            if any(a * 1000 < start + 100 and start < b * 1000 for a, b in way["not_backlogged_s"]):
                continue
            t, s = sum(true[lag + start : lag + start + 100]), sum(seen[start : start + 100])
            close += abs(s - t) <= max(0.03 * t, 2904)
            errors.append(abs(s - t) / max(t, 1400))
        mean = sum(seen[:length]) / max(sum(true[lag : lag + length]), 1) - 1
        rows.append(
            [
                name,
                f"{way['mean_mbps']:.2f}",
                f"{100 * mean:+.1f} %",
                f"{100 * way['not_backlogged_share']:.1f} %",
                f"{100 * close / max(len(errors), 1):.1f} %",
                f"{100 * percentile(errors, 50):.1f} %",
                f"{100 * percentile(errors, 95):.1f} %",
                f"{way['queue_p5_ms']:.0f}/{way['queue_p50_ms']:.0f}/{way['queue_p95_ms']:.0f}",
                f"{late['p99']:.2f}/{late['max']:.1f}",
            ]
        )
        print(rows[-1], file=sys.stderr, flush=True)
    head = ["link", "recorded, Mbit/s", "error", "not backlogged", "of backlogged 100 ms within 3 %"]
    head += ["error of 100 ms, p50", "p95", "queue p5/p50/p95, ms", "late p99/max, ms"]
    return table(head, rows)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--example", default=os.path.join(BUILT, "examples/recorded_links"))
    parser.add_argument("--real", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(VIRTUAL + printed([args.example, args.traces, folder]).decode())
        print(COMPARED.format(runs=RUNS, controllers=len(CONTROLLERS)) + compared(args, folder))
        if args.real:
            load = f"{os.getloadavg()[0]:.0f}"
            print(REALLY.format(cores=os.cpu_count(), load=load) + real(args, folder))


if __name__ == "__main__":
    main()
