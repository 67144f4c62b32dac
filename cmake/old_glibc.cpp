/// Functions of newer C libraries, for what is linked for glibc 2.28 (scripts/old_glibc.sh):
/// compiled code, and libstdc++'s archive, call them, as they were compiled with the headers of a
/// newer one.
#include <dirent.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

extern "C" {

/// 2.32. False is always right: it is what a program with threads sees.
char __libc_single_threaded = 0;  // NOLINT(bugprone-reserved-identifier): the name is the C library's.

/// 2.34. Kernels before 5.9 do not have it either: then the descriptors are those that /proc lists.
int close_range(unsigned first, unsigned last, int flags) {
  const int done = static_cast<int>(syscall(SYS_close_range, first, last, flags));
  if (done == 0 || errno != ENOSYS) return done;
  DIR* const open = opendir("/proc/self/fd");
  if (open == nullptr) return -1;
  const unsigned listing = static_cast<unsigned>(dirfd(open));
  while (const dirent* entry = readdir(open)) {
    unsigned fd = 0;
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    const auto [stop, failure] = std::from_chars(entry->d_name, end, fd);
    if (failure == std::errc() && stop == end && fd >= first && fd <= last && fd != listing)
      close(static_cast<int>(fd));
  }
  return closedir(open);
}

/// 2.36. What std::random_device asks; the system's own source.
std::uint32_t arc4random() {
  std::uint32_t number = 0;
  while (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
  }
  return number;
}

/// 2.30. The time that is left on the other clock is counted on the system's. Who waits asks its
/// clock again.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  timespec now{};
  timespec system{};
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &system) != 0) return errno;
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t left = (until->tv_sec - now.tv_sec) * second + until->tv_nsec - now.tv_nsec;
  if (left <= 0) return ETIMEDOUT;
  const std::int64_t end = system.tv_nsec + left;
  system.tv_sec += static_cast<time_t>(end / second);
  system.tv_nsec = static_cast<long>(end % second);
  return pthread_cond_timedwait(condition, mutex, &system);
}

/// 2.32. Signals that end a process.
const char* sigabbrev_np(int signal) {
  switch (signal) {
    case SIGHUP: return "HUP";
    case SIGINT: return "INT";
    case SIGQUIT: return "QUIT";
    case SIGILL: return "ILL";
    case SIGTRAP: return "TRAP";
    case SIGABRT: return "ABRT";
    case SIGBUS: return "BUS";
    case SIGFPE: return "FPE";
    case SIGKILL: return "KILL";
    case SIGUSR1: return "USR1";
    case SIGSEGV: return "SEGV";
    case SIGUSR2: return "USR2";
    case SIGPIPE: return "PIPE";
    case SIGALRM: return "ALRM";
    case SIGTERM: return "TERM";
    case SIGXCPU: return "XCPU";
    case SIGXFSZ: return "XFSZ";
    case SIGSYS: return "SYS";
    default: return nullptr;
  }
}
}
