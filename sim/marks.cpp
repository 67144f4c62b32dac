#include "sim/marks.hpp"

#include <boost/describe.hpp>
#include <boost/mp11.hpp>

#include <array>
#include <atomic>

namespace headway {
namespace {

using Marks = boost::describe::describe_enumerators<control::Mark>;

std::array<std::atomic<std::uint64_t>, boost::mp11::mp_size<Marks>::value> counts{};

void count(control::Mark mark) { counts[static_cast<std::size_t>(mark)].fetch_add(1, std::memory_order_relaxed); }

// From the program's start on.
[[maybe_unused]] const auto counting = control::on_mark = count;

}  // namespace

std::map<std::string, std::uint64_t> sim::marks_reached() {
  std::map<std::string, std::uint64_t> reached;
  boost::mp11::mp_for_each<Marks>(
      [&](const auto& mark) { reached[mark.name] = counts[static_cast<std::size_t>(mark.value)]; });
  return reached;
}

std::vector<std::string> sim::marks_missed() {
  std::vector<std::string> missed;
  for (const auto& [name, count] : marks_reached()) {
    if (count == 0) missed.push_back(name);
  }
  return missed;
}

}  // namespace headway
