#include "library/program_run.hpp"

#include <headway/data.hpp>

#include <climits>
#include <sys/inotify.h>

/// The next epoch of an iterator is begun while the last rows of the one before are used.
namespace headway::library {
namespace {

/// Counts how often files of a folder are opened, by any process.
class Opened {
 public:
  explicit Opened(const std::string& path) : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    BOOST_REQUIRE(inotify_add_watch(fd_, path.c_str(), IN_OPEN) >= 0);
  }
  ~Opened() { close(fd_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  int so_far() {
    alignas(inotify_event) std::array<char, 64 * (sizeof(inotify_event) + NAME_MAX + 1)> events{};
    ssize_t bytes = 0;
    while ((bytes = read(fd_, events.data(), events.size())) > 0) {
      for (ssize_t at = 0; at < bytes;) {
        const auto* event = reinterpret_cast<const inotify_event*>(&events.at(static_cast<std::size_t>(at)));
        if (event->len > 0 && std::string(event->name).ends_with(".parquet")) ++count_;
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
    return count_;
  }
  /// A hang ends the test.
  void wait_for_more_than(int count) {
    while (so_far() <= count) {
      pollfd watch{fd_, POLLIN, 0};
      BOOST_REQUIRE(poll(&watch, 1, 60'000) == 1);
    }
  }

 private:
  int fd_;
  int count_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(ahead_suite)

BOOST_AUTO_TEST_CASE(from_the_second_epoch_on_the_next_one_is_opened_while_the_last_batch_is_used) {
  const Folder folder;
  data::range(1000).write_parquet(folder.path() + "/ids", {.max_rows_per_file = 200});
  const data::DataIterator iterator = data::read_parquet(folder.path() + "/ids").iterator();
  Opened opened(folder.path() + "/ids");
  const data::Epochs epochs = iterator.batches({.batch_size = 100});
  int each = 0;
  for (int number = 1; number <= 4; ++number) {
    std::int64_t rows = 0;
    for (const data::Batch& batch : epochs) {
      BOOST_TEST(batch["id"].as<std::int64_t>()[0] == rows);
      rows += batch.rows();
      // This epoch's files and those of the epochs before were opened; then one more is.
      if (rows == 1000 && number > 1) opened.wait_for_more_than(number * each);
    }
    BOOST_TEST(rows == 1000);
    if (number == 1) each = opened.so_far();
    BOOST_TEST(each > 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
