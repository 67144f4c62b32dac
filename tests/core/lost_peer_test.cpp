#include "core/lost_peer.hpp"

#include <boost/test/unit_test.hpp>

namespace headway {

BOOST_AUTO_TEST_SUITE(lost_peer_suite)

BOOST_AUTO_TEST_CASE(words_of_libraries_about_a_connection_whose_other_end_is_gone) {
  BOOST_TEST(tells_of_lost_peer("[/pytorch/gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:1"));
  BOOST_TEST(tells_of_lost_peer("NCCL: socket closed"));
  BOOST_TEST(!tells_of_lost_peer("mat1 and mat2 shapes cannot be multiplied"));
  BOOST_TEST(!tells_of_lost_peer(""));
}

BOOST_AUTO_TEST_CASE(an_abort_counts_with_the_words_of_jax_alone) {
  const ExitStatus aborted{true, 6, ""};
  constexpr auto words = "Terminating process because the JAX distributed service detected fatal errors.\n";
  BOOST_TEST(ended_by_lost_peer(aborted, words));
  BOOST_TEST(!ended_by_lost_peer(aborted, "free(): invalid pointer\n"));
  BOOST_TEST(!ended_by_lost_peer({true, 9, ""}, words));
  BOOST_TEST(!ended_by_lost_peer({false, 6, ""}, words));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
