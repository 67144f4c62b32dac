#include "driver/event_file.hpp"
#include "storage/scratch.hpp"

#include <algorithm>
#include <bit>

namespace headway::driver {
namespace {

using storage::must;
using storage::read;

/// The CRC itself, out of its masked form.
std::uint32_t unmasked(std::uint32_t masked) { return std::rotl(masked - 0xa282ead8U, 15); }

std::string hex(std::string_view bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

/// The data of each record of a file; fails when a length or a CRC is wrong.
std::vector<std::string> records_in(const std::string& path) {
  const std::string bytes = read(path);
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size();) {
    // Short records only: one byte of the length counts.
    const auto size = static_cast<unsigned char>(bytes.at(at));
    const std::string record = tf_record(bytes.substr(at + 12, size));
    BOOST_TEST(hex(bytes.substr(at, record.size())) == hex(record));
    records.push_back(bytes.substr(at + 12, size));
    at += record.size();
  }
  return records;
}

struct RecordedRun : storage::Scratch {
  std::string only_file() const {
    BOOST_TEST(std::distance(storage::fs::directory_iterator(run), {}) == 1);
    return storage::fs::directory_iterator(run)->path();
  }
  Result<void> add(EventFile& events, std::string_view metrics, std::int64_t step, double unix_s) {
    const Json parsed = *parse_json(metrics, "metrics");
    return events.append(flat_metrics(parsed.get_object()), step, unix_s);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(event_file_suite, RecordedRun)

// RFC 3720, B.4, and the check value of CRC-32C in every catalogue of CRCs.
BOOST_AUTO_TEST_CASE(the_checksum_gives_the_published_values) {
  BOOST_TEST(unmasked(masked_crc32c("123456789")) == 0xE3069283U);
  BOOST_TEST(unmasked(masked_crc32c(std::string(32, '\0'))) == 0x8A9136AAU);
  BOOST_TEST(unmasked(masked_crc32c(std::string(32, '\xff'))) == 0x62A8AB43U);
}

// The first record of every file that TensorFlow has written: 24 bytes long.
BOOST_AUTO_TEST_CASE(a_record_is_length_checksum_data_checksum) {
  const std::string record = tf_record(std::string(24, 'x'));
  BOOST_TEST(record.size() == 8 + 4 + 24 + 4);
  BOOST_TEST(hex(record.substr(0, 12)) == "1800000000000000a37f4b22");
}

BOOST_AUTO_TEST_CASE(a_file_begins_with_its_version_and_holds_an_event_for_each_report_at_once) {
  EventFile events(run);
  must(add(events, R"({"loss": 0.5, "name": "x", "eval": {"ok": true}})", 300, 1.0));
  const std::vector<std::string> records = records_in(only_file());
  BOOST_REQUIRE(records.size() == 2);
  BOOST_TEST(hex(records[0]) ==
             "09000000000000f03f"
             "1a0d" +
                 hex("brain.Event:2"));
  BOOST_TEST(hex(records[1]) ==
             "09000000000000f03f"
             "10ac02"
             "2a1d"
             "0a0b"
             "0a04" +
                 hex("loss") +
                 "150000003f"
                 "0a0e"
                 "0a07" +
                 hex("eval/ok") + "150000803f");
}

BOOST_AUTO_TEST_CASE(the_files_name_says_when_and_where_and_a_second_one_of_the_same_second_is_another) {
  EventFile events(run);
  must(add(events, R"({"loss": 1})", 1, 1700000000.9));
  BOOST_TEST(only_file().starts_with(run + "/events.out.tfevents.1700000000."));
  EventFile again(run);
  must(add(again, R"({"loss": 2})", 2, 1700000000.9));
  must(add(events, R"({"loss": 3})", 3, 1700000001.0));
  std::vector<std::size_t> records;
  for (const auto& file : storage::fs::directory_iterator(run)) records.push_back(records_in(file.path()).size());
  std::sort(records.begin(), records.end());
  BOOST_TEST(records == (std::vector<std::size_t>{2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(reports_without_a_number_make_no_file_and_one_that_can_not_be_made_is_named) {
  EventFile events(run);
  must(add(events, R"({"name": "x", "none": null, "list": [1]})", 1, 1.0));
  BOOST_TEST(storage::fs::is_empty(run));
  EventFile nowhere(path("nowhere"));
  BOOST_TEST(storage::contains(storage::error_of(add(nowhere, R"({"loss": 1})", 1, 1.0)).message, path("nowhere")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
