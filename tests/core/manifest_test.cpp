#include "core/manifest.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

namespace headway {

BOOST_AUTO_TEST_SUITE(manifest_suite)

BOOST_AUTO_TEST_CASE(ordinary_names_are_permitted) {
  for (const char* name : {"model.pt", "a/b/c", "with space", "größe", "重み.pt", "..hidden", "a/.headway.json",
                           ".headway", "...", "\xF0\x9F\x98\x80"}) {
    BOOST_TEST(check_file_name(name).has_value(), name);
  }
}

BOOST_AUTO_TEST_CASE(names_that_lead_elsewhere_or_are_ours_are_refused_and_named) {
  using namespace std::string_view_literals;
  for (const std::string_view name :
       {""sv, "/a"sv, "a/"sv, "a//b"sv, "."sv, ".."sv, "a/../b"sv, "./a"sv, "a\0b"sv, ".headway.json"sv,
        ".headway.begun"sv, ".headway.part.x"sv, ".headway.json/x"sv}) {
    const Result<void> checked = check_file_name(name);
    BOOST_REQUIRE(!checked.has_value());
    BOOST_TEST((checked.error().kind == ErrorKind::invalid_argument));
    BOOST_TEST(checked.error().message.find(json_text(Json(std::string(name)))) != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8_are_refused_for_json_could_not_hold_them) {
  for (const char* name : {"\xff", "a\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                           "\xF4\x90\x80\x80", "\xE2\x82"}) {
    const Result<void> checked = check_file_name(name);
    BOOST_REQUIRE(!checked.has_value());
    BOOST_TEST(checked.error().message.find("is not UTF-8") != std::string::npos);
    for (const char letter : checked.error().message) BOOST_TEST(static_cast<unsigned char>(letter) < 0x80);
  }
}

BOOST_AUTO_TEST_CASE(names_with_characters_that_xml_does_not_have_are_not_for_remote_storage) {
  using namespace std::string_view_literals;
  for (const char* name : {"model.pt", "a/b", "with space", "größe", "重み.pt", "\xF0\x9F\x98\x80", "%41&<?#\\"}) {
    BOOST_TEST(check_remote_name(name, "the name").has_value(), name);
  }
  for (const auto& [name, shown] :
       {std::pair("a\nb"sv, "\"a\\nb\" holds U+000A"), std::pair("d\r/x"sv, "\"d\\r/x\" holds U+000D"),
        std::pair("\t"sv, "\"\\t\" holds U+0009"), std::pair("a\x7F"sv, "holds U+007F"),
        std::pair("ab\xEF\xBF\xBE"sv, "holds U+FFFE"), std::pair("\xEF\xBF\xBF"sv, "holds U+FFFF"),
        std::pair("a\xFF"sv, "\"a?\" is not UTF-8")}) {
    const Result<void> checked = check_remote_name(name, "the name");
    BOOST_REQUIRE(!checked.has_value());
    BOOST_TEST((checked.error().kind == ErrorKind::invalid_argument));
    BOOST_TEST(checked.error().message.starts_with("the name "));
    BOOST_TEST(checked.error().message.find(shown) != std::string::npos, checked.error().message);
    BOOST_TEST(checked.error().message.ends_with(", which remote storage cannot keep: give it another one"));
  }
}

BOOST_AUTO_TEST_CASE(a_manifest_goes_to_text_and_back) {
  Manifest manifest;
  manifest.checkpoint = "checkpoint_000001";
  manifest.index = 1;
  manifest.files = {{"model.pt", std::uint64_t{1} << 40, "xxh3:0123456789abcdef", 2}};
  manifest.metrics = {{"loss", 0.25}};
  const Result<Manifest> back = from_json_text<Manifest>(to_json_text(manifest), "test");
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST(back->files[0].size == std::uint64_t{1} << 40);
  BOOST_TEST(back->metrics.at("loss").as_double() == 0.25);
}

BOOST_AUTO_TEST_CASE(manifests_of_one_index_have_one_order_however_they_are_listed) {
  std::vector<Manifest> in_order(6);
  for (Manifest& manifest : in_order) {
    manifest.index = 3;
    manifest.owner_epoch = 1;
    manifest.report.emplace().index = 5;
  }
  in_order[0].checkpoint = "z";
  in_order[0].index = 2;
  in_order[0].owner_epoch = 9;
  in_order[1].checkpoint = "y";
  in_order[2].checkpoint = "b";  // The report after one whose commit was refused has its index.
  in_order[2].report->index = 6;
  in_order[3].checkpoint = "c";  // Two that nothing but the name tells apart.
  in_order[3].report->index = 6;
  in_order[4].checkpoint = "x";
  in_order[4].attempt = 2;
  in_order[5].checkpoint = "a";  // The later of two drivers.
  in_order[5].owner_epoch = 2;
  std::vector<Manifest> listed = in_order;
  std::reverse(listed.begin(), listed.end());
  std::sort(listed.begin(), listed.end(), is_older);
  for (std::size_t place = 0; place < listed.size(); ++place) {
    BOOST_TEST(listed[place].checkpoint == in_order[place].checkpoint);
  }
}

BOOST_AUTO_TEST_CASE(a_checkpoints_name_is_one_folder_in_the_run_and_none_of_its_files) {
  for (const char* name : {"checkpoint_000001", "best", "with space", "größe", "..hidden", "..."}) {
    BOOST_TEST(check_checkpoint_name(name, "it").has_value(), name);
  }
  using namespace std::string_view_literals;
  for (const std::string_view name : {""sv, "."sv, ".."sv, "../other/checkpoint_1"sv, "a/b"sv, "/etc"sv, "a\0b"sv,
                                      "run.json"sv, "logs"sv, ".headway.json"sv, ".headway.owner"sv, "\xff"sv}) {
    const Result<void> checked = check_checkpoint_name(name, "it");
    BOOST_REQUIRE(!checked.has_value());
    BOOST_TEST(checked.error().message.starts_with("it is \""));
  }
  BOOST_TEST(!check_checkpoint_name(std::string(201, 'x'), "it").has_value());
}

BOOST_AUTO_TEST_CASE(a_manifest_that_names_a_checkpoint_elsewhere_is_refused) {
  Manifest manifest;
  manifest.checkpoint = "../other/checkpoint_1";
  const Result<Manifest> read = parse_manifest(to_json_text(manifest), "the manifest");
  BOOST_REQUIRE(!read.has_value());
  BOOST_TEST((read.error().kind == ErrorKind::corrupted));
  BOOST_TEST(read.error().message.starts_with("the manifest: its checkpoint is \"../other/checkpoint_1\"; allowed: "));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
