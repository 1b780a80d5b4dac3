// Lowtide under ns-3. Apache-2.0 OR MIT.
#include "link-service.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace
{

constexpr int64_t NANOS_PER_MS = 1000000;
constexpr double NANOS_PER_SECOND = 1e9;

/// Opportunities of so many bytes at milliseconds of a round that repeats.
class Opportunities : public LinkService
{
  public:
    Opportunities(std::vector<int64_t> times, uint32_t size)
        : m_times(std::move(times)),
          m_size(size)
    {
    }

    int64_t Serve(int64_t now, uint32_t bytes, bool backlogged) override
    {
        if (!backlogged)
        {
            m_left = 0;
            // It serves packets that came before it, not at the same instant.
            m_next = std::max(m_next, CountUntil(now));
        }
        if (m_left >= bytes)
        {
            m_left -= bytes;
            return now;
        }
        const int64_t missing = bytes - m_left;
        const int64_t needed = (missing + m_size - 1) / m_size;
        m_next += needed;
        m_left = needed * m_size - missing;
        return TimeOf(m_next - 1);
    }

    double VolumeBetween(int64_t from, int64_t to) const override
    {
        return static_cast<double>(CountUntil(to) - CountUntil(from)) * m_size;
    }

    double MeanRate() const override
    {
        return m_times.size() * m_size * NANOS_PER_SECOND / Length();
    }

    int64_t Length() const override { return m_times.back() * NANOS_PER_MS; }

  private:
    int64_t TimeOf(int64_t n) const
    {
        const int64_t count = m_times.size();
        return (n / count * m_times.back() + m_times[n % count]) * NANOS_PER_MS;
    }

    int64_t CountUntil(int64_t t) const
    {
        const int64_t ms = t / NANOS_PER_MS;
        const int64_t round = ms / m_times.back();
        const int64_t within = ms % m_times.back();
        const auto end = std::upper_bound(m_times.begin(), m_times.end(), within);
        return round * static_cast<int64_t>(m_times.size()) + (end - m_times.begin());
    }

    std::vector<int64_t> m_times; //!< ms, not decreasing; the last is the length of a round
    int64_t m_size;
    int64_t m_next{0}; //!< first unused opportunity
    int64_t m_left{0}; //!< bytes left of the one before
};

/// A fluid of piecewise constant rate that repeats; the last rate of a single step stays.
class Rates : public LinkService
{
  public:
    struct Step
    {
        double from; //!< ns
        double rate; //!< bytes per ns
    };

    /// `length` in ns; 0: the last step stays for ever.
    Rates(std::vector<Step> steps, double length)
        : m_steps(std::move(steps)),
          m_length(length)
    {
    }

    int64_t Serve(int64_t now, uint32_t bytes, bool backlogged) override
    {
        // Exact ends of service are kept, so that a busy link carries exactly its rate.
        double t = backlogged ? m_exact : static_cast<double>(now);
        double left = bytes;
        if (MeanRate() <= 0.0)
        {
            return NEVER;
        }
        for (;;)
        {
            double end;
            const double rate = RateAt(t, end);
            const double most = std::isinf(end) ? left : (end - t) * rate;
            if (rate > 0.0 && most >= left)
            {
                m_exact = t + left / rate;
                return std::max(now, static_cast<int64_t>(std::ceil(m_exact - 1e-6)));
            }
            left -= most;
            t = end;
        }
    }

    double VolumeBetween(int64_t from, int64_t to) const override
    {
        double sum = 0.0;
        double t = from;
        while (t < to)
        {
            double end;
            const double rate = RateAt(t, end);
            end = std::min(end, static_cast<double>(to));
            sum += rate * (end - t);
            t = end;
        }
        return sum;
    }

    double MeanRate() const override
    {
        if (m_length == 0.0)
        {
            return m_steps.back().rate * NANOS_PER_SECOND;
        }
        double sum = 0.0;
        for (size_t n = 0; n < m_steps.size(); n++)
        {
            const double end = n + 1 < m_steps.size() ? m_steps[n + 1].from : m_length;
            sum += m_steps[n].rate * (end - m_steps[n].from);
        }
        return sum / m_length * NANOS_PER_SECOND;
    }

    int64_t Length() const override { return static_cast<int64_t>(m_length); }

  private:
    /// The rate at `t`, and until when it holds.
    double RateAt(double t, double& end) const
    {
        const double round = m_length > 0.0 ? std::floor(t / m_length) : 0.0;
        const double within = t - round * m_length;
        auto next = std::upper_bound(m_steps.begin(),
                                     m_steps.end(),
                                     within,
                                     [](double x, const Step& s) { return x < s.from; });
        if (next != m_steps.end())
        {
            end = round * m_length + next->from;
        }
        else
        {
            end = m_length > 0.0 ? (round + 1.0) * m_length : INFINITY;
        }
        return std::prev(next)->rate;
    }

    std::vector<Step> m_steps;
    double m_length;
    double m_exact{0.0};
};

class Later : public LinkService
{
  public:
    Later(int64_t start, std::unique_ptr<LinkService> service)
        : m_start(start),
          m_service(std::move(service))
    {
    }

    int64_t Serve(int64_t now, uint32_t bytes, bool backlogged) override
    {
        if (now < m_start)
        {
            return now;
        }
        const int64_t end = m_service->Serve(now - m_start, bytes, backlogged);
        return end == NEVER ? NEVER : m_start + end;
    }

    double VolumeBetween(int64_t from, int64_t to) const override
    {
        return m_service->VolumeBetween(std::max(from - m_start, int64_t{0}),
                                        std::max(to - m_start, int64_t{0}));
    }

    double MeanRate() const override { return m_service->MeanRate(); }

    int64_t Length() const override { return m_service->Length(); }

  private:
    int64_t m_start;
    std::unique_ptr<LinkService> m_service;
};

[[noreturn]] void
Refuse(const std::string& path, size_t line, const std::string& why)
{
    throw std::runtime_error(path + ", line " + std::to_string(line) + ": " + why);
}

std::unique_ptr<LinkService>
ReadOpportunities(std::istream& in, const std::string& path, uint32_t size)
{
    std::vector<int64_t> times;
    std::string text;
    for (size_t line = 1; std::getline(in, text); line++)
    {
        std::istringstream words(text);
        int64_t ms;
        std::string rest;
        if (!(words >> ms) || words >> rest || ms < 0)
        {
            Refuse(path, line, "no millisecond");
        }
        if (!times.empty() && ms < times.back())
        {
            Refuse(path, line, "earlier than the line before");
        }
        times.push_back(ms);
    }
    if (times.empty() || times.back() == 0)
    {
        Refuse(path, times.size(), "no opportunity after time zero");
    }
    return std::make_unique<Opportunities>(std::move(times), size);
}

std::unique_ptr<LinkService>
ReadSeries(std::istream& in, const std::string& path)
{
    std::vector<Rates::Step> steps;
    double perTime = 0.0;
    double perRate = 0.0;
    std::string text;
    for (size_t line = 1; std::getline(in, text); line++)
    {
        text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
        if (text.empty() || text[0] == '#')
        {
            continue;
        }
        const size_t comma = text.find(',');
        if (comma == std::string::npos)
        {
            Refuse(path, line, "no comma");
        }
        const std::string first = text.substr(0, comma);
        const std::string second = text.substr(comma + 1);
        if (perTime == 0.0)
        {
            perTime = first == "time_s" ? 1e9 : first == "time_ms" ? 1e6 : first == "time_us" ? 1e3 : 0.0;
            const double bits = second == "rate_bps"    ? 1.0
                                : second == "rate_kbps" ? 1e3
                                : second == "rate_mbps" ? 1e6
                                : second == "rate_gbps" ? 1e9
                                                        : 0.0;
            perRate = bits / 8.0 / NANOS_PER_SECOND;
            if (perTime == 0.0 || perRate == 0.0)
            {
                Refuse(path, line, "no header such as time_s,rate_mbps");
            }
            continue;
        }
        try
        {
            steps.push_back({std::stod(first) * perTime, std::stod(second) * perRate});
        }
        catch (const std::exception&)
        {
            Refuse(path, line, "no time and rate");
        }
    }
    if (steps.size() < 2 || steps[0].from != 0.0)
    {
        Refuse(path, 1, "a series starts at 0 and has at least two steps");
    }
    // The last value lasts as long as the one before it.
    const size_t n = steps.size();
    const double length = 2.0 * steps[n - 1].from - steps[n - 2].from;
    return std::make_unique<Rates>(std::move(steps), length);
}

} // namespace

std::unique_ptr<LinkService>
LinkService::Constant(double bytesPerSecond)
{
    return std::make_unique<Rates>(std::vector<Rates::Step>{{0.0, bytesPerSecond / NANOS_PER_SECOND}},
                                   0.0);
}

std::unique_ptr<LinkService>
LinkService::FromFile(const std::string& path, uint32_t opportunity)
{
    std::ifstream in(path);
    if (!in)
    {
        throw std::runtime_error(path + ": cannot be read");
    }
    const std::string suffix = ".csv";
    const bool series = path.size() > suffix.size() &&
                        path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
    return series ? ReadSeries(in, path) : ReadOpportunities(in, path, opportunity);
}

std::unique_ptr<LinkService>
LinkService::StartingAt(int64_t start, std::unique_ptr<LinkService> service)
{
    return std::make_unique<Later>(start, std::move(service));
}
