"""TCP Vegas (Brakmo and Peterson, IEEE JSAC 13(8), 1995), event by event as the built-in `vegas`."""

from __future__ import annotations

import math

from lowtide import Controller

#: A round with fewer RTT samples may have seen delayed acknowledgments only, and is Reno's.
MIN_SAMPLES = 3
#: The smallest window, packets.
MIN_WINDOW = 2


class Vegas(Controller):
    """Holds between `alpha` and `beta` packets queued; with more than `gamma` slow start ends."""

    name = "vegas-py"
    ecn = "ect0"
    phases = {"SlowStart": "start", "CongestionAvoidance": "steady", "Recovery": "recovery"}

    def __init__(self, config, alpha=2, beta=4, gamma=1):
        self.alpha, self.beta, self.gamma = alpha, max(alpha, beta), gamma
        self.packet = config.max_datagram
        self.cwnd = max(config.initial_window, MIN_WINDOW * self.packet)
        self.slow_start_until = math.inf
        self.acked = 0
        # A loss of a packet sent before the last congestion event belongs to that one.
        self.next_number = 0
        self.began_at = 0
        self.recovering = False
        # What a spurious timeout gives back.
        self.before_reduction = (None, None)
        self.before_epoch = (None, None)
        self.before_timeout = None
        self.base_rtt = math.inf
        self.round_ends_at = 0
        self.doubling = True
        self.forget_round()
        self.phase = "SlowStart"

    # A round: until a packet is acknowledged that was sent after its begin.

    def forget_round(self):
        self.round_rtt = math.inf
        self.newest_rtt = math.inf
        self.samples = 0
        self.round_acked = 0

    def restart_round(self):
        self.round_ends_at = self.next_number
        self.forget_round()

    # Events.

    def on_packet_sent(self, sent):
        self.next_number = max(self.next_number, sent.number + 1)
        if sent.inflight <= sent.bytes:
            self.restart_round()

    def on_ack(self, ack):
        was_recovering = self.recovering
        if was_recovering and ack.number >= self.began_at:
            self.recovering = False
        self.before_timeout = None
        in_slow_start = self.cwnd < self.slow_start_until
        room = int(self.cwnd / 2) if in_slow_start else 3 * self.packet
        may_grow = not self.recovering and ack.prior_inflight + room >= self.cwnd
        if ack.rtt is not None:
            rtt = max(ack.rtt, 1e-6)
            self.base_rtt = min(self.base_rtt, rtt)
            self.round_rtt = min(self.round_rtt, rtt)
            self.newest_rtt = rtt
            self.samples += 1
            self.min_rtt = self.base_rtt
        if self.recovering:
            return
        if was_recovering:
            self.restart_round()
            self.say_phase()
            return
        if may_grow:
            self.round_acked += ack.bytes_acked
            if self.doubling and in_slow_start:
                self.cwnd += ack.bytes_acked
        if ack.number >= self.round_ends_at:
            self.round_ends_at = self.next_number
            self.end_round()
        self.say_phase()

    def on_loss(self, loss):
        if loss.number >= self.began_at:
            self.before_epoch = (loss.now, self.began_at)
            self.began_at = self.next_number
            self.recovering = True
            if self.before_timeout is None:
                self.halve(loss.now)
            self.say_phase()

    def on_ecn_ce(self, now, sent_at, marked):
        if not self.recovering:
            self.began_at = self.next_number
            self.recovering = True
            self.halve(now)
            self.say_phase()

    def on_timeout(self, timeout):
        if self.before_timeout is None:
            # Losses of this very moment are the timeout's.
            at, window = self.before_reduction
            if at != timeout.now:
                window = (self.cwnd, self.slow_start_until)
            at, began_at = self.before_epoch
            if at != timeout.now:
                began_at = self.began_at
            self.before_timeout = (window, began_at)
        packets = 1 if timeout.kind == "rto" else MIN_WINDOW
        self.cwnd = packets * self.packet
        self.acked = 0
        self.recovering = False
        self.restart_round()
        self.doubling = True

    def on_spurious_timeout(self, now):
        self.recovering = False
        if self.before_timeout is not None:
            (cwnd, self.slow_start_until), self.began_at = self.before_timeout
            self.cwnd = max(self.cwnd, cwnd)
            self.before_timeout = None

    def on_mtu_change(self, max_datagram):
        self.packet = max_datagram
        self.cwnd = max(self.cwnd, MIN_WINDOW * self.packet)

    # The window.

    def halve(self, now):
        self.before_reduction = (now, (self.cwnd, self.slow_start_until))
        self.cwnd = max(int(self.cwnd / 2), MIN_WINDOW * self.packet)
        self.slow_start_until = self.cwnd
        self.acked = 0

    def grow(self, acked):
        """As Reno does."""
        if self.cwnd < self.slow_start_until:
            self.cwnd += acked
            return
        self.acked += acked
        if self.acked >= self.cwnd:
            self.acked -= self.cwnd
            self.cwnd += self.packet

    def lower(self, by):
        least = min(MIN_WINDOW * self.packet, self.cwnd)
        self.cwnd = max(self.cwnd - max(by, 0), least)
        self.slow_start_until = min(self.slow_start_until, self.cwnd)

    def queued(self, rtt):
        """Packets that the flow keeps queued: (expected - actual) * base_rtt."""
        return self.cwnd / self.packet * (1 - self.base_rtt / rtt)

    def end_round(self):
        samples, acked = self.samples, self.round_acked
        round_rtt, newest_rtt = self.round_rtt, self.newest_rtt
        self.forget_round()
        was_doubling = self.doubling
        in_slow_start = self.cwnd < self.slow_start_until
        if samples < MIN_SAMPLES:
            if not (in_slow_start and was_doubling):
                self.grow(acked)
            self.doubling = True
            return
        self.doubling = not was_doubling
        if in_slow_start:
            queued = self.queued(newest_rtt)
            if not was_doubling and queued > self.gamma:
                self.lower(int(self.packet * queued) - self.packet)
            return
        queued = self.queued(round_rtt)
        if queued > self.beta:
            self.lower(self.packet)
        elif queued < self.alpha and acked:
            self.cwnd += self.packet

    def say_phase(self):
        if self.recovering:
            self.phase = "Recovery"
        elif self.cwnd < self.slow_start_until:
            self.phase = "SlowStart"
        else:
            self.phase = "CongestionAvoidance"
