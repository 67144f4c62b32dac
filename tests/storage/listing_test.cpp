#include "storage/scratch.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace headway::storage {

BOOST_FIXTURE_TEST_SUITE(listing_suite, Scratch)

BOOST_AUTO_TEST_CASE(files_are_listed_by_name_with_sizes_and_without_empty_directories) {
  write("source/b", "12");
  write("source/a/z", "1");
  write("source/a.txt", "123");
  fs::create_directory(path("source/empty"));
  const std::vector<FileRecord> files = must(list_files(path("source")));
  BOOST_TEST((names_of(files) == Names{"a.txt", "a/z", "b"}));
  BOOST_TEST(files[0].size == 3u);
  BOOST_TEST(files[2].size == 2u);
}

BOOST_AUTO_TEST_CASE(a_committed_checkpoint_can_be_reported_again_without_its_old_manifest) {
  write("source/model.pt", "weights");
  const std::string first = save(*this, "first", 0, path("source"));
  BOOST_TEST((names_of(must(list_files(first))) == Names{"model.pt"}));
  must(verify(save(*this, "second", 1, first)));
}

BOOST_AUTO_TEST_CASE(links_to_files_and_directories_count_as_what_they_point_to) {
  write("elsewhere/shards/0.pt", "shard");
  fs::create_directory(path("source"));
  fs::create_symlink("../elsewhere/shards/0.pt", path("source/link.pt"));
  fs::create_directory_symlink(path("elsewhere/shards"), path("source/one"));
  fs::create_directory_symlink(path("elsewhere/shards"), path("source/two"));
  const std::vector<FileRecord> files = must(list_files(path("source")));
  BOOST_TEST((names_of(files) == Names{"link.pt", "one/0.pt", "two/0.pt"}));
  BOOST_TEST(files[0].size == 5u);
}

BOOST_AUTO_TEST_CASE(links_that_never_end_or_lead_nowhere_are_errors_that_name_them) {
  const auto refused = [&](const std::string& directory, const std::string& named) {
    const Error error = error_of(list_files(path(directory)));
    BOOST_TEST((error.kind == ErrorKind::invalid_argument));
    BOOST_TEST(contains(error.message, path(named)), error.message);
  };
  write("loop/below/file", "f");
  fs::create_directory_symlink(path("loop"), path("loop/below/back"));
  refused("loop", "loop/below/back");
  fs::create_directory(path("self"));
  fs::create_symlink("me", path("self/me"));
  refused("self", "self/me");
  fs::create_directory(path("dangling"));
  fs::create_symlink("nothing", path("dangling/link"));
  refused("dangling", "dangling/link");
}

BOOST_AUTO_TEST_CASE(a_link_to_the_runs_folder_or_above_it_is_an_error_that_names_it) {
  write("runs/mine/checkpoint/file", "f");
  fs::create_directory(path("source"));
  for (const std::string target : {"runs/mine", "runs"}) {
    fs::create_directory_symlink(path(target), path("source/link"));
    const Error error = error_of(list_files(path("source"), path("runs/mine")));
    BOOST_TEST((error.kind == ErrorKind::invalid_argument));
    BOOST_TEST(contains(error.message, path("source/link") + " is a symbolic link to " + path("runs/mine")),
               error.message);
    fs::remove(path("source/link"));
  }
  fs::create_directory_symlink(path("runs/mine/checkpoint"), path("source/link"));
  BOOST_TEST((names_of(must(list_files(path("source"), path("runs/mine")))) == Names{"link/file"}));
}

BOOST_AUTO_TEST_CASE(a_socket_among_the_files_is_named) {
  fs::create_directory(path("source"));
  struct ::sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path("source/s").c_str(), sizeof address.sun_path - 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  BOOST_REQUIRE(::bind(descriptor, reinterpret_cast<struct ::sockaddr*>(&address), sizeof address) == 0);
  ::close(descriptor);
  BOOST_TEST(
      contains(error_of(list_files(path("source"))).message, path("source/s") + " is not a regular file but a socket"));
}

BOOST_AUTO_TEST_CASE(a_name_that_no_manifest_can_hold_is_refused_when_listed) {
  write("source/bad\xff", "b");
  const Error error = error_of(list_files(path("source")));
  BOOST_TEST((error.kind == ErrorKind::invalid_argument));
  BOOST_TEST(error.message == "checkpoint file name \"bad?\" is not UTF-8");
}

BOOST_AUTO_TEST_CASE(what_is_no_directory_can_not_be_listed) {
  write("file", "f");
  BOOST_TEST(contains(error_of(list_files(path("file"))).message, "is not a directory but a regular file"));
  const Error error = error_of(list_files(path("nowhere")));
  BOOST_TEST((error.kind == ErrorKind::invalid_argument));
  BOOST_TEST(contains(error.message, path("nowhere") + ": no such file or directory"));
}

BOOST_AUTO_TEST_CASE(checkpoints_are_listed_by_index_not_by_name_and_under_the_name_they_have_now) {
  write("source/model.pt", "weights");
  save(*this, "zebra", 1, path("source"));
  save(*this, "apple", 10, path("source"));
  save(*this, "mango", 2, path("source"));
  fs::rename(run + "/mango", run + "/renamed");
  must(begin_checkpoint(run + "/begun"));
  BOOST_TEST((names_of(must(list_checkpoints(run))) == Names{"zebra", "renamed", "apple"}));
}

BOOST_AUTO_TEST_CASE(one_damaged_manifest_does_not_hide_the_others_from_who_asks_for_them) {
  write("source/model.pt", "weights");
  save(*this, "good", 0, path("source"));
  save(*this, "bad", 1, path("source"));
  write("run/bad/.headway.json", "{");
  BOOST_TEST((error_of(list_checkpoints(run)).kind == ErrorKind::corrupted));
  std::vector<Error> unreadable;
  BOOST_TEST((names_of(must(list_checkpoints(run, &unreadable))) == Names{"good"}));
  BOOST_REQUIRE(unreadable.size() == 1u);
  BOOST_TEST(contains(unreadable[0].message, run + "/bad/.headway.json"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
