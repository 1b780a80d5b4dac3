// The C++ header: a controller is a value, a mistake an exception.
//
//   c++ window.cpp $(pkg-config --cflags --libs lowtide) -o window && ./window
#include <iostream>

#include "lowtide.hpp"

int main() {
    const LowtideConfig config = lowtide::config(1200);
    lowtide::Controller cc("newreno", config);
    lowtide::Sampler sampler;

    // Ten packets leave at once; one acknowledgment covers them all 30 ms later.
    const std::uint64_t rtt = 30000000, inflight = 10 * 1200;
    std::vector<LowtideRateState> states;
    std::vector<LowtidePacket> packets;
    for (std::uint64_t n = 0; n < 10; n++) {
        states.push_back(sampler.on_packet_sent(0, 1200, 1200 * n));
        packets.push_back(LowtidePacket{n, 1200, 0, LOWTIDE_NONE});
        cc.on_packet_sent(0, n, 1200, 1200 * (n + 1), false);
    }
    for (const LowtideRateState &state : states) sampler.on_packet_acked(rtt, 1200, 0, state);
    LowtideRateSample sample;
    const bool sampled = sampler.sample(LOWTIDE_NONE, sample);
    cc.on_ack(LowtideAck{rtt, packets.data(), packets.size(), rtt, inflight, 0, sampled ? &sample : nullptr});
    std::cout << cc.snapshot().phase << ": " << config.initial_window << " -> " << cc.control().cwnd << " bytes\n";

    try {
        cc.on_wakeup(rtt - 1);
    } catch (const lowtide::Error &e) {
        std::cout << e.what() << "\n";
    }
    try {
        lowtide::Controller wrong("newrino", config);
    } catch (const lowtide::Error &e) {
        std::cout << e.what() << "\n";
    }
    lowtide::Controller moved = std::move(cc);
    return moved.control().cwnd == 2 * config.initial_window ? 0 : 1;
}
