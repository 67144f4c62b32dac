#include "storage/scratch.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace headway::storage {

namespace {

/// A file system of one MiB in memory, mounted for as long as this lives.
class TinyDisk {
 public:
  explicit TinyDisk(const std::string& path) : path_(path) {
    fs::create_directory(path_);
    mounted_ = ::mount("headway-test", path_.c_str(), "tmpfs", 0, "size=1m") == 0;
    if (!mounted_) why_ = std::strerror(errno);
  }
  ~TinyDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;

  bool mounted() const { return mounted_; }
  const std::string& why() const { return why_; }

 private:
  std::string path_;
  std::string why_;
  bool mounted_ = false;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(full_disk_suite, Scratch)

BOOST_AUTO_TEST_CASE(a_full_disk_is_named_with_what_was_needed_and_the_checkpoint_before_stays) {
  const TinyDisk disk(path("disk"));
  if (!disk.mounted()) {
    BOOST_TEST_MESSAGE("skipped: a small tmpfs can't be mounted here: " << disk.why());
    return;
  }
  run = path("disk/run");
  must(probe(run));
  write("small/model.pt", "fits");
  write("large/model.pt", std::string(2 << 20, 'x'));
  const std::string kept = save(*this, "checkpoint_000000", 0, path("small"));

  must(begin_checkpoint(run + "/checkpoint_000001"));
  for (const Transfer transfer : {Transfer::copy, Transfer::link}) {
    const Error error = error_of(upload(path("large"), run + "/checkpoint_000001", {"model.pt"}, 0, transfer));
    BOOST_TEST((error.kind == ErrorKind::unavailable));
    BOOST_TEST(
        contains(error.message, run + "/checkpoint_000001/model.pt: no space left on device (2097152 bytes needed"));
    BOOST_TEST(fs::file_size(path("large/model.pt")) == 2u << 20);
  }
  BOOST_TEST((must(sweep(run)) == Names{"checkpoint_000001"}));
  BOOST_TEST((names_of(must(list_checkpoints(run))) == Names{"checkpoint_000000"}));
  must(verify(kept));
}

BOOST_AUTO_TEST_CASE(files_on_another_file_system_are_copied) {
  const TinyDisk disk(path("disk"));
  if (!disk.mounted()) {
    BOOST_TEST_MESSAGE("skipped: a small tmpfs can't be mounted here: " << disk.why());
    return;
  }
  run = path("disk/run");
  must(probe(run));
  write("source/model.pt", "weights");
  const std::string directory = save(*this, "c", 0, path("source"), Transfer::link);
  must(verify(directory));
  BOOST_TEST(read(path("source/model.pt")) == "weights");
}

BOOST_AUTO_TEST_CASE(a_read_only_disk_is_found_out_by_the_probe) {
  const TinyDisk disk(path("disk"));
  if (!disk.mounted() ||
      ::mount("headway-test", path("disk").c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=1m") != 0) {
    BOOST_TEST_MESSAGE("skipped: a read-only tmpfs can't be mounted here");
    return;
  }
  const Error error = error_of(probe(path("disk/run")));
  BOOST_TEST((error.kind == ErrorKind::unavailable));
  BOOST_TEST(contains(error.message, path("disk/run") + ": read-only file system"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
