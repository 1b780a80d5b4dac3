// Lowtide under ns-3. Apache-2.0 OR MIT.
#include "scenario.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace
{

struct Unit
{
    const char* name;
    double factor;
};

// The units of lowtide's crates/lowtide-sim/src/trace/quantity.rs.
const std::vector<Unit> RATE = {{"bit", 0.125}, {"kbit", 125.0}, {"mbit", 125e3}, {"gbit", 125e6},
                                {"B/s", 1.0}, {"kB/s", 1e3}, {"MB/s", 1e6}};
const std::vector<Unit> TIME = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}};
const std::vector<Unit> VOLUME = {{"B", 1.0}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
                                  {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
const std::vector<Unit> SHARE = {{"%", 0.01}};
const std::vector<Unit> COUNT = {{"", 1.0}};

bool
Read(const std::string& text, const std::vector<Unit>& units, double& value)
{
    size_t digits = 0;
    double number;
    try
    {
        number = std::stod(text, &digits);
    }
    catch (const std::exception&)
    {
        return false;
    }
    const std::string unit = text.substr(digits);
    for (const auto& u : units)
    {
        if (unit == u.name && std::isfinite(number) && number >= 0.0)
        {
            value = number * u.factor;
            return true;
        }
    }
    return false;
}

double
Need(const std::string& flag, const std::string& text, const std::vector<Unit>& units)
{
    double value = 0.0;
    if (!Read(text, units, value))
    {
        std::string known;
        for (const auto& u : units)
        {
            known += std::string(known.empty() ? "" : ", ") + u.name;
        }
        throw std::runtime_error(flag + ": '" + text + "' does not fit; units: " + known);
    }
    return value;
}

} // namespace

const char*
Scenario::Help()
{
    return "usage: lowtide-ns3 [--cc NAME]... (--rate 20mbit | --trace FILE) [--rtt 40ms]\n"
           "  [--queue codel|fq_codel|pie|pie:max_burst=0s] [--buffer 2bdp|100p|64kB|50ms|inf] [--loss 0.1%]\n"
           "  [--flows N] [--stagger 1s]\n"
           "  [--packet-size 1500B] [--opportunity 1504B] [--duration 30s] [--seed N]\n"
           "  [--transport tcp] [--json]\n"
           "  [--min-rto 200ms] [--no-repair] [--log FILE]\n"
           "\n"
           "As 'lowtide compare --transport tcp --json', in ns-3. NAME is one of Lowtide's\n"
           "controllers, or an algorithm of ns-3 as ns3:TcpBbr. --no-repair leaves\n"
           "ns-3's TCP as it is; --log writes a line for each packet event.\n";
}

Scenario
Scenario::Parse(int argc, char** argv)
{
    Scenario s;
    std::vector<std::string> controllers;
    for (int n = 1; n < argc; n++)
    {
        const std::string flag = argv[n];
        if (flag == "--json")
        {
            continue;
        }
        if (flag == "--no-repair")
        {
            s.repair = false;
            continue;
        }
        if (n + 1 >= argc)
        {
            throw std::runtime_error(flag + ": unknown, or its value is missing; --help lists all");
        }
        const std::string value = argv[++n];
        if (flag == "--cc")
        {
            controllers.push_back(value);
        }
        else if (flag == "--trace")
        {
            s.trace = value;
        }
        else if (flag == "--rate")
        {
            s.rate = Need(flag, value, RATE);
        }
        else if (flag == "--opportunity")
        {
            s.opportunity = static_cast<uint32_t>(Need(flag, value, VOLUME));
        }
        else if (flag == "--rtt")
        {
            s.rtt = static_cast<int64_t>(Need(flag, value, TIME));
        }
        else if (flag == "--buffer")
        {
            s.buffer = value;
        }
        else if (flag == "--queue")
        {
            s.queue = value;
        }
        else if (flag == "--loss")
        {
            s.loss = Need(flag, value, SHARE);
        }
        else if (flag == "--flows")
        {
            s.flows = static_cast<uint64_t>(Need(flag, value, COUNT));
        }
        else if (flag == "--stagger")
        {
            s.stagger = static_cast<int64_t>(Need(flag, value, TIME));
        }
        else if (flag == "--packet-size")
        {
            s.packetSize = static_cast<uint32_t>(Need(flag, value, VOLUME));
        }
        else if (flag == "--duration")
        {
            s.duration = static_cast<int64_t>(Need(flag, value, TIME));
        }
        else if (flag == "--seed")
        {
            s.seed = static_cast<uint64_t>(Need(flag, value, COUNT));
        }
        else if (flag == "--min-rto")
        {
            s.minRto = static_cast<int64_t>(Need(flag, value, TIME));
        }
        else if (flag == "--log")
        {
            s.log = value;
        }
        else if (flag == "--transport")
        {
            if (value != "tcp")
            {
                throw std::runtime_error("--transport: ns-3 has tcp only");
            }
        }
        else
        {
            throw std::runtime_error(flag + ": unknown; --help lists all");
        }
    }
    if (!controllers.empty())
    {
        s.controllers = controllers;
    }
    if (s.trace.empty() == (s.rate == 0.0))
    {
        throw std::runtime_error("one of --rate and --trace is needed");
    }
    const size_t digits = s.buffer.find_first_not_of("0123456789");
    if (!s.queue.empty() && (digits == 0 || s.buffer.substr(std::min(digits, s.buffer.size())) != "p"))
    {
        throw std::runtime_error("--queue: needs a --buffer in packets, as ns-3's disciplines count them");
    }
    if (s.flows < 1 || s.flows > 10000)
    {
        throw std::runtime_error("--flows: 1 to 10000");
    }
    if (s.packetSize < 100 || s.packetSize > 65535)
    {
        throw std::runtime_error("--packet-size: 100B to 65535B");
    }
    if (s.opportunity < 1)
    {
        throw std::runtime_error("--opportunity: at least 1B");
    }
    return s;
}

void
ParseLimit(const std::string& text, double rate, int64_t rtt, uint64_t& packets, uint64_t& bytes)
{
    packets = UINT64_MAX;
    bytes = UINT64_MAX;
    double value = 0.0;
    if (text == "inf")
    {
        return;
    }
    if (Read(text, {{"bdp", 1.0}}, value))
    {
        bytes = static_cast<uint64_t>(value * rate * rtt / 1e9);
    }
    else if (Read(text, {{"p", 1.0}}, value))
    {
        packets = static_cast<uint64_t>(value);
    }
    else if (Read(text, TIME, value))
    {
        bytes = static_cast<uint64_t>(rate * value / 1e9);
    }
    else if (Read(text, VOLUME, value))
    {
        bytes = static_cast<uint64_t>(value);
    }
    else
    {
        throw std::runtime_error("--buffer: '" + text + "' is none of 2bdp, 100p, 64kB, 50ms, inf");
    }
}
