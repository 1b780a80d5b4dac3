// The C++ header: a flow is a value, a mistake an exception.
//
//   c++ window.cpp $(pkg-config --cflags --libs lowtide) -o window && ./window
#include <iostream>

#include "lowtide.hpp"

int main() {
    LowtideConfig config = LowtideConfig();
    config.max_datagram = 1200;
    config.checked = 1;
    lowtide::Flow flow("newreno", config);
    const std::uint64_t initial = flow.control().cwnd;

    // Ten packets leave at once; one acknowledgment covers them all 30 ms later.
    const std::uint64_t rtt = 30000000;
    for (std::uint64_t n = 0; n < 10; n++) flow.sent(0, n, 1200);
    for (std::uint64_t n = 0; n < 10; n++) flow.acked(n);
    flow.settle(rtt, rtt);
    std::cout << flow.snapshot().phase << ": " << initial << " -> " << flow.control().cwnd << " bytes\n";

    try {
        flow.settle(rtt - 1);
    } catch (const lowtide::Error &e) {
        std::cout << e.what() << "\n";
    }
    try {
        lowtide::Flow wrong("newrino", config);
    } catch (const lowtide::Error &e) {
        std::cout << e.what() << "\n";
    }
    // No acknowledgment takes longer than since the packet left.
    try {
        flow.sent(rtt, 10, 1200);
        flow.acked(10);
        flow.settle(2 * rtt, 3 * rtt);
    } catch (const lowtide::Error &e) {
        std::cout << e.what() << "\n";
    }
    lowtide::Flow moved = std::move(flow);
    return moved.control().inflight == 0 ? 0 : 1;
}
