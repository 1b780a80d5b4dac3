"""The second check: senders packet by packet through a link and a box that holds packets back, none of the models' equations.

Times in R, packets of size 1. The box holds each packet back by 0 to D as an adversary chooses, without reordering.
"""
import heapq
import math
import random
from collections import deque


class Flow:
    """What every sender keeps; `window` and `rate` (packets per R, or None) are the law's."""

    def __init__(self):
        self.inflight, self.delivered, self.delivered_at, self.first_sent = 0, 0, 0.0, 0.0
        self.next_send, self.last_out, self.shares = 0.0, 0.0, []


class Bbr(Flow):
    """BBR v1 in ProbeBW: rate samples of draft-cheng-iccrg-delivery-rate-estimation, ten rounds, eight phases."""

    def __init__(self, estimate, extra=3):
        super().__init__()
        self.samples, self.round, self.round_end, self.extra = deque([(0, estimate)]), 0, 0, extra
        self.phase, self.since = 2, 0.0

    estimate = property(lambda self: self.samples[0][1])
    window = property(lambda self: 2 * self.estimate + self.extra)
    rate = property(lambda self: self.gain() * self.estimate)

    def gain(self):
        return 1.25 if self.phase == 0 else 0.75 if self.phase == 1 else 1.0

    def on_ack(self, now, sent, prior, prior_at, prior_sent):
        if prior >= self.round_end:
            self.round, self.round_end = self.round + 1, self.delivered
        sample = (self.delivered - prior) / max(now - prior_at, sent - prior_sent)
        while self.samples and self.samples[-1][1] <= sample:
            self.samples.pop()
        self.samples.append((self.round, sample))
        while self.samples[0][0] <= self.round - 10:
            self.samples.popleft()
        elapsed = now - self.since
        over = elapsed > 1 and (self.phase != 0 or self.inflight >= 1.25 * self.estimate)
        if over or self.phase == 1 and self.inflight <= self.estimate:
            self.phase, self.since = (self.phase + 1) % 8, now


class Ebb(Flow):
    """ebb's core, T = R. forecast `max`: the largest arrivals in an R of ten. forecast `ours`, of the specification: busy
    clock, kernel, mean over bytes, limit on growth, delta regulated, and on a calm link what does not queue."""

    def __init__(self, start, e=None, root=None, forecast="ours"):
        super().__init__()
        self.m, self.e, self.root, self.forecast, self.delta = start, e, root, forecast, 0.0
        self.arrivals, self.maxima, self.last, self.recent = deque(), deque(), 0.0, 0.35 * start
        self.round_end, self.least_wait, self.unqueued = 0, math.inf, math.inf

    allowance = property(lambda self: self.e if self.root is None else self.root * math.sqrt(self.m))
    rate = property(lambda self: 1.25 * self.window)

    @property
    def window(self):
        calm = max(1 - self.delta / 0.1, 0.0)
        return self.m - calm * max(self.m - self.unqueued, 0.0) + self.m * self.delta + self.allowance

    def on_ack(self, now, sent, prior, *_):
        self.arrivals.append(now)
        while self.arrivals[0] <= now - 1:
            self.arrivals.popleft()
        if now < 2:
            self.last = now
            return
        newest = len(self.arrivals)
        while self.maxima and self.maxima[-1][1] <= newest:
            self.maxima.pop()
        self.maxima.append((now, newest))
        while self.maxima[0][0] < now - 10:
            self.maxima.popleft()
        if self.forecast == "max":
            self.m = self.maxima[0][1]
        else:
            self.ours(now, sent, prior)

    def ours(self, now, sent, prior):
        span, wait = now - self.last, now - sent - 1
        idle = 0.0 if wait > 0.2 else max(0.0, min(sent + 1 - self.last, span))
        self.recent *= math.exp(-(span - idle) / 0.35)
        served, self.recent, self.last = (self.recent + 0.5) / 0.35, self.recent + 1, now
        served = min(served, 1.25 * self.maxima[0][1])
        window = self.window
        self.m += (served - self.m) / (1 + (0.5 if served > self.m else 1) * window)
        unused = min(idle * self.m, window) if wait <= 1 else 0.0
        self.delta = min(max(self.delta + 0.07 * (unused - 0.05 * (1 + unused)) / window, 0.0), 4.0)
        self.least_wait = min(self.least_wait, wait)
        if prior >= self.round_end:
            self.unqueued = window / (1 + self.least_wait)
            self.round_end, self.least_wait = self.delivered, math.inf


def run(flows, capacity, until, hold, jitter, watch=None):
    """`hold(flow index, time, flow)`: the wish of the adversary. Returns each flow's share of the link in the second half."""
    events, order, free, counts = [(0.0, i, "send", i, None) for i in range(len(flows))], len(flows), 0.0, [0] * len(flows)
    while events:
        now, _, kind, index, packet = heapq.heappop(events)
        if now > until:
            break
        flow = flows[index]
        if kind == "ack":
            sent, prior, prior_at, prior_sent = packet
            flow.inflight -= 1
            flow.delivered, flow.delivered_at, flow.first_sent = flow.delivered + 1, now, sent
            flow.on_ack(now, sent, prior, prior_at, prior_sent)
            counts[index] += now > until / 2
        while flow.inflight + 1 <= flow.window and now >= flow.next_send:
            if flow.inflight == 0:
                flow.first_sent = flow.delivered_at = now
            idle_since, free = free, max(now, free) + 1 / capacity
            flow.inflight += 1
            wish = min(max(hold(index, free, flow), 0.0), jitter)
            flow.last_out = max(free + wish, flow.last_out)
            assert flow.last_out <= free + jitter + 1e-9, "the box holds no packet longer than D"
            if watch:
                watch(index, now, flow, (free - now) * capacity, max(0.0, now - idle_since) * capacity)
            packet = (now, flow.delivered, flow.delivered_at, flow.first_sent)
            order += 1
            heapq.heappush(events, (flow.last_out + 1, order, "ack", index, packet))
            flow.next_send = max(now, flow.next_send) + 1 / flow.rate
            order += 1
            heapq.heappush(events, (flow.next_send, order, "send", index, None))
    return [count / (capacity * until / 2) for count in counts]


def against_samples():
    """Lets no sample of BBR pass its estimate, as far as D allows. (A sample's time has one gap more than its RTT.)"""
    return lambda i, t, flow: (flow.inflight - 1) / flow.estimate - 1


def patterns(jitter):
    """Holding back without knowing the sender."""
    noise = random.Random(1)
    yield "always", lambda i, t, f: jitter
    yield "at random", lambda i, t, f: noise.uniform(0, jitter)
    for period in (0.5, 1.0, 3.0):
        yield f"off and on, {period} R", lambda i, t, f, p=period: jitter if t % p < p / 2 else 0.0
    yield "more and more", lambda i, t, f: jitter * min(1.0, max(0.0, (t - 5) / 40))
    yield "in bunches", lambda i, t, f: (-t) % jitter
