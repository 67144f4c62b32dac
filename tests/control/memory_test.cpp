#include "control/rig.hpp"

#include <malloc.h>

namespace headway::control {

namespace {

[[maybe_unused]] std::size_t bytes_in_use() {  // Not under a sanitizer.
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_suite)

BOOST_AUTO_TEST_CASE(a_worker_costs_the_controller_at_most_4_kib) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  BOOST_TEST_MESSAGE("a sanitizer's own allocator does not tell");
#else
  constexpr int workers = 10000;
  const std::size_t before = bytes_in_use();
  RunController controller(spec_of(workers));
  const std::vector<Slot> slots(workers, Slot{"node-a", "host-a", "10.0.0.1", 1, {}});
  (void)controller.handle(Time{}, StartAsked{});
  (void)controller.handle(Time{}, StoragePrepared{});
  (void)controller.handle(Time{}, NodesGranted{slots, {}});
  for (int rank = 0; rank < workers; ++rank) (void)controller.handle(Time{}, WorkerReady{1, rank, rank});
  (void)controller.handle(Time{}, SetupFinished{1, {}});
  // All but one wait in a report: their metrics are held.
  const JsonObject metrics{{"loss", 0.25}, {"accuracy", 0.5}, {"step", 7}};
  for (int rank = 1; rank < workers; ++rank) (void)controller.handle(Time{}, RankReported{1, rank, 0, metrics, {}});
  BOOST_TEST((controller.state() == RunState::running));
  BOOST_TEST((bytes_in_use() - before) / workers <= 4096u);
#endif
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
