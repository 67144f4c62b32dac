#include "data/credits.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headway::data {

int Credits::open_stream(std::int64_t floor_bytes) {
  streams_[next_stream_].floor = std::min(floor_bytes, budget_);
  return next_stream_++;
}

void Credits::close_stream(int stream) {
  used_ -= streams_.at(stream).used;
  streams_.erase(stream);
  std::erase_if(tickets_, [stream](const auto& each) { return each.second.stream == stream; });
}

std::int64_t Credits::estimate(const Need& need) const {
  const double decoded = static_cast<double>(need.decoded_bytes) * streams_.at(need.stream).factor;
  return static_cast<std::int64_t>(std::ceil(decoded * peak_per_decoded)) + need.compressed_bytes;
}

/// What the other streams' floors still need.
std::int64_t Credits::left_to_others(int stream) const {
  std::int64_t left = 0;
  for (const auto& [id, other] : streams_) {
    if (id != stream) left += std::max<std::int64_t>(other.floor - other.used, 0);
  }
  return left;
}

std::optional<Grant> Credits::start(const Need& need) {
  Stream& stream = streams_.at(need.stream);
  const std::int64_t bytes = estimate(need);
  const bool fits = used_ + bytes + left_to_others(need.stream) <= budget_;
  const bool is_below_floor = stream.used + bytes <= stream.floor && used_ + bytes <= budget_;
  if (!fits && !is_below_floor && (!need.is_needed_now || stream.reading > 0)) return {};
  Ticket ticket{need.stream, 0, need.decoded_bytes, true};
  ++stream.reading;
  change(ticket, bytes);
  tickets_[next_ticket_] = ticket;
  return Grant{next_ticket_++, bytes, std::max<std::int64_t>(used_ - budget_, 0)};
}

void Credits::change(Ticket& ticket, std::int64_t bytes) {
  used_ += bytes - ticket.bytes;
  streams_.at(ticket.stream).used += bytes - ticket.bytes;
  ticket.bytes = bytes;
  peak_ = std::max(peak_, used_);
}

void Credits::hold(std::uint64_t ticket, std::int64_t bytes) {
  constexpr double weight_of_newest = 0.25;
  Ticket& held = tickets_.at(ticket);
  Stream& stream = streams_.at(held.stream);
  if (held.is_reading) --stream.reading;
  if (held.promised > 0) {
    const double factor = static_cast<double>(bytes) / static_cast<double>(held.promised);
    // A larger unit counts at once: credit that is too small overdraws the budget.
    stream.factor = std::max(factor, stream.factor + (factor - stream.factor) * weight_of_newest);
  }
  held.is_reading = false;
  change(held, bytes);
}

void Credits::release(std::uint64_t ticket) {
  Ticket& held = tickets_.at(ticket);
  if (held.is_reading) --streams_.at(held.stream).reading;
  change(held, 0);
  tickets_.erase(ticket);
}

bool Credits::is_before(const Need& a, const Need& b) const {
  const auto key = [this](const Need& need) {
    return std::tuple(!need.is_needed_now, streams_.at(need.stream).used, need.stream);
  };
  return key(a) < key(b);
}

}  // namespace headway::data
