#include "flow/sources/mapped_range.hpp"

#include <array>
#include <csignal>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace headway::flow {

/// What the signal's handler knows of a range: nothing while `end` is 0. The thread that raises the
/// signal reads from the range, so that its place stays as it is meanwhile.
struct MappedRange::Place {
  std::atomic<std::uintptr_t> begin{0};  ///< 0: the place is free. 1: it is being filled.
  std::atomic<std::uintptr_t> end{0};
  std::atomic<std::atomic<bool>*> broken{nullptr};
};

struct MappedPlaces {
  static constexpr std::size_t count = 512;
  static std::array<MappedRange::Place, count> all;
  static struct sigaction before;

  /// Functions that a signal's handler may call, and `mmap`, which is one system call.
  static void handle(int, siginfo_t* signal, void*) {
    const auto at = reinterpret_cast<std::uintptr_t>(signal->si_addr);
    const auto page = static_cast<std::uintptr_t>(getpagesize());
    for (MappedRange::Place& place : all) {
      const std::uintptr_t end = place.end.load();
      if (place.begin.load() > at || at >= end) continue;
      void* const first = static_cast<char*>(signal->si_addr) - at % page;
      void* const zeros =
          mmap(first, end - (at - at % page), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      if (zeros == MAP_FAILED) break;
      place.broken.load()->store(true);
      return;
    }
    sigaction(SIGBUS, &before, nullptr);  // It is raised again.
  }

  /// Unless it is there: somebody may have set another one meanwhile.
  static void install() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    struct sigaction now{};
    if (sigaction(SIGBUS, nullptr, &now) == 0 && now.sa_sigaction == handle) return;
    struct sigaction action{};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGBUS, &action, &before);
  }

  /// A place that was free. Null: none is.
  static MappedRange::Place* take() {
    install();
    for (MappedRange::Place& place : all) {
      std::uintptr_t free = 0;
      if (place.begin.compare_exchange_strong(free, 1)) return &place;
    }
    return nullptr;
  }
};

std::array<MappedRange::Place, MappedPlaces::count> MappedPlaces::all;
struct sigaction MappedPlaces::before{};

std::shared_ptr<MappedRange> MappedRange::map(int fd, std::int64_t begin, std::int64_t bytes,
                                              std::shared_ptr<std::atomic<bool>> broken) {
  const std::int64_t page = getpagesize();
  const std::int64_t offset = begin % page;
  const std::int64_t size = (offset + bytes + page - 1) / page * page;
  Place* const place = MappedPlaces::take();
  if (place == nullptr) return nullptr;
  void* const pages = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_SHARED, fd, begin - offset);
  if (pages == MAP_FAILED) {
    place->begin = 0;
    return nullptr;
  }
  // The disk reads all of it at once. Pages that are in memory come by sixteen with a fault, which
  // is quicker than to map them one by one ahead.
  (void)madvise(pages, static_cast<std::size_t>(size), MADV_WILLNEED);
  place->broken = broken.get();
  place->begin = reinterpret_cast<std::uintptr_t>(pages);
  place->end = reinterpret_cast<std::uintptr_t>(pages) + static_cast<std::uintptr_t>(size);
  return std::shared_ptr<MappedRange>(
      new MappedRange(static_cast<std::uint8_t*>(pages), size, offset, bytes, place, std::move(broken)));
}

MappedRange::~MappedRange() {
  place_->end = 0;  // Before another range may get these addresses.
  munmap(pages_, static_cast<std::size_t>(size_of_pages_));
  place_->begin = 0;
}

}  // namespace headway::flow
