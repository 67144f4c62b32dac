#include "flow/sources/mapped_file.hpp"

#include "flow/sources/files_on_disk.hpp"
#include "flow/sources/mapped_range.hpp"

#include <arrow/buffer.h>

#include <boost/test/unit_test.hpp>

#include <string>
#include <unistd.h>
#include <vector>

namespace headway::flow {
namespace {

constexpr std::int64_t file_bytes = 1 << 20;

/// A file of this machine's, whose bytes are their places.
struct FileOfPlaces {
  FileOfPlaces() {
    std::string bytes(file_bytes, '\0');
    for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<char>(at % 251);
    path = folder.write("places", bytes);
    file = MappedFile::open(path, arrow::default_memory_pool()).ValueOrDie();
    BOOST_REQUIRE(file->maps());
  }
  static std::uint8_t at(std::int64_t place) { return static_cast<std::uint8_t>(place % 251); }

  FilesOnDisk folder;
  std::string path;
  std::shared_ptr<MappedFile> file;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mapped_files, FileOfPlaces)

BOOST_AUTO_TEST_CASE(have_the_same_bytes_as_others_whatever_the_range) {
  for (const std::int64_t begin : {0, 1, 4095, 4096, 70'001}) {
    for (const std::int64_t bytes : {10L, 65'536L, 300'001L, file_bytes - begin}) {
      const auto range = file->ReadAt(begin, bytes).ValueOrDie();
      BOOST_REQUIRE_EQUAL(range->size(), bytes);
      BOOST_TEST(range->data()[0] == at(begin));
      BOOST_TEST(range->data()[bytes - 1] == at(begin + bytes - 1));
    }
  }
  BOOST_TEST(file->ReadAt(file_bytes - 5, 100'000).ValueOrDie()->size() == 5);
  BOOST_TEST(file->check().ok());
}

BOOST_AUTO_TEST_CASE(that_are_cut_short_while_they_are_read_are_zeros_and_an_error) {
  const auto range = file->ReadAt(1000, file_bytes - 1000).ValueOrDie();
  const auto other = MappedFile::open(path, arrow::default_memory_pool()).ValueOrDie();
  BOOST_TEST(range->data()[500'000] == at(501'000));
  BOOST_REQUIRE_EQUAL(truncate(path.c_str(), 100'000), 0);
  BOOST_TEST(range->data()[0] == at(1000));
  BOOST_TEST(file->check().ok());
  BOOST_TEST(range->data()[500'000] == 0);
  BOOST_TEST(range->data()[file_bytes - 1001] == 0);
  BOOST_TEST(file->check().message() == "the file was cut short while it was read, or its disk fails");
  BOOST_TEST(other->check().ok());
}

BOOST_AUTO_TEST_CASE(are_read_where_no_range_can_be_mapped_any_more) {
  std::vector<std::shared_ptr<arrow::Buffer>> ranges;
  for (int i = 0; i < 600; ++i) ranges.push_back(file->ReadAt(i, 70'000).ValueOrDie());
  for (int i = 0; i < 600; ++i) BOOST_REQUIRE_EQUAL(ranges[static_cast<std::size_t>(i)]->data()[0], at(i));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
