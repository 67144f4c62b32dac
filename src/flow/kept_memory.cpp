#include "flow/kept_memory.hpp"

#include "wire/fd.hpp"

#include <array>
#include <charconv>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace headway::flow {
namespace {

/// So many bytes are allocated between two looks.
constexpr std::int64_t look_each = std::int64_t{16} << 20;
/// Less is not worth giving back: the pages would be faulted in again.
constexpr std::int64_t kept_min = std::int64_t{32} << 20;

/// Anonymous memory of this process that is resident; 0: not known.
std::int64_t resident_bytes() {
  static const wire::Fd file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text{};
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  if (size <= 0) return 0;
  // All pages of addresses, those that are resident, and of these what files and others share.
  std::array<std::int64_t, 3> pages{};
  const char* at = text.data();
  const char* const end = at + size;
  for (std::int64_t& count : pages) {
    const auto [after, error] = std::from_chars(at, end, count);
    if (error != std::errc() || after == end) return 0;
    at = after + 1;
  }
  return (pages[1] - pages[2]) * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

void KeptMemory::before(std::int64_t size) {
  const std::int64_t most = most_;
  if (most == 0 || since_look_.fetch_add(size) + size < look_each) return;
  since_look_ = 0;
  const std::int64_t resident = resident_bytes();
  if (resident > most && resident - pool_->bytes_allocated() > kept_min) pool_->ReleaseUnused();
}

}  // namespace headway::flow
