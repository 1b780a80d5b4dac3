#!/usr/bin/env python3
"""Links that move and links limited both ways, for every controller.

    experiments/moving_links.py [--jobs N] TRACES

TRACES holds the folders `mahimahi` and `starlink`. Needs `cargo build --release -p lowtide`. A flow is on its own and
the queue before the bottleneck has no limit unless a table says otherwise.
"""

import json
import os

from program import arguments, controllers, measured
from tables import digits, table

PAIRS = ["ATT-LTE-driving-2016", "TMobile-LTE-short", "Verizon-LTE-short"]
WINDOWS = [("before", 5, 15), ("while it is longer", 15, 30), ("after", 30, 45)]
# What goes the other way, and the queue before that way's limit.
UPLOADS = [
    ("none", ["--reverse-buffer", "inf"]),
    ("ebb", ["--reverse-cc", "ebb", "--reverse-buffer", "inf"]),
    ("BBR", ["--reverse-cc", "bbr", "--reverse-buffer", "inf"]),
    ("CUBIC, 2 BDP", ["--reverse-cc", "cubic", "--reverse-buffer", "2bdp"]),
    ("CUBIC, no limit", ["--reverse-cc", "cubic", "--reverse-buffer", "inf"]),
]

def starlink(args):
    """All controllers over the Starlink recording, with its delays and with a delay that stands still."""
    trace = os.path.join(args.traces, "starlink/leocc-a.down")
    delays = os.path.join(args.traces, "starlink/leocc-a.delay.csv")
    text = ""
    for buffer in ["inf", "2bdp"]:
        common = ["compare", "--trace", trace, "--buffer", buffer]
        moves = measured(args, [*common, "--rtt", "40ms", "--delay-trace", delays])
        # The same mean: 20 ms back, and there what the recording has on average.
        stands = measured(args, [*common, "--rtt", "30.88ms"])
        fixed = {entry["controller"]: entry for entry in stands["results"]}
        rows = []
        for entry in moves["results"]:
            other = fixed.get(entry["controller"])
            rows.append([
                entry["controller"],
                digits(entry["throughput_mbps"], 2),
                digits(entry["rtt_ms"]["mean"]),
                digits(entry["queue_delay_ms"]["mean"]),
                digits(entry["queue_delay_ms"]["p95"]),
                digits(entry["self_inflicted_ms"]["p95"]),
                digits(other and other["throughput_mbps"], 2),
                digits(other and other["queue_delay_ms"]["p95"]),
            ])
        name = "no limit" if buffer == "inf" else "2 BDP"
        text += f"## Starlink, a queue of {name}\n\n"
        text += "`lowtide compare --trace leocc-a.down --delay-trace leocc-a.delay.csv --rtt 40ms "
        text += f"--buffer {buffer}`; on the right the same with `--rtt 30.88ms` instead of the delays, their mean.\n\n"
        head = ["controller", "Mbit/s", "RTT, ms", "queue, ms", "queue p95", "self p95", "delay fixed: Mbit/s", "queue p95"]
        text += table(head, rows)
    return text


def longer(args):
    """The base delay rises by 20 ms for 15 s."""
    names = sorted(controllers(args))
    text = 'about = "The base delay rises by 20 ms from 15 to 30 s."\n'
    text += '[link]\nrate = "20mbit"\nbuffer = "inf"\n[path]\nrtt = "40ms"\nrtt_steps = "15s:60ms,30s:40ms"\n[[flows]]\n'
    for name, start, end in WINDOWS:
        text += f'[[cases]]\nname = "{name}"\n'
        text += f'set = {{ "run.duration" = "{end}s", "run.measure_from" = "{start}s" }}\n'
    text += f'[sweep]\n"flows.controller" = {json.dumps([*names, "oracle"])}\n'
    done = measured(args, ["run", "-"], input=text.encode())
    cells = {}
    for cell in done["results"]:
        labels = cell["labels"].values() if isinstance(cell.get("labels"), dict) else cell["labels"]
        labels = [label["value"] if isinstance(label, dict) else label for label in labels]
        cells[tuple(labels)] = cell
    rows = []
    for name in ["oracle", *names]:
        row = [name]
        for window, _, _ in WINDOWS:
            cell = cells[(window, name)]
            row += [digits(cell["throughput_mbps"], 2), digits(cell["queue_delay_ms"]["p95"])]
        rows.append(row)
    out = "## A base delay that rises by 20 ms for 15 s\n\n"
    out += "20 Mbit/s, 40 ms RTT, from 15 to 30 s 60 ms. Throughput, and the 95th percentile of the queueing delay, from 5 to 15 s, "
    out += "15 to 30 s, 30 to 45 s. The scenario, as `lowtide run -` reads it:\n\n"
    out += f"```toml\n{text}```\n\n"
    head = ["controller"]
    for window, _, _ in WINDOWS:
        head += [f"{window}: Mbit/s", "queue p95, ms"]
    return out + table(head, rows)


def both_ways(args):
    """A download of each controller beside an upload."""
    text = "## A download beside an upload\n\n"
    text += "The recorded pairs of LTE links, both ways limited; one flow down, and one up whose data stands in the queue of the download's "
    text += "acknowledgments. `lowtide compare --trace PAIR.down --reverse-trace PAIR.up "
    text += "--rtt 40ms --buffer inf`, and:\n\n"
    for name, flags in UPLOADS[1:]:
        text += f"- {name}: `{' '.join(flags)}`\n"
    text += "\nMbit/s, and the 95th percentile of the download's RTT in ms.\n\n"
    for pair in PAIRS:
        path = os.path.join(args.traces, "mahimahi", pair)
        common = ["compare", "--trace", f"{path}.down", "--reverse-trace", f"{path}.up", "--rtt", "40ms", "--buffer", "inf"]
        done = [measured(args, [*common, *flags]) for _, flags in UPLOADS]
        entries = [{entry["controller"]: entry for entry in one["results"]} for one in done]
        rows = []
        for name in (entry["controller"] for entry in done[0]["results"]):
            if name.startswith("window"):
                continue
            row = [name]
            for one in entries:
                entry = one.get(name)
                row.append(digits(entry and entry["throughput_mbps"], 2))
                row.append(digits(entry and entry["rtt_ms"]["p95"], 0))
            rows.append(row)
        head = ["download"]
        for name, _ in UPLOADS:
            head += [f"beside {name}" if name != "none" else "alone", "RTT p95"]
        text += f"### {pair}\n\n" + table(head, rows)
    return text


def main():
    args = arguments(__doc__).parse_args()
    print(starlink(args) + longer(args) + both_ways(args))


if __name__ == "__main__":
    main()
