#include "storage/checkpoint/checkpoint_copy.hpp"
#include "storage/checkpoint/verification.hpp"
#include "storage/faulty_files.hpp"
#include "storage/remote/remote_checkpoint.hpp"

/// Storage that fails, stalls or lies: what may pass is tried again, all else is reported with the
/// file and the reason, a checkpoint is refused, and nothing that was committed is lost.
namespace headway::storage {

namespace {

struct RemoteScratch : Scratch {
  RemoteScratch() {
    write("source/model.pt", "weights");
    write("source/parts/rank_0.pt", "one");
    must(remote::probe(run_at()));
  }

  Remote run_at() const { return {Store(files, {}, patience), "run"}; }
  Remote at(const std::string& name) const { return {Store(files, {}, patience), "run/" + name}; }

  /// Begins, uploads and commits; the first error.
  Result<void> store(const std::string& name, std::int64_t index) const {
    if (Result<void> begun = remote::begin_checkpoint(at(name)); !begun) return begun;
    const auto sent = remote::upload(path("source"), at(name), {"model.pt", "parts/rank_0.pt"}, 0);
    if (!sent) return sent.error();
    return remote::commit(at(name), manifest_of(name, index, *sent));
  }

  std::vector<std::string> listed() const { return names_of(must(remote::list_checkpoints(run_at(), nullptr))); }

  std::shared_ptr<FaultyFiles> files = std::make_shared<FaultyFiles>(std::make_shared<DirectoryFiles>(root));
  std::shared_ptr<CountedPatience> patience = std::make_shared<CountedPatience>();
};

struct Broken {
  const char* operation;
  const char* end;
};
constexpr Broken steps[] = {{"write", ".headway.begun.new"}, {"make", "new"},           {"make", "parts"},
                            {"write", "model.pt"},           {"info", "model.pt"},      {"write", "rank_0.pt"},
                            {"write", ".headway.json"},      {"read", ".headway.json"}, {"info", ".headway.begun.new"}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(remote_fault_suite, RemoteScratch)

BOOST_AUTO_TEST_CASE(a_copy_from_remote_storage_counts_each_byte_once) {
  register_files("python-copied", files);
  must(store("c", 0));
  std::vector<Progress> told;
  must(copy_checkpoint("python-copied://run/c", path("copy"), [&](const Progress& now) { told.push_back(now); }));
  BOOST_TEST(is_whole({Store(files, {}, patience), "copy"}));
  for (const Progress& progress : told) BOOST_TEST(progress.bytes_total == 10u);
  BOOST_TEST(told.front().bytes == 0u);
  BOOST_TEST(std::ranges::any_of(told, [](const Progress& each) { return each.bytes > 0 && each.bytes < 10; }));
  BOOST_TEST(told.back().bytes == 10u);
}

BOOST_AUTO_TEST_CASE(what_fails_for_now_at_any_step_is_tried_again_and_the_checkpoint_is_whole) {
  for (const Broken& step : steps) {
    BOOST_TEST_CONTEXT(step.operation << " " << step.end) {
      files->break_on(step.operation, step.end, Fault::network, 2);
      must(store("new", 1));
      files->mend();
      BOOST_TEST(is_whole(at("new")));
      BOOST_TEST(patience->waits.exchange(0) == 2);
      must(remote::remove_checkpoint(at("new")));
    }
  }
  BOOST_TEST(fs::is_empty(run));
}

BOOST_AUTO_TEST_CASE(what_fails_for_good_at_any_step_is_told_and_what_was_committed_before_stays) {
  must(store("before", 0));
  for (const Fault fault : {Fault::network, Fault::denied}) {
    for (const Broken& step : steps) {
      BOOST_TEST_CONTEXT(step.operation << " " << step.end << (fault == Fault::network ? " network" : " denied")) {
        files->break_on(step.operation, step.end, fault);
        const Error error = error_of(store("new", 1));
        BOOST_TEST(contains(error.message, step.end));
        BOOST_TEST(
            contains(error.message, fault == Fault::network ? "connection was reset (tried 5 times" : "access denied"));
        files->mend();
        BOOST_TEST((listed() == Names{"before"} || listed() == Names({"before", "new"})));
        must(remote::discard_unfinished(at("new")));
        if (listed().size() == 2) must(remote::remove_checkpoint(at("new")));
        must(remote::sweep(run_at()));
        BOOST_TEST(is_whole(at("before")));
        BOOST_TEST(std::distance(fs::directory_iterator(run), fs::directory_iterator()) == 1);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_told_at_once_with_the_file) {
  files->break_on("write", "model.pt", Fault::disk_full);
  const Error error = error_of(store("new", 1));
  BOOST_TEST((error.kind == ErrorKind::refused));
  BOOST_TEST(error.message == "cannot write test://run/new/model.pt: no space left on device");
  BOOST_TEST(patience->waits == 0);
  BOOST_TEST(listed().empty());
  BOOST_TEST((must(remote::sweep(run_at())) == Names{"new"}));
  BOOST_TEST(fs::is_empty(run));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_larger_than_the_storage_takes_is_told_before_it_is_sent) {
  files->bytes_max = 6;
  const Error error = error_of(store("new", 1));
  BOOST_TEST((error.kind == ErrorKind::refused));
  BOOST_TEST(contains(error.message, "model.pt has 7 bytes, and a file there has at most 6: save it as several files"));
  BOOST_TEST(!fs::exists(run + "/new/model.pt"));
  files->bytes_max = 7;
  must(store("other", 2));
}

BOOST_AUTO_TEST_CASE(a_name_that_remote_storage_cannot_keep_is_told_before_anything_is_sent) {
  write("source/a.txt", "a");
  write("source/part\n0/b.txt", "b");
  must(remote::begin_checkpoint(at("new")));
  const Error error = error_of(remote::upload(path("source"), at("new"), {"a.txt", "part\n0/b.txt"}, 0));
  BOOST_TEST((error.kind == ErrorKind::invalid_argument));
  BOOST_TEST(
      error.message ==
      "checkpoint file name \"part\\n0/b.txt\" holds U+000A, which remote storage cannot keep: give it another one");
  BOOST_TEST(!fs::exists(run + "/new/a.txt"));
}

BOOST_AUTO_TEST_CASE(files_that_are_cut_on_their_way_are_noticed) {
  for (const Fault fault : {Fault::short_write, Fault::lie}) {
    files->break_on("write", "model.pt", fault, 1);
    must(store("new", 1));
    files->mend();
    BOOST_TEST(is_whole(at("new")));
    must(remote::remove_checkpoint(at("new")));

    files->break_on("write", "model.pt", fault);
    const Error error = error_of(store("new", 1));
    files->mend();
    BOOST_TEST(contains(error.message,
                        "cannot write test://run/new/model.pt: it was stored without an error, and is there with"));
    BOOST_TEST(contains(error.message, "instead of 7 bytes"));
    must(remote::discard_unfinished(at("new")));
    BOOST_TEST(fs::is_empty(run));
  }
}

BOOST_AUTO_TEST_CASE(a_manifest_that_is_cut_or_never_there_is_no_commit) {
  for (const Fault fault : {Fault::short_write, Fault::lie}) {
    files->break_on("write", ".headway.json", fault);
    const Error error = error_of(store("new", 1));
    files->mend();
    BOOST_TEST(contains(error.message, "test://run/new/.headway.json"));
    BOOST_TEST(listed().empty());
    BOOST_TEST((must(remote::sweep(run_at())) == Names{"new"}));
    BOOST_TEST(fs::is_empty(run));
  }
}

BOOST_AUTO_TEST_CASE(storage_that_forgets_what_it_was_given_is_refused_by_the_probe) {
  for (const Fault fault : {Fault::lie, Fault::short_write, Fault::denied, Fault::network}) {
    files->break_on("write", "", fault);
    const Error error = error_of(remote::probe(run_at()));
    files->mend();
    BOOST_TEST(contains(error.message, "RunConfig.storage_path: the run's folder test://run can't be used: "));
  }
}

BOOST_AUTO_TEST_CASE(a_read_only_storage_is_told_by_the_probe) {
  files->break_on("write", "", Fault::denied);
  BOOST_TEST(contains(error_of(remote::probe(run_at())).message, "access denied"));
  // The fixture's own one, and this one: no second attempt.
  BOOST_TEST(files->calls("write") == 2);
}

BOOST_AUTO_TEST_CASE(a_bucket_that_is_not_there_is_refused_by_the_probe) {
  struct NoBucket : DirectoryFiles {
    using DirectoryFiles::DirectoryFiles;
    Result<std::unique_ptr<Writer>> open_writer(const std::string&, std::uint64_t, std::size_t) override {
      return Error{ErrorKind::not_found, "no such bucket"};
    }
  };
  const Error error = error_of(remote::probe({Store(std::make_shared<NoBucket>(root), {}, patience), "run"}));
  BOOST_TEST((error.kind == ErrorKind::refused), to_string(error.kind));
  BOOST_TEST(contains(error.message, "no such bucket"));
}

BOOST_AUTO_TEST_CASE(a_server_that_keeps_the_chunks_of_the_aws_sdk_is_told_by_the_probe_with_what_to_do) {
  struct Chunked : DirectoryFiles {
    using DirectoryFiles::DirectoryFiles;
    Result<std::unique_ptr<Reader>> open_reader(const std::string& path) override {
      std::ofstream(fs::path(root) / path) << "11\r\nHeadway was here\n\r\n0\r\nx-amz-checksum-crc64nvme:x\r\n";
      return DirectoryFiles::open_reader(path);
    }
    std::string root;
  };
  const auto chunked = std::make_shared<Chunked>(root);
  chunked->root = root;
  const Error error = error_of(remote::probe({Store(chunked, {}, patience), "run"}));
  BOOST_TEST((error.kind == ErrorKind::refused), to_string(error.kind));
  BOOST_TEST(contains(error.message, "AWS_REQUEST_CHECKSUM_CALCULATION=when_required"));
}

BOOST_AUTO_TEST_CASE(a_probe_has_little_patience) {
  files->break_on("write", "", Fault::network);
  (void)error_of(remote::probe(run_at()));
  BOOST_TEST(patience->waits == 1);
}

BOOST_AUTO_TEST_CASE(a_deletion_that_fails_leaves_work_for_a_sweep_and_no_orphan) {
  must(store("new", 1));
  files->break_on("remove", "run/new", Fault::denied);
  const Error error = error_of(remote::remove_checkpoint(at("new")));
  BOOST_TEST(error.message == "cannot remove test://run/new: access denied");
  BOOST_TEST(listed().empty());
  files->mend();
  BOOST_TEST((must(remote::sweep(run_at())) == Names{"new"}));
  BOOST_TEST(fs::is_empty(run));
}

BOOST_AUTO_TEST_CASE(a_deletion_that_is_only_claimed_is_told_and_the_checkpoint_is_whole) {
  must(store("new", 1));
  files->break_on("remove", ".headway.json", Fault::lie);
  BOOST_TEST(contains(error_of(remote::remove_checkpoint(at("new"))).message, "is still there"));
  BOOST_TEST((listed() == Names{"new"}));
  BOOST_TEST(is_whole(at("new")));
}

BOOST_AUTO_TEST_CASE(a_marker_that_cannot_be_removed_does_not_undo_a_commit) {
  files->break_on("remove", ".headway.begun.new", Fault::denied);
  must(store("new", 1));
  files->mend();
  BOOST_TEST((listed() == Names{"new"}));
  BOOST_TEST(must(remote::sweep(run_at())).empty());
  BOOST_TEST(!fs::exists(run + "/.headway.begun.new"));
  BOOST_TEST(is_whole(at("new")));
}

BOOST_AUTO_TEST_CASE(a_download_that_ends_early_is_tried_again_and_then_told) {
  must(store("new", 1));
  files->break_on("read", "model.pt", Fault::short_read, 1);
  must(remote::download(at("new"), path("copy")));
  BOOST_TEST(read(path("copy/model.pt")) == "weights");
  files->break_on("read", "model.pt", Fault::short_read);
  const Error error = error_of(remote::download(at("new"), path("other")));
  BOOST_TEST(contains(error.message, "cannot read test://run/new/model.pt: it ended after 3 of 7 bytes"));
  BOOST_TEST(!fs::exists(path("other/model.pt")));
}

BOOST_AUTO_TEST_CASE(damage_is_told_with_the_file_and_what_was_expected) {
  must(store("new", 1));
  register_files("python-damaged", files);
  std::ofstream(run + "/new/model.pt") << "weighty";
  fs::remove(run + "/new/parts/rank_0.pt");
  const Verification found = must(examine("python-damaged://run/new"));
  BOOST_REQUIRE(found.damaged.size() == 2u);
  BOOST_TEST(contains(to_text(found.damaged[0]), "new/model.pt is damaged: expected checksum xxh3:"));
  BOOST_TEST(found.damaged[1].file == "test://run/new/parts/rank_0.pt");
  BOOST_TEST(found.damaged[1].found == "no such file");
}

BOOST_AUTO_TEST_CASE(what_is_not_ours_is_neither_begun_over_nor_swept_nor_removed) {
  write("run/theirs/model.pt", "weights");
  BOOST_TEST((error_of(remote::begin_checkpoint(at("theirs"))).kind == ErrorKind::already_exists));
  BOOST_TEST((error_of(remote::remove_checkpoint(at("theirs"))).kind == ErrorKind::not_found));
  BOOST_TEST(must(remote::sweep(run_at())).empty());
  must(remote::discard_unfinished(at("theirs")));
  BOOST_TEST(read(run + "/theirs/model.pt") == "weights");
  must(store("new", 1));
  BOOST_TEST((error_of(remote::begin_checkpoint(at("new"))).kind == ErrorKind::already_exists));
  BOOST_TEST((error_of(remote::upload(path("source"), at("other"), {"model.pt"}, 0)).kind == ErrorKind::not_found));
}

BOOST_AUTO_TEST_CASE(what_was_begun_by_one_who_died_is_begun_anew) {
  must(remote::begin_checkpoint(at("new")));
  must(remote::upload(path("source"), at("new"), {"parts/rank_0.pt"}, 0));
  must(remote::begin_checkpoint(at("new")));
  BOOST_TEST(!fs::exists(run + "/new/parts"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
