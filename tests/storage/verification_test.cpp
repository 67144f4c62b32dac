#include "storage/checkpoint/verification.hpp"
#include "storage/checkpoint/checkpoint_copy.hpp"
#include "storage/checkpoint/fetch.hpp"
#include "storage/checkpoint/survey.hpp"
#include "storage/checkpoint/verified_notes.hpp"
#include "storage/scratch.hpp"

#include <map>
#include <utility>

/// Real files, damaged in every way that there is.
namespace headway::storage {

namespace {

struct Run : Scratch {
  /// A run with checkpoints c0, c1, ...: in each two files.
  void save_each(int count) const {
    for (int index = 0; index < count; ++index) {
      const std::string source = "source" + std::to_string(index);
      write(source + "/a.pt", std::string(3'000'000, static_cast<char>('a' + index)));
      write(source + "/parts/b.pt", "0123456789");
      save(*this, "c" + std::to_string(index), index, path(source));
    }
  }

  std::string at(std::string_view name) const { return run + "/" + std::string(name); }

  void flip(std::string_view name, std::streamoff offset) const {
    std::fstream file(at(name));
    file.seekp(offset);
    file.put('!');
  }

  Damage only_damage(std::string_view checkpoint) const {
    const Verification found = must(examine(at(checkpoint)));
    BOOST_REQUIRE(found.damaged.size() == 1u);
    return found.damaged[0];
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(verification_suite, Run)

BOOST_AUTO_TEST_CASE(what_was_read_is_noted_beside_the_run) {
  save_each(2);
  const Verification good = must(examine(at("c0")));
  // It has no run.json.
  BOOST_TEST((note_verified(run, {good}).error().kind == ErrorKind::not_found));
  BOOST_TEST(verified_in(run).empty());
  must(replace_file(at("run.json"), "{}"));
  must(note_verified(run, {good}));
  flip("c1/a.pt", 1000);
  must(note_verified(run, {must(examine(at("c1")))}));
  const VerifiedNotes notes = verified_in(run);
  BOOST_REQUIRE(notes.size() == 2U);
  BOOST_TEST(notes.at("c0").damage.empty());
  BOOST_TEST(notes.at("c0").files == 2U);
  BOOST_TEST(notes.at("c0").at_unix_s > 1.6e9);
  BOOST_TEST(notes.at("c1").damage.find("c1/a.pt is damaged") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_good_checkpoint_is_read_whole_and_its_progress_told) {
  save_each(1);
  std::vector<Progress> told;
  const Verification found = must(examine(at("c0"), [&](const Progress& progress) { told.push_back(progress); }));
  BOOST_TEST(found.damaged.empty());
  BOOST_TEST(found.files == 2u);
  BOOST_TEST(found.bytes == 3'000'010u);
  BOOST_TEST(told.front().bytes == 0u);
  BOOST_TEST(told.back().bytes == 3'000'010u);
  BOOST_TEST(told.back().files == 2u);
  BOOST_TEST(told.size() > 4u);
  for (std::size_t index = 1; index < told.size(); ++index) {
    BOOST_TEST(told[index].bytes >= told[index - 1].bytes);
    BOOST_TEST(told[index].bytes_total == 3'000'010u);
    BOOST_TEST(told[index].files_total == 2u);
  }
}

BOOST_AUTO_TEST_CASE(a_flipped_bit_is_told_with_both_checksums) {
  save_each(1);
  const std::string expected = must(read_manifest(at("c0"))).files[0].checksum;
  flip("c0/a.pt", 1'234'567);
  const Damage damage = only_damage("c0");
  BOOST_TEST(damage.file == at("c0/a.pt"));
  BOOST_TEST(damage.expected == "checksum " + expected);
  BOOST_TEST(damage.found.starts_with("checksum xxh3:"));
  BOOST_TEST(damage.found != damage.expected);
}

BOOST_AUTO_TEST_CASE(every_damaged_file_is_told_in_the_order_of_names) {
  save_each(1);
  flip("c0/a.pt", 0);
  fs::resize_file(at("c0/parts/b.pt"), 4);
  const Verification found = must(examine(at("c0")));
  BOOST_REQUIRE(found.damaged.size() == 2u);
  BOOST_TEST(found.damaged[0].file == at("c0/a.pt"));
  BOOST_TEST(to_text(found.damaged[1]) == at("c0/parts/b.pt") + " is damaged: expected 10 bytes, found 4 bytes");
}

BOOST_AUTO_TEST_CASE(a_missing_file_and_one_that_is_something_else) {
  save_each(1);
  fs::remove(at("c0/parts/b.pt"));
  BOOST_TEST(to_text(only_damage("c0")) ==
             at("c0/parts/b.pt") + " is damaged: expected a file of 10 bytes, found no such file");
  fs::create_directory(at("c0/parts/b.pt"));
  BOOST_TEST(only_damage("c0").found == "no regular file");
}

BOOST_AUTO_TEST_CASE(a_manifest_that_is_cut_or_empty_is_damage) {
  save_each(1);
  const std::string manifest = at("c0/.headway.json");
  fs::resize_file(manifest, 40);
  BOOST_TEST(only_damage("c0").file == manifest);
  BOOST_TEST(only_damage("c0").expected == "a whole manifest");
  BOOST_TEST(contains(only_damage("c0").found, "one that is not JSON"));
  fs::resize_file(manifest, 0);
  BOOST_TEST(contains(only_damage("c0").found, "one that is not JSON"));
  fs::remove(manifest);
  BOOST_TEST((error_of(examine(at("c0"))).kind == ErrorKind::not_found));
}

BOOST_AUTO_TEST_CASE(a_manifest_of_another_shape_is_damage_that_says_what_is_expected_where) {
  save_each(2);
  const std::string whole = must(read_file(at("c1/.headway.json")));
  const std::map<std::string, std::pair<std::string, std::string>> shapes{
      {"[]", {"an object", "a list"}},
      {"\"c1\"", {"an object", "\"c1\""}},
      {"{}", {"a whole number as \"version\"", "none"}},
      {R"({"version": 1, "files": 3})", {"text as \"checkpoint\"", "none"}},
      {R"({"version": "one"})", {"a whole number as \"version\"", "\"one\""}},
      {R"({"version": null})", {"a whole number as \"version\"", "null"}},
  };
  for (const auto& [text, words] : shapes) {
    write("run/c1/.headway.json", text);
    BOOST_TEST(only_damage("c1").file == at("c1/.headway.json"));
    BOOST_TEST(only_damage("c1").expected == words.first);
    BOOST_TEST(only_damage("c1").found == words.second);
  }
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    write("run/c1/.headway.json", text);
    return to_text(only_damage("c1"));
  };
  const std::string start = at("c1/.headway.json") + " is damaged: expected ";
  BOOST_TEST(changed("\"size\":10,", "\"size\":-10,") ==
             start + "a whole number that is not negative as \"files[1].size\", found -10");
  BOOST_TEST(changed("\"name\":\"a.pt\",", "") == start + "text as \"files[0].name\", found none");
  BOOST_TEST(changed("\"metrics\":{}", "\"metrics\":[1]") == start + "an object as \"metrics\", found a list");
  // Told with the newest good one, wherever a checkpoint is read.
  const std::string offer = "; the newest good checkpoint of this run is " + at("c0");
  for (const Error& error : {error_of(read_manifest_or_offer(at("c1"))), error_of(fetch(at("c1"), path("there"))),
                             error_of(copy_checkpoint(at("c1"), path("copy")))}) {
    BOOST_TEST((error.kind == ErrorKind::corrupted));
    BOOST_TEST(error.message == start + "an object as \"metrics\", found a list" + offer);
  }
  BOOST_TEST(must(survey(run)).unreadable.front() == start + "an object as \"metrics\", found a list");
}

BOOST_AUTO_TEST_CASE(metadata_may_be_written_later_but_not_vanish) {
  write("source/model.pt", "weights");
  write("source/.metadata.json", R"({"note": "first"})");
  save(*this, "c", 0, path("source"));
  write("run/c/.metadata.json", R"({"note": "a longer one"})");
  BOOST_TEST(must(examine(at("c"))).damaged.empty());
  fs::remove(at("c/.metadata.json"));
  BOOST_TEST(only_damage("c").found == "no such file");
}

BOOST_AUTO_TEST_CASE(the_newest_good_checkpoint_is_offered) {
  save_each(4);
  BOOST_TEST(must(newest_good(run))->checkpoint == "c3");
  fs::resize_file(at("c3/.headway.json"), 0);
  flip("c2/a.pt", 77);
  BOOST_TEST(must(newest_good(run))->checkpoint == "c1");
  const Error error = damage_error(at("c2"), only_damage("c2"));
  BOOST_TEST((error.kind == ErrorKind::corrupted));
  BOOST_TEST(contains(error.message, at("c2/a.pt") + " is damaged: expected checksum xxh3:"));
  BOOST_TEST(contains(error.message, "; the newest good checkpoint of this run is " + at("c1")));
  for (const char* name : {"c0/a.pt", "c1/a.pt"}) flip(name, 1);
  BOOST_TEST(!must(newest_good(run)).has_value());
  BOOST_TEST(contains(damage_error(at("c2"), only_damage("c2")).message, "; this run has no good checkpoint"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
