// Lowtide's controllers for C++11 and later: owning handles, exceptions in place of statuses.
// What the calls mean, and their units, stand in lowtide.h. Apache-2.0 OR MIT.
#ifndef LOWTIDE_HPP
#define LOWTIDE_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide.h"

namespace lowtide {

/// A call was refused; `what()` says why.
class Error : public std::runtime_error {
public:
    Error(LowtideStatus status, const std::string &message)
        : std::runtime_error(message.empty() ? lowtide_status_text(status) : message), status(status) {}
    const LowtideStatus status;
};

inline void check(LowtideStatus status) {
    if (status != LOWTIDE_STATUS_OK) throw Error(status, "");
}

/// The usual configuration for packets of so many bytes.
inline LowtideConfig config(std::uint64_t max_datagram) {
    LowtideConfig usual;
    check(lowtide_config_init(&usual, max_datagram));
    return usual;
}

/// The names of all controllers, one a line.
inline std::string names() {
    std::vector<char> text(lowtide_controller_names(nullptr, 0));
    lowtide_controller_names(text.data(), text.size());
    return text.data();
}

/// The transport protocol that carries a controller's flow.
enum class Transport { Quic, Tcp };

/// A congestion controller. Moves, does not copy.
class Controller {
public:
    explicit Controller(const std::string &spec, const LowtideConfig &config,
                        Transport transport = Transport::Quic) {
        char message[512];
        LowtideController *made = nullptr;
        auto make = transport == Transport::Tcp ? lowtide_controller_new_tcp : lowtide_controller_new;
        LowtideStatus status = make(spec.c_str(), &config, &made, message, sizeof message);
        if (status != LOWTIDE_STATUS_OK) throw Error(status, message);
        handle_.reset(made);
    }
    void on_packet_sent(std::uint64_t now, std::uint64_t number, std::uint64_t bytes,
                        std::uint64_t inflight, bool app_limited) {
        check(lowtide_on_packet_sent(get(), now, number, bytes, inflight, app_limited));
    }
    void on_ack(const LowtideAck &ack) { check(lowtide_on_ack(get(), &ack)); }
    void on_loss(std::uint64_t now, const std::vector<LowtideLostPacket> &packets, std::uint64_t inflight) {
        check(lowtide_on_loss(get(), now, packets.data(), packets.size(), inflight));
    }
    void on_timeout(std::uint64_t now, LowtideTimeoutKind kind, std::uint64_t inflight) {
        check(lowtide_on_timeout(get(), now, static_cast<std::uint32_t>(kind), inflight));
    }
    void on_spurious_timeout(std::uint64_t now) { check(lowtide_on_spurious_timeout(get(), now)); }
    void on_ecn_ce(std::uint64_t now, std::uint64_t sent_at, std::uint64_t marked_packets) {
        check(lowtide_on_ecn_ce(get(), now, sent_at, marked_packets));
    }
    /// ECN bits of the packets to send: 0 none, 1 ECT(1), 2 ECT(0).
    std::uint8_t ecn() const {
        std::uint8_t bits;
        check(lowtide_ecn(get(), &bits));
        return bits;
    }
    void on_mtu_change(std::uint64_t max_datagram) { check(lowtide_on_mtu_change(get(), max_datagram)); }
    void on_feedback(std::uint64_t now, std::uint64_t carrier, std::uint64_t rate) {
        check(lowtide_on_feedback(get(), now, carrier, rate));
    }
    void on_wakeup(std::uint64_t now) { check(lowtide_on_wakeup(get(), now)); }
    LowtideControl control() const {
        LowtideControl control;
        check(lowtide_control(get(), &control));
        return control;
    }
    LowtideSnapshot snapshot() const {
        LowtideSnapshot snapshot;
        check(lowtide_snapshot(get(), &snapshot));
        return snapshot;
    }
    LowtideController *get() const { return handle_.get(); }

private:
    struct Free {
        void operator()(LowtideController *c) const { lowtide_controller_free(c); }
    };
    std::unique_ptr<LowtideController, Free> handle_;
};

/// Takes delivery-rate samples for one connection. Moves, does not copy.
class Sampler {
public:
    Sampler() {
        LowtideSampler *made = nullptr;
        check(lowtide_sampler_new(&made));
        handle_.reset(made);
    }
    LowtideRateState on_packet_sent(std::uint64_t now, std::uint64_t bytes, std::uint64_t inflight) {
        LowtideRateState state;
        check(lowtide_sampler_on_packet_sent(get(), now, bytes, inflight, &state));
        return state;
    }
    void on_packet_acked(std::uint64_t now, std::uint64_t bytes, std::uint64_t sent_at,
                         const LowtideRateState &state) {
        check(lowtide_sampler_on_packet_acked(get(), now, bytes, sent_at, &state));
    }
    /// What LowtideLostPacket's `lost` is to be.
    std::uint64_t on_packet_lost(std::uint64_t bytes, const LowtideRateState &state) {
        std::uint64_t lost;
        check(lowtide_sampler_on_packet_lost(get(), bytes, &state, &lost));
        return lost;
    }
    void on_app_limited(std::uint64_t inflight) { check(lowtide_sampler_on_app_limited(get(), inflight)); }
    bool is_app_limited() const { return lowtide_sampler_is_app_limited(get()); }
    /// Whether there is a sample; it is then in `out`.
    bool sample(std::uint64_t min_rtt, LowtideRateSample &out) {
        LowtideStatus status = lowtide_sampler_sample(get(), min_rtt, &out);
        if (status == LOWTIDE_STATUS_NO_SAMPLE) return false;
        check(status);
        return true;
    }
    LowtideSampler *get() const { return handle_.get(); }

private:
    struct Free {
        void operator()(LowtideSampler *s) const { lowtide_sampler_free(s); }
    };
    std::unique_ptr<LowtideSampler, Free> handle_;
};

/// The estimator at a receiver that the controller works with; `works()` is false where it needs
/// none. Moves, does not copy.
class Receiver {
public:
    explicit Receiver(const std::string &spec) {
        char message[512];
        LowtideReceiver *made = nullptr;
        LowtideStatus status = lowtide_receiver_new(spec.c_str(), &made, message, sizeof message);
        if (status != LOWTIDE_STATUS_OK) throw Error(status, message);
        handle_.reset(made);
    }
    bool works() const { return handle_ != nullptr; }
    void on_packet(std::uint64_t now, std::uint64_t bytes, LowtidePeerSignal signal) {
        check(lowtide_receiver_on_packet(get(), now, bytes, static_cast<std::uint32_t>(signal)));
    }
    /// The estimate that the acknowledgment should carry, or LOWTIDE_NONE.
    std::uint64_t feedback_for_ack(std::uint64_t now) {
        std::uint64_t rate;
        check(lowtide_receiver_feedback_for_ack(get(), now, &rate));
        return rate;
    }
    LowtideReceiver *get() const { return handle_.get(); }

private:
    struct Free {
        void operator()(LowtideReceiver *r) const { lowtide_receiver_free(r); }
    };
    std::unique_ptr<LowtideReceiver, Free> handle_;
};

}  // namespace lowtide

#endif
