#include "storage/disk/checksum.hpp"
#include "storage/scratch.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <malloc.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <fstream>

namespace headway::storage {

namespace {

std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * 4096;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(upload_suite, Scratch)

BOOST_AUTO_TEST_CASE(a_large_buffer_goes_back_to_the_system_in_a_process_that_keeps_what_it_frees) {
  constexpr std::size_t mib = 1 << 20;
  const pid_t child = ::fork();
  if (child == 0) {
    // As in a worker (worker/memory.hpp).
    ::mallopt(M_MMAP_THRESHOLD, 32 * mib);
    ::mallopt(M_TRIM_THRESHOLD, 512 * mib);
    const std::size_t before = resident_bytes();
    {
      const Buffer buffer = must(Buffer::make(10 * mib));
      std::fill(buffer.span().begin(), buffer.span().end(), std::byte{1});
      if (resident_bytes() < before + 9 * mib) ::_exit(2);
    }
    ::_exit(resident_bytes() > before + 5 * mib ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(a_sparse_file_keeps_its_holes_and_its_content) {
  constexpr off_t mib = 1 << 20;
  constexpr off_t size = 8 * mib;
  const std::string source = write("rank0/sparse.bin", "the beginning");
  std::fstream file(source, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3 * mib + 7);
  file << "the middle";
  file.close();
  fs::resize_file(source, size);
  const std::string directory = run + "/checkpoint_000000";
  must(begin_checkpoint(directory));
  const std::vector<FileRecord> records = must(upload(path("rank0"), directory, {"sparse.bin"}, 0, Transfer::copy));
  struct ::stat copied{};
  BOOST_REQUIRE(::stat((directory + "/sparse.bin").c_str(), &copied) == 0);
  BOOST_TEST(copied.st_size == size);
  BOOST_TEST(copied.st_blocks * 512 < mib);
  BOOST_TEST((read(directory + "/sparse.bin") == read(source)));
  Checksum whole;
  const std::string content = read(source);
  whole.add(std::as_bytes(std::span(content)));
  BOOST_TEST(records[0].checksum == whole.text());
}

BOOST_AUTO_TEST_CASE(what_two_ranks_wrote_comes_back_byte_for_byte) {
  write("rank0/model.pt", "weights");
  write("rank1/optimizer/state.pt", std::string(3'000'001, 'x'));
  const std::string directory = run + "/checkpoint_000000";
  must(begin_checkpoint(directory));
  std::vector<FileRecord> records = must(upload(path("rank0"), directory, {"model.pt"}, 0, Transfer::copy));
  const std::vector<FileRecord> second =
      must(upload(path("rank1"), directory, {"optimizer/state.pt"}, 1, Transfer::copy));
  BOOST_TEST(second[0].rank == 1);
  BOOST_TEST(second[0].size == 3'000'001u);
  records.push_back(second[0]);
  must(commit(directory, manifest_of("checkpoint_000000", 0, records)));

  must(verify(directory));
  must(download(directory, path("restored")));
  BOOST_TEST(read(path("restored/model.pt")) == "weights");
  BOOST_TEST(read(path("restored/optimizer/state.pt")) == std::string(3'000'001, 'x'));
  BOOST_TEST((names_of(must(list_files(path("restored")))) == Names{"model.pt", "optimizer/state.pt"}));
  BOOST_TEST(!fs::exists(directory + "/.headway.begun"));
}

BOOST_AUTO_TEST_CASE(the_checksum_is_plain_xxh3_of_the_whole_file) {
  write("source/empty", "");
  write("source/abc", "abc");
  const std::vector<FileRecord> records = [&] {
    must(begin_checkpoint(run + "/c"));
    return must(upload(path("source"), run + "/c", {"empty", "abc"}, 0, Transfer::copy));
  }();
  BOOST_TEST(records[0].checksum == "xxh3:2d06800538d394c2");
  BOOST_TEST(records[1].checksum == "xxh3:78af5f94892f3950");
}

BOOST_AUTO_TEST_CASE(a_linked_file_stays_at_its_source_and_is_whole_in_the_checkpoint_after_the_source_is_removed) {
  write("source/big", std::string().append(20'000'000, 'm'));
  write("source/deep/er/small", "s");
  const std::string directory = save(*this, "checkpoint_000001", 1, path("source"), Transfer::link);
  BOOST_TEST(fs::equivalent(path("source/big"), directory + "/big"));
  must(remove_directory(path("source")));
  must(verify(directory));
  BOOST_TEST(read(directory + "/deep/er/small") == "s");
}

BOOST_AUTO_TEST_CASE(a_file_with_a_second_name_is_copied_so_that_writing_to_the_other_name_changes_nothing) {
  write("source/model.pt", "committed");
  fs::create_hard_link(path("source/model.pt"), path("other_name"));
  const std::string directory = save(*this, "c", 0, path("source"), Transfer::link);
  std::ofstream(path("other_name")) << "overwritten later";
  must(verify(directory));
  BOOST_TEST(read(directory + "/model.pt") == "committed");
}

BOOST_AUTO_TEST_CASE(what_a_symbolic_link_points_to_stays_where_it_is_when_the_link_is_moved) {
  write("elsewhere/base.pt", "base");
  write("elsewhere/shards/0.pt", "shard");
  fs::create_directory(path("source"));
  fs::create_symlink(path("elsewhere/base.pt"), path("source/base.pt"));
  fs::create_directory_symlink(path("elsewhere/shards"), path("source/shards"));
  const std::string directory = save(*this, "c", 0, path("source"), Transfer::link);
  BOOST_TEST(read(directory + "/base.pt") == "base");
  BOOST_TEST(read(directory + "/shards/0.pt") == "shard");
  BOOST_TEST(!fs::is_symlink(directory + "/base.pt"));
  BOOST_TEST(read(path("elsewhere/base.pt")) == "base");
  BOOST_TEST(read(path("elsewhere/shards/0.pt")) == "shard");
}

BOOST_AUTO_TEST_CASE(names_with_spaces_and_letters_of_any_script_are_kept) {
  const Names names{"a b/c d.pt", "größe/重み.pt", "quote\"back\\slash\nline"};
  for (const std::string& name : names) write("source/" + name, name);
  const std::string directory = save(*this, "época 1", 0, path("source"));
  must(verify(directory));
  BOOST_TEST((names_of(must(read_manifest(directory)).files) == names));
}

BOOST_AUTO_TEST_CASE(permission_bits_are_kept) {
  write("source/tool.sh", "#!/bin/sh\n");
  write("source/secret", "s");
  ::chmod(path("source/tool.sh").c_str(), 0755);
  ::chmod(path("source/secret").c_str(), 0400);
  const std::string directory = save(*this, "c", 0, path("source"));
  const auto bits = [&](const char* name) { return static_cast<unsigned>(fs::status(directory + name).permissions()); };
  BOOST_TEST(bits("/tool.sh") == 0755u);
  BOOST_TEST(bits("/secret") == 0400u);
}

BOOST_AUTO_TEST_CASE(a_file_that_vanished_between_listing_and_upload_is_named) {
  write("source/a", "a");
  must(begin_checkpoint(run + "/c"));
  for (const Transfer transfer : {Transfer::copy, Transfer::link}) {
    const Error error = error_of(upload(path("source"), run + "/c", {"a", "gone.pt"}, 0, transfer));
    BOOST_TEST((error.kind == ErrorKind::invalid_argument));
    BOOST_TEST(contains(error.message, path("source/gone.pt") + ": no such file or directory"));
    BOOST_TEST(read(path("source/a")) == "a");
  }
}

BOOST_AUTO_TEST_CASE(a_fifo_is_an_error_that_names_it_and_nobody_waits_for_its_writer) {
  write("source/a", "a");
  BOOST_REQUIRE(::mkfifo(path("source/pipe").c_str(), 0600) == 0);
  const Error listed = error_of(list_files(path("source")));
  BOOST_TEST(contains(listed.message, path("source/pipe") + " is not a regular file but a FIFO"));
  must(begin_checkpoint(run + "/c"));
  const Error uploaded = error_of(upload(path("source"), run + "/c", {"pipe"}, 0, Transfer::copy));
  BOOST_TEST((uploaded.kind == ErrorKind::invalid_argument));
  BOOST_TEST(contains(uploaded.message, path("source/pipe") + " is not a regular file but a FIFO"));
}

BOOST_AUTO_TEST_CASE(a_file_larger_than_the_process_may_write_fails_the_upload_and_leaves_no_part_of_it) {
  write("source/b", "b");
  for (const std::size_t bytes : {std::size_t{100'000}, std::size_t{40} << 20}) {
    write("source/a", std::string(bytes, 'a'));
    must(begin_checkpoint(run + "/c"));
    struct ::rlimit before = {};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const struct ::rlimit tight = {bytes / 2, before.rlim_max};
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &tight);
    const Result<std::vector<FileRecord>> uploaded = upload(path("source"), run + "/c", {"a", "b"}, 0, Transfer::copy);
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
    const Error error = error_of(uploaded);
    BOOST_TEST((error.kind == ErrorKind::unavailable));
    BOOST_TEST(contains(error.message, "cannot write " + run + "/c/a: file too large"), error.message);
    BOOST_TEST(!fs::exists(run + "/c/a"));
    BOOST_TEST(must(list_checkpoints(run)).empty());
  }
}

BOOST_AUTO_TEST_CASE(large_files_of_any_length_are_copied_whole_around_the_page_cache) {
  std::string content;
  content.resize(33'000'001);
  for (std::size_t index = 0; index < content.size(); ++index)
    content[index] = static_cast<char>(index * 2654435761u >> 13);
  for (const std::size_t size : {16u << 20, (16u << 20) + 1, (17u << 20) - 1, 33'000'001u}) {
    write("source/" + std::to_string(size), std::string_view(content).substr(0, size));
  }
  const std::string directory = save(*this, "copied", 0, path("source"));
  must(verify(directory));
  for (const FileRecord& file : must(read_manifest(directory)).files) {
    BOOST_TEST(file.name == std::to_string(file.size));
    BOOST_TEST((read(directory + "/" + file.name) == std::string_view(content).substr(0, file.size)));
  }
  const std::string moved = save(*this, "moved", 1, path("source"), Transfer::link);
  const std::vector<FileRecord> copies = must(read_manifest(directory)).files;
  const std::vector<FileRecord> moves = must(read_manifest(moved)).files;
  for (std::size_t index = 0; index < copies.size(); ++index)
    BOOST_TEST(copies[index].checksum == moves[index].checksum);
}

BOOST_AUTO_TEST_CASE(a_directory_that_was_not_begun_takes_no_upload) {
  write("source/a", "a");
  write("run/users/own.pt", "mine");
  const Error error = error_of(upload(path("source"), run + "/users", {"a"}, 0, Transfer::copy));
  BOOST_TEST((error.kind == ErrorKind::not_found));
  BOOST_TEST(contains(error.message, "has not been begun"));
  BOOST_TEST(!fs::exists(run + "/users/a"));
}

BOOST_AUTO_TEST_CASE(names_that_lead_out_of_the_checkpoint_are_refused_before_anything_is_written) {
  write("source/a", "a");
  must(begin_checkpoint(run + "/c"));
  for (const char* name : {"../a", "/etc/passwd", ".headway.json", ".headway.part.1", "x//y", ""}) {
    BOOST_TEST(
        (error_of(upload(path("source"), run + "/c", {name}, 0, Transfer::copy)).kind == ErrorKind::invalid_argument));
  }
  BOOST_TEST(
      contains(error_of(upload(path("source"), run + "/c", {"a", "a"}, 0, Transfer::copy)).message, "named twice"));
}

BOOST_AUTO_TEST_CASE(two_ranks_upload_one_name_and_the_last_ones_whole_file_stays) {
  write("rank0/model.pt", std::string(5000, '0'));
  write("rank1/model.pt", "1");
  write("rank1/own.pt", "own");
  const std::string directory = run + "/c";
  must(begin_checkpoint(directory));
  std::vector<FileRecord> records = must(upload(path("rank0"), directory, {"model.pt"}, 0, Transfer::copy));
  for (const FileRecord& record : must(upload(path("rank1"), directory, {"own.pt", "model.pt"}, 1, Transfer::copy))) {
    records.push_back(record);
  }
  BOOST_TEST((error_of(commit(directory, manifest_of("c", 0, records))).kind == ErrorKind::invalid_argument));
  records.erase(records.begin());
  must(commit(directory, manifest_of("c", 0, records)));
  must(verify(directory));
  BOOST_TEST(read(directory + "/model.pt") == "1");
  BOOST_TEST(must(list_files(directory)).size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_thousand_small_files_are_one_checkpoint) {
  for (int index = 0; index < 1000; ++index)
    write("source/" + std::to_string(index % 7) + "/f" + std::to_string(index), std::to_string(index));
  for (const Transfer transfer : {Transfer::copy, Transfer::link}) {
    const std::string directory =
        save(*this, transfer == Transfer::copy ? "copied" : "moved", 0, path("source"), transfer);
    BOOST_TEST(must(read_manifest(directory)).files.size() == 1000u);
    must(verify(directory));
  }
}

BOOST_AUTO_TEST_CASE(a_move_that_fails_half_way_gives_every_file_back) {
  write("source/a", "a");
  write("source/b", "b");
  must(begin_checkpoint(run + "/c"));
  write("run/c/b/in_the_way", "a directory where b should go");
  const Error error = error_of(upload(path("source"), run + "/c", {"a", "b"}, 0, Transfer::link));
  BOOST_TEST(contains(error.message, run + "/c/b: is a directory"));
  BOOST_TEST(read(path("source/a")) == "a");
  BOOST_TEST(read(path("source/b")) == "b");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
