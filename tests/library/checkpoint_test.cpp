#include <headway/checkpoint.hpp>
#include <headway/json.hpp>
#include <headway/trainer.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// The public class, as a C++ program of somebody else's uses it: nothing but include/headway/.
namespace headway {

namespace fs = std::filesystem;

namespace {

/// A copy of the kept run, gone with the test.
struct KeptRun {
  KeptRun() {
    std::string pattern = (fs::temp_directory_path() / "headway-library-XXXXXX").string();
    root = ::mkdtemp(pattern.data());
    run = root + "/run";
    fs::copy(HEADWAY_TEST_RUN, run, fs::copy_options::recursive);
  }
  ~KeptRun() { fs::remove_all(root); }
  KeptRun(const KeptRun&) = delete;
  KeptRun& operator=(const KeptRun&) = delete;

  std::string checkpoint(int index) const { return run + "/checkpoint_00000" + std::to_string(index); }
  void damage(int index) const { std::ofstream(checkpoint(index) + "/model.txt") << "weights after epoch 9\n"; }

  std::string root;
  std::string run;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(checkpoint_suite, KeptRun)

BOOST_AUTO_TEST_CASE(a_checkpoint_tells_its_files_and_its_report) {
  const Checkpoint opened = Checkpoint::open(checkpoint(1)).value();
  BOOST_TEST(opened.path() == checkpoint(1));
  BOOST_TEST(opened.index() == 1);
  BOOST_TEST(contains(opened.metrics_json(), "\"epoch\":1"));
  BOOST_REQUIRE(opened.files().size() == 3u);
  BOOST_TEST(opened.files()[2].name == "parts/rank_1.txt");
  BOOST_TEST(opened.files()[2].rank == 1);
  BOOST_TEST(opened.files()[2].size == 18u);
  BOOST_TEST((Checkpoint::open(root).error().kind == ErrorKind::not_found));
}

BOOST_AUTO_TEST_CASE(its_files_are_read_where_they_lie_or_from_a_copy) {
  const Checkpoint opened = Checkpoint::open(checkpoint(1)).value();
  BOOST_TEST(opened.as_directory().value().path() == checkpoint(1));
  opened.to_directory(root + "/copy/of_it").value();
  BOOST_TEST(fs::file_size(root + "/copy/of_it/parts/rank_1.txt") == 18u);
  const Checkpoint named = Checkpoint::from_directory(checkpoint(1));
  BOOST_TEST(named.files().empty());
  BOOST_TEST(named.metrics_json() == "");
  BOOST_TEST((Checkpoint::from_directory(root + "/none").as_directory().error().kind == ErrorKind::not_found));
}

BOOST_AUTO_TEST_CASE(verifying_tells_how_far_it_is) {
  std::vector<CheckpointProgress> told;
  const Checkpoint opened = Checkpoint::open(checkpoint(0)).value();
  opened.verify([&](const CheckpointProgress& progress) { told.push_back(progress); }).value();
  BOOST_TEST(told.front().bytes == 0u);
  BOOST_TEST(told.back().bytes == 58u);
  BOOST_TEST(told.back().bytes_total == 58u);
  BOOST_TEST(told.back().files == 3u);
}

BOOST_AUTO_TEST_CASE(damage_is_told_and_the_newest_good_checkpoint_found) {
  const Checkpoint opened = Checkpoint::open(checkpoint(2)).value();
  BOOST_TEST(Checkpoint::newest_good(run).value().path() == checkpoint(2));
  BOOST_TEST(opened.examine().value().empty());
  damage(2);
  fs::remove(checkpoint(2) + "/parts/rank_0.txt");
  const std::vector<CheckpointDamage> damaged = opened.examine().value();
  BOOST_REQUIRE(damaged.size() == 2u);
  BOOST_TEST(damaged[0].file == checkpoint(2) + "/model.txt");
  BOOST_TEST(damaged[0].expected.starts_with("checksum xxh3:"));
  BOOST_TEST(damaged[1].found == "no such file");
  const Result<void> verified = opened.verify();
  BOOST_TEST((verified.error().kind == ErrorKind::corrupted));
  BOOST_TEST(contains(verified.error().message, checkpoint(2) + "/model.txt is damaged: expected checksum xxh3:"));
  BOOST_TEST(Checkpoint::newest_good(run).value().path() == checkpoint(1));
  damage(0);
  damage(1);
  BOOST_TEST((Checkpoint::newest_good(run).error().kind == ErrorKind::not_found));
}

BOOST_AUTO_TEST_CASE(a_manifest_of_another_shape_is_told_with_the_newest_good_checkpoint) {
  std::ofstream(checkpoint(2) + "/.headway.json") << R"({"version": 1, "checkpoint": 2})";
  const std::string told = checkpoint(2) + "/.headway.json is damaged: expected text as \"checkpoint\", found 2";
  const std::string offer = "; the newest good checkpoint of this run is " + checkpoint(1);
  const Checkpoint named = Checkpoint::from_directory(checkpoint(2));
  for (const Error& error : {Checkpoint::open(checkpoint(2)).error(), named.to_directory(root + "/copy").error(),
                             named.copy_to(root + "/copy").error(), named.metadata_json().error()}) {
    BOOST_TEST((error.kind == ErrorKind::corrupted));
    BOOST_TEST(error.message == told + offer);
  }
  BOOST_TEST(named.verify().error().message == told);
  BOOST_TEST(named.examine().value().front().expected == "text as \"checkpoint\"");
  BOOST_TEST(TrainResult::from_path(run).value().damaged.front() == told);
}

BOOST_AUTO_TEST_CASE(a_damaged_checkpoint_is_not_taken_for_a_good_one_when_its_files_are_copied_out) {
  damage(2);
  const Result<void> copied = Checkpoint::open(checkpoint(2)).value().to_directory(root + "/copy");
  BOOST_REQUIRE(!copied);
  BOOST_TEST((copied.error().kind == ErrorKind::corrupted));
  BOOST_TEST(contains(copied.error().message, checkpoint(2) + "/model.txt is damaged: expected checksum xxh3:"));
  BOOST_TEST(contains(copied.error().message, "the newest good checkpoint of this run is " + checkpoint(1)));
}

BOOST_AUTO_TEST_CASE(metadata_is_set_read_and_updated) {
  fs::create_directory(root + "/local");
  for (const std::string& path : {root + "/local", checkpoint(1)}) {
    const Checkpoint told = Checkpoint::from_directory(path);
    const std::string before = told.metadata_json().value();
    told.set_metadata_json(Json{{"framework", "torch"}, {"classes", 9}}.dump()).value();
    told.update_metadata_json(Json{{"classes", 10}}.dump()).value();
    const Json metadata = Json::parse(told.metadata_json().value()).value();
    BOOST_TEST(metadata.at("framework").as_string() == "torch");
    BOOST_TEST(metadata.at("classes").as_int() == 10);
    told.set_metadata_json("{}").value();
    BOOST_TEST(told.metadata_json().value() == before);
  }
  Checkpoint::open(checkpoint(1)).value().verify().value();
}

BOOST_AUTO_TEST_CASE(metadata_that_is_no_object_is_refused_and_a_damaged_file_is_named) {
  const Checkpoint told = Checkpoint::from_directory(checkpoint(0));
  for (const std::string bad : {"[1]", "{", ""}) {
    BOOST_TEST((told.set_metadata_json(bad).error().kind == ErrorKind::invalid_argument));
    BOOST_TEST((told.update_metadata_json(bad).error().kind == ErrorKind::invalid_argument));
  }
  BOOST_TEST(!fs::exists(checkpoint(0) + "/.metadata.json"));
  std::ofstream(checkpoint(0) + "/.metadata.json") << "{\"classes\":";
  BOOST_TEST((told.metadata_json().error().kind == ErrorKind::corrupted));
  BOOST_TEST(contains(told.metadata_json().error().message, checkpoint(0) + "/.metadata.json"));
}

BOOST_AUTO_TEST_CASE(a_copy_is_a_checkpoint_and_a_damaged_one_is_not_copied) {
  std::uint64_t bytes = 0;
  const Checkpoint opened = Checkpoint::open(checkpoint(2)).value();
  const Checkpoint copy =
      opened.copy_to(root + "/kept/best", [&](const CheckpointProgress& progress) { bytes = progress.bytes; }).value();
  BOOST_TEST(copy.path() == root + "/kept/best");
  BOOST_TEST(bytes == 58u);
  copy.verify().value();
  BOOST_TEST((opened.copy_to(root + "/kept/best").error().kind == ErrorKind::already_exists));
  damage(2);
  const Result<Checkpoint> refused = opened.copy_to(root + "/kept/other");
  BOOST_TEST((refused.error().kind == ErrorKind::corrupted));
  BOOST_TEST(contains(refused.error().message, "the newest good checkpoint of this run is " + checkpoint(1)));
  BOOST_TEST(!fs::exists(root + "/kept/other"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
