#include "storage/checkpoint/checkpoint_clone.hpp"
#include "storage/checkpoint/verification.hpp"
#include "storage/scratch.hpp"

#include <sys/stat.h>

/// A checkpoint of one run that becomes one of another.
namespace headway::storage {

namespace {

struct Donor : Scratch {
  Donor() {
    write("source/model.pt", "model");
    write("source/parts/rank_1.pt", "one");
    checkpoint = save(*this, "c0", 0, path("source"));
    fs::create_directory(path("other"));
    manifest = must(read_manifest(checkpoint));
    manifest.index = 7;
    manifest.cloned = ClonedFrom{"run", "c0", 3, 5, 1.5};
  }
  ino_t inode(const std::string& file) const {
    struct ::stat status = {};
    BOOST_REQUIRE(::stat(file.c_str(), &status) == 0);
    return status.st_ino;
  }
  std::string checkpoint;
  Manifest manifest;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(checkpoint_clone_suite, Donor)

BOOST_AUTO_TEST_CASE(a_clone_is_a_whole_checkpoint_that_copies_no_bytes_and_outlives_its_source) {
  const std::string target = path("other/c4");
  BOOST_REQUIRE(clone_checkpoint(checkpoint, target, manifest));
  BOOST_TEST(inode(target + "/model.pt") == inode(checkpoint + "/model.pt"));
  BOOST_REQUIRE(remove_checkpoint(checkpoint));
  BOOST_TEST(must(examine(target)).damaged.empty());
  const Manifest clone = must(read_manifest(target));
  BOOST_TEST(clone.checkpoint == "c4");
  BOOST_TEST(clone.index == 7);
  BOOST_TEST(clone.cloned->iteration == 5);
  BOOST_TEST((names_of(clone.files) == Names{"model.pt", "parts/rank_1.pt"}));
  BOOST_TEST(must(list_checkpoints(path("other"))).size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_may_be_written_again_is_copied) {
  write("run/c0/.metadata.json", "{}");
  BOOST_REQUIRE(clone_checkpoint(checkpoint, path("other/c4"), manifest));
  write("run/c0/.metadata.json", R"({"changed": true})");
  BOOST_TEST(read(path("other/c4/.metadata.json")) == "{}");
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_clone_that_fails) {
  fs::remove(checkpoint + "/model.pt");
  BOOST_TEST(!clone_checkpoint(checkpoint, path("other/c4"), manifest));
  BOOST_TEST(entries(path("other")).empty());
  BOOST_TEST((clone_checkpoint(path("run/c9"), path("other/c4"), manifest).error().kind == ErrorKind::not_found));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
