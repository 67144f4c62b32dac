#include "wire/fork_guard.hpp"

#include "wire/channel.hpp"
#include "wire/sockets.hpp"

#include <functional>

/// What a forked child must not keep open: its parent's sockets, by which others know that the
/// parent is alive.
namespace headway::wire {

namespace {

/// The exit code of a forked child that runs `work`.
int exit_code_of(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool is_open_in_child(int fd) {
  return exit_code_of([fd] { return is_open(fd) ? 1 : 0; }) == 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fork_guard_suite)

BOOST_AUTO_TEST_CASE(a_forked_child_has_the_descriptor_closed_and_its_parent_has_not) {
  Ends socket = make_socket();
  BOOST_TEST(is_open_in_child(socket.a.get()));
  drop_in_children(socket.a.get());
  BOOST_TEST(!is_open_in_child(socket.a.get()));
  BOOST_TEST(is_open_in_child(socket.b.get()));
  BOOST_TEST(is_open(socket.a.get()));
  keep_in_children(socket.a.get());
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_is_handed_on_stays_open_in_children) {
  Ends socket = make_socket();
  drop_in_children(socket.a.get());
  keep_in_children(socket.a.get());
  BOOST_TEST(is_open_in_child(socket.a.get()));
}

BOOST_AUTO_TEST_CASE(a_child_that_lives_on_does_not_hide_its_parents_end) {
  Ends socket = make_socket();
  Ends life = make_pipe();
  drop_in_children(socket.a.get());
  const pid_t child = ::fork();
  if (child == 0) {
    life.b.close();
    ::_exit(at_end(life.a.get()) ? 0 : 1);
  }
  keep_in_children(socket.a.get());
  socket.a.close();
  BOOST_TEST(at_end(socket.b.get()));
  life.b.close();
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(a_child_may_use_the_number_for_something_of_its_own) {
  Ends socket = make_socket();
  const int fd = socket.a.get();
  drop_in_children(fd);
  const int code = exit_code_of([fd] {
    if (::dup2(STDERR_FILENO, fd) != fd) return 2;
    return is_open_in_child(fd) ? 0 : 1;
  });
  BOOST_TEST(code == 0);
  keep_in_children(fd);
}

BOOST_AUTO_TEST_CASE(a_channels_socket_is_closed_in_children_as_long_as_the_channel_lives) {
  boost::asio::io_context loop;
  Ends socket = make_socket();
  const int fd = socket.a.get();
  auto channel = std::make_shared<Channel>(loop, std::move(socket.a), test_kinds);
  BOOST_TEST(!is_open_in_child(fd));
  channel->close();
  const Descriptor same(::fcntl(socket.b.get(), F_DUPFD_CLOEXEC, fd));
  BOOST_REQUIRE(same.get() == fd);
  BOOST_TEST(is_open_in_child(fd));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_no_descriptors_are_ignored) {
  drop_in_children(-1);
  drop_in_children(1 << 30);
  keep_in_children(-1);
  keep_in_children(1 << 30);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::wire
