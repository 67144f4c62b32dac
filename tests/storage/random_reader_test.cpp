#include "storage/random_reader.hpp"

#include "storage/faulty_files.hpp"

#include <atomic>
#include <thread>

/// Parts of files, on local and on remote storage.
namespace headway::storage {

namespace {

/// A file of 256 bytes, 0, 1, 2 …, and both ways to it.
struct Parts : Scratch {
  Parts() { write("run/file", whole); }

  static std::string all() {
    std::string bytes(256, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
    return bytes;
  }
  static std::string read(const RandomReader& reader, std::uint64_t offset, std::size_t size) {
    std::string buffer(size, 'x');
    const std::size_t got = must(reader.read_at(offset, std::as_writable_bytes(std::span(buffer))));
    return buffer.substr(0, got);
  }
  Remote remote(const std::string& path = "file") const { return {Store(files, {}, patience), path}; }

  std::string whole = all();
  std::shared_ptr<FaultyFiles> files = std::make_shared<FaultyFiles>(std::make_shared<DirectoryFiles>(run));
  std::shared_ptr<CountedPatience> patience = std::make_shared<CountedPatience>();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(random_reader_suite, Parts)

BOOST_AUTO_TEST_CASE(any_part_of_a_file_can_be_read_up_to_its_end) {
  for (const bool local : {true, false}) {
    const RandomReader reader = must(local ? RandomReader::open(run + "/file") : RandomReader::open(remote()));
    BOOST_TEST(reader.size() == 256U);
    BOOST_TEST(read(reader, 0, 256) == whole);
    BOOST_TEST(read(reader, 100, 7) == whole.substr(100, 7));
    BOOST_TEST(read(reader, 250, 100) == whole.substr(250));
    BOOST_TEST(read(reader, 256, 1) == "");
    BOOST_TEST(read(reader, std::uint64_t{1} << 63, 1) == "");
    BOOST_TEST(read(reader, 3, 0) == "");
  }
}

BOOST_AUTO_TEST_CASE(many_threads_read_one_file_at_once) {
  for (const bool local : {true, false}) {
    const RandomReader reader = must(local ? RandomReader::open(run + "/file") : RandomReader::open(remote()));
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (std::size_t start = 0; start < 8; ++start) {
      threads.emplace_back([&, start] {
        for (std::size_t offset = start; offset < 200; offset += 8) {
          std::string buffer(56, '\0');
          const auto got = reader.read_at(offset, std::as_writable_bytes(std::span(buffer)));
          if (got && *got == 56 && buffer == whole.substr(offset, 56)) ++right;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    BOOST_TEST(right == 200);
  }
}

BOOST_AUTO_TEST_CASE(a_read_that_fails_for_now_is_tried_again_on_a_file_that_is_opened_anew) {
  const RandomReader reader = must(RandomReader::open(remote()));
  files->break_on("read", "file", Fault::network, 2);
  BOOST_TEST(read(reader, 10, 20) == whole.substr(10, 20));
  BOOST_TEST(files->calls("read") == 3);
  BOOST_TEST(files->calls("open") == 3);
  files->break_on("read", "file", Fault::short_read, 1);
  BOOST_TEST(read(reader, 10, 20) == whole.substr(10, 20));
}

BOOST_AUTO_TEST_CASE(errors_say_what_was_tried_and_where) {
  std::string buffer(8, '\0');
  const auto bytes = std::as_writable_bytes(std::span(buffer));
  BOOST_TEST((RandomReader::open(run + "/none").error().kind == ErrorKind::not_found));
  BOOST_TEST((RandomReader::open(run).error().kind == ErrorKind::invalid_argument));
  BOOST_TEST((RandomReader::open(remote("none")).error().kind == ErrorKind::not_found));
  BOOST_TEST(RandomReader::open(remote("none")).error().message == "cannot open test://none: there is nothing");
  fs::create_directory(run + "/directory");
  BOOST_TEST((RandomReader::open(remote("directory")).error().kind == ErrorKind::invalid_argument));
  const RandomReader reader = must(RandomReader::open(remote()));
  files->break_on("read", "file", Fault::denied);
  const auto denied = reader.read_at(0, bytes);
  BOOST_TEST((denied.error().kind == ErrorKind::refused));
  BOOST_TEST(denied.error().message == "cannot read test://file: access denied");
}

BOOST_AUTO_TEST_CASE(a_file_that_became_shorter_is_told_and_not_read_as_if_it_ended_there) {
  const RandomReader local = must(RandomReader::open(run + "/file"));
  const RandomReader far = must(RandomReader::open(remote()));
  fs::resize_file(run + "/file", 100);
  std::string buffer(256, '\0');
  for (const RandomReader* reader : {&local, &far}) {
    const auto got = reader->read_at(0, std::as_writable_bytes(std::span(buffer)));
    BOOST_REQUIRE(!got);
    BOOST_TEST((got.error().kind == ErrorKind::corrupted));
    BOOST_TEST(contains(got.error().message, "100 bytes"));
    BOOST_TEST(contains(got.error().message, "256"));
  }
  BOOST_TEST(read(local, 50, 50) == whole.substr(50, 50));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
