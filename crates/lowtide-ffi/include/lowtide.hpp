// Lowtide's controllers for C++11 and later: owning handles, exceptions in place of statuses.
// What the calls mean, and their units, stand in lowtide.h and lowtide_extra.h. Apache-2.0 OR MIT.
#ifndef LOWTIDE_HPP
#define LOWTIDE_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide_extra.h"

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

/// The names of all controllers, one a line.
inline std::string names() {
    std::vector<char> text(lowtide_names(nullptr, 0));
    lowtide_names(text.data(), text.size());
    return text.data();
}

/// The congestion control of one flow. Moves, does not copy.
class Flow {
public:
    explicit Flow(const std::string &spec, const LowtideConfig &config) {
        char message[512];
        LowtideFlow *made = nullptr;
        LowtideStatus status = lowtide_flow_new(spec.c_str(), &config, &made, message, sizeof message);
        if (status != LOWTIDE_STATUS_OK) throw Error(status, message);
        handle_.reset(made);
    }
    void sent(std::uint64_t now, std::uint64_t number, std::uint64_t bytes) {
        told(lowtide_flow_sent(get(), now, number, bytes));
    }
    void acked(std::uint64_t number, std::uint64_t sent_at = LOWTIDE_NONE, std::uint64_t received_at = LOWTIDE_NONE) {
        told(lowtide_flow_acked_at(get(), number, sent_at, received_at));
    }
    void lost(std::uint64_t number) { told(lowtide_flow_lost(get(), number)); }
    void discarded(std::uint64_t number) { told(lowtide_flow_discarded(get(), number)); }
    void marked(std::uint64_t packets) { told(lowtide_flow_marked(get(), packets)); }
    void timeout(LowtideTimeoutKind kind) { told(lowtide_flow_timeout(get(), static_cast<std::uint32_t>(kind))); }
    void spurious_timeout() { told(lowtide_flow_spurious_timeout(get())); }
    void settle(std::uint64_t now, std::uint64_t rtt = LOWTIDE_NONE) { told(lowtide_flow_settle(get(), now, rtt)); }
    void wakeup(std::uint64_t now) { told(lowtide_flow_wakeup(get(), now)); }
    void app_limited() { told(lowtide_flow_app_limited(get())); }
    void mtu(std::uint64_t max_datagram) { told(lowtide_flow_mtu(get(), max_datagram)); }
    void feedback(std::uint64_t now, std::uint64_t carrier, std::uint64_t rate) {
        told(lowtide_flow_feedback(get(), now, carrier, rate));
    }
    LowtideControl control() const {
        LowtideControl control;
        check(lowtide_flow_control(get(), &control));
        return control;
    }
    LowtideSnapshot snapshot() const {
        LowtideSnapshot snapshot;
        check(lowtide_flow_snapshot(get(), &snapshot));
        return snapshot;
    }
    /// What the host of a checked flow did against the contract, a sentence a line.
    std::string breaches() const {
        std::vector<char> text(lowtide_flow_breaches(get(), nullptr, 0));
        lowtide_flow_breaches(get(), text.data(), text.size());
        return text.data();
    }
    LowtideFlow *get() const { return handle_.get(); }

private:
    void told(LowtideStatus status) const {
        if (status == LOWTIDE_STATUS_BROKE_CONTRACT) throw Error(status, breaches());
        check(status);
    }
    struct Free {
        void operator()(LowtideFlow *f) const { lowtide_flow_free(f); }
    };
    std::unique_ptr<LowtideFlow, Free> handle_;
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
