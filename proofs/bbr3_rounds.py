"""BBRv3's filter round by round with the waits drawn: phases as the draft names them, a clock, two timers."""
import random


def longest_life(round_, seconds=2000.0, seed=1):
    """The longest that a sample stays in the filter. Samples are taken in every round."""
    draw = random.Random(seed)
    now, probe_rtt, longest = 0.0, 5.0, 0.0
    cycle, born = 0, {0: 0.0}  # when each cycle of the filter began
    phase, rounds, wait_until, counts_end = "CRUISE", 0, draw.uniform(2, 3), False
    while now < seconds:
        # A round passes; timers are looked at as acknowledgments come, a hundred times in a round.
        for _ in range(100):
            now += round_ / 100
            if now > probe_rtt:
                now += 0.2 + round_
                probe_rtt, phase, counts_end = now + 5, "CRUISE", False
                rounds, wait_until = 0, now + draw.uniform(2, 3)
                break
            if phase == "CRUISE" and now > wait_until:
                phase, rounds = "REFILL", 0
                break
        else:
            rounds += 1
            if counts_end:
                counts_end, cycle = False, cycle + 1
                born[cycle] = now
            if phase == "REFILL":
                phase, rounds = "UP", 0
            elif phase == "UP" and rounds == 3:
                phase, counts_end, wait_until = "CRUISE", True, now + draw.uniform(2, 3)
        longest = max(longest, now - born.get(cycle - 1, 0.0))
    return longest
