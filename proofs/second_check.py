"""Each statement once more, packet by packet and on lowtide's own binary: just inside it holds, just outside it fails."""
import json
import os
import shutil
import subprocess
from collections import deque

from bbr3_rounds import longest_life
from packets import Bbr, Ebb, against_samples, patterns, run
from two_flows import worst_share

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = os.path.join(ROOT, "target", "release", "lowtide")
LOWTIDE = os.environ.get("LOWTIDE") or (BUILT if os.path.exists(BUILT) else shutil.which("lowtide"))


class Queue:
    """The largest excess of the link's queue over what `bound(flow)` allows, but for what idled in the last R."""

    def __init__(self, bound):
        self.bound, self.excess, self.largest, self.idled = bound, -1e9, 0.0, deque()

    def __call__(self, index, now, flow, queue, wasted):
        self.idled.append((now, wasted))
        while self.idled[0][0] < now - 1:
            self.idled.popleft()
        if now > 5:
            self.largest = max(self.largest, queue)
            self.excess = max(self.excess, queue - self.bound(flow) - sum(w for _, w in self.idled) - 2)


def bbr_grow():
    """Ten cycles from a tenth of a link; where D < R/4 each multiplies the estimate by 1.25/(1 + D/R)."""
    def grown(jitter):
        flow = Bbr(400)
        run([flow], 4000, 100, against_samples(), jitter)
        return flow.estimate / 400
    flow = Bbr(750)
    use, = run([flow], 1000, 60, against_samples(), 0.2)
    inside, outside = grown(0.2), grown(0.26)
    says = f"D = 0.2: x {inside:.2f}, and {use:.2f} of the link from 0.75; D = 0.26: x {outside:.2f}"
    return inside >= (1.25 / 1.2) ** 10 and use >= 1 / 1.2, outside < 1.06, says


def bbr_queue():
    jitter, size = 0.25, 200
    bound = lambda flow: size * (1 + 2 * jitter) + flow.extra
    excess = -1e9
    for _, hold in patterns(jitter):
        watch = Queue(bound)
        run([Bbr(size)], size, 60, hold, jitter, watch)
        excess = max(excess, watch.excess)
    flow, watch, released = Bbr(size), Queue(bound), []

    def until_a_probe(index, now, flow):
        if flow.phase == 0 and now - flow.since > 0.95 and now > 5:
            released.append(now)
        return 0.0 if released else jitter
    run([flow], size, 40, until_a_probe, jitter, watch)
    reached = watch.largest / bound(flow)
    return max(excess, watch.excess) <= 0, reached > 0.9, f"never above; {reached:.2f} of it reached"


def ebb_rate():
    """The forecast of the specification, and the model's; e is 10 packets of which the last is never whole in flight."""
    jitter, least, worst = 0.25, 1.0, 1.0
    for _, hold in patterns(jitter):
        least = min(least, run([Ebb(95, e=10, forecast="max")], 100, 80, hold, jitter)[0])
        worst = min(worst, run([Ebb(95, e=10)], 100, 120, hold, jitter)[0])
    return min(least, worst) >= 0.09 / jitter, worst < 1.05 * 0.1 / jitter, \
        f"e/D = 0.40 of the link: maximum {least:.2f}, ebb's forecast {worst:.2f}"


def ebb_queue():
    """And what arrives in an R, which is the model's M."""
    jitter, excess, reached, arrived = 0.25, -1e9, 0.0, 0
    for forecast, factor in (("max", 1.0), ("ours", 1.25)):
        bound = lambda flow, f=factor: 100 * (f * (1 + jitter) * (1 + flow.delta) - 1) + flow.e + f
        for _, hold in patterns(jitter):
            flow, watch = Ebb(95, e=10, forecast=forecast), Queue(bound)
            run([flow], 100, 60, hold, jitter, watch)
            excess, arrived = max(excess, watch.excess), max(arrived, flow.maxima[0][1])
            reached = max(reached, watch.largest / 35) if forecast == "max" else reached
    says = f"never above; {reached:.2f} of C D + e reached, {arrived / 125:.2f} of C (R + D)"
    return excess <= 0 and arrived <= 126, reached > 0.9 and arrived > 0.98 * 125, says


class Idle(Ebb):
    """Compares the idle time that it sees before a packet with the link's."""

    def __init__(self):
        super().__init__(60, e=5)
        self.true, self.most, self.above = {}, 0.0, 0.0

    def __call__(self, index, now, flow, queue, wasted):
        self.true[now] = wasted / 100

    def ours(self, now, sent, prior):
        seen, true = max(0.0, min(sent + 1 - self.last, now - self.last)), self.true.pop(sent)
        self.most, self.above = max(self.most, true), max(self.above, seen - true)
        super().ours(now, sent, prior)


def ebb_idle():
    """A link with a box behind it saves nothing, so that D more is never seen: CCAC's path is wider here."""
    most = above = 0.0
    for _, hold in patterns(0.25):
        flow = Idle()
        run([flow], 100, 40, hold, 0.25, flow)
        most, above = max(most, flow.most), max(above, flow.above)
    return above <= 0.25, None, f"idle up to {most:.2f} R; seen {above:.3f} R too much at most, D = 0.25 R"


def shares():
    holds = fails = True
    says = []
    for law, bound in (({"e": 10}, {"e": 0.1}), ({"root": 1}, {"root": 0.1})):
        for jitter, other in ((0.1, 0.09), (0.1, 0.13)):
            flows = [Ebb(50, **law) for _ in range(2)]
            hold = lambda i, t, f, d=other: d * min(1, max(0, (t - 5) / 40)) if i else 0.0
            share = min(run(flows, 100, 150, hold, other))
            least = worst_share(jitter, **bound)
            if other < jitter:
                holds &= share >= least
            else:
                fails &= share < least * 1.02
            says.append(f"{share:.3f}")
        says[-2:] = [f"{'/'.join(says[-2:])} of {least:.3f}"]
    return holds, fails, f"D = 0.09/0.13 for the share at 0.1: e fixed {says[0]}; root {says[1]}"


def bbr3_filter():
    short, long = longest_life(0.39), longest_life(0.61)
    return short <= 19, long > 1000, f"longest life {short:.1f} s at 0.39 s, {long:.0f} s (the run) at 0.61 s"


def compare(*arguments):
    """Throughputs of the flows in Mbit/s and the mean RTT of a run of the release binary."""
    out = subprocess.run([LOWTIDE, "compare", "--json", "--no-timing", "--jobs", "1", *arguments], check=True,
                         capture_output=True, text=True).stdout
    name = arguments[arguments.index("--cc") + 1]
    result = next(r for r in json.loads(out)["results"] if r["controller"] == name)
    return [flow["throughput_mbps"] for flow in result["flows"]], result["rtt_ms"]["mean"]


def later(to, *more, rate=20):
    """ebb at 40 ms, the path of which becomes longer: the least RTT stays known for ten seconds."""
    return compare("--cc", "ebb", "--rate", f"{rate}mbit", "--rtt", "40ms", "--rtt-steps", f"5s:{to}ms", "--duration", "14s", *more)


def binary_bbr():
    (rate,), _ = compare("--cc", "bbr", "--rate", "20mbit", "--rtt", "40ms", "--jitter", "9ms", "--duration", "30s")
    return rate / 20 >= 40 / 49, None, f"jitter 9 ms: {rate / 20:.2f} of the link (bound 0.82); random jitter is no adversary"


def binary_bbr3():
    rtts = [compare("--cc", "bbr3", "--rtt", f"{rtt}ms", "--schedule", "0s:20mbit,20s:5mbit", "--buffer", "inf", "--duration",
                    "80s", "--measure-from", "50s")[1] for rtt in (20, 100)]
    return rtts[0] < 60, rtts[1] > 1000, f"20 to 5 Mbit/s, mean RTT from 30 s after: {rtts[0]:.0f} ms at 20 ms, {rtts[1]:.0f} at 100"


def binary_rate():
    """30 ms P/D^2 of the core, where D is at most T/4; above, the concession acts."""
    rates = {to: later(to, "--measure-from", "8s")[0][0] for to in (46, 48, 50, 52)}
    core = {to: 0.03 / ((to - 40) / 1e3) ** 2 * 0.012 for to in rates}
    fast, = later(50, "--measure-from", "8s", rate=100)[0]
    near = all(abs(rate / core[to] - 1) < 0.1 for to, rate in [(46, rates[46]), (48, rates[48]), (50, rates[50]), (50, fast)])
    return near, rates[52] > 2 * core[52], "e/D | measured, Mbit/s: " + ", ".join(
        f"+{to - 40} ms {core[to]:.1f} | {rates[to]:.1f}" for to in rates) + f"; of 100 Mbit/s +10 ms {fast:.1f}"


def binary_slow():
    rate, = later(50, "--measure-from", "8s", rate=5)[0]
    return rate >= 3.6, None, f"of 5 Mbit/s +10 ms 3.6 | {rate:.1f}"


def binary_share():
    """The second flow starts on the longer path. That the controller is below the model's bound is said, not hidden."""
    measured = {to: later(to, "--flows", "2", "--stagger", "6s", "--measure-from", "9s")[0] for to in (42, 46, 50)}
    core = {to: worst_share((to - 40) / 40, root=0.106) for to in measured}
    share = {to: rates[0] / sum(rates) for to, rates in measured.items()}
    return all(share[to] >= core[to] for to in core), None, "share of the older | bound: " + ", ".join(
        f"+{to - 40} ms {share[to]:.3f} | {core[to]:.3f}" for to in core)


PACKETS = {"bbr-grow, bbr-stall": bbr_grow, "bbr-queue": bbr_queue, "ebb-rate": ebb_rate, "ebb-queue, bbr-sample": ebb_queue,
           "ebb-idle": ebb_idle, "share": shares, "bbr3": bbr3_filter}
BINARY = {"bbr-grow": binary_bbr, "bbr3": binary_bbr3, "ebb-rate": binary_rate, "ebb-rate, slow": binary_slow, "share-root": binary_share}
