#include "control/checkpoint_book.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

/// What is kept, and what may go, as checkpoints are committed one after the other.
namespace headway::control {

namespace {

using Names = std::vector<std::string>;

CheckpointConfig keep(std::optional<int> number, std::optional<std::string> score = {}, std::string order = "max") {
  return {number, std::move(score), std::move(order)};
}

Names kept(const CheckpointBook& book) {
  Names names;
  for (const KeptCheckpoint& checkpoint : book.kept()) names.push_back(checkpoint.name);
  return names;
}

/// Commits "a", "b", … with these values of the metric "acc".
CheckpointBook book_of(const CheckpointConfig& config, const std::vector<double>& values) {
  CheckpointBook book(config);
  char name = 'a';
  for (const double value : values) book.commit(std::string(1, name++), {{"acc", value}});
  return book;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_book_suite)

BOOST_AUTO_TEST_CASE(names_count_up_and_an_empty_book_has_no_newest) {
  CheckpointBook book(keep({}));
  BOOST_TEST(book.next_name() == "checkpoint_000000");
  BOOST_TEST(book.next_name() == "checkpoint_000001");
  BOOST_TEST(!book.newest());
}

BOOST_AUTO_TEST_CASE(without_a_number_all_are_kept) {
  const CheckpointBook book = book_of(keep({}, "acc"), {0.1, 0.3, 0.2});
  BOOST_TEST(kept(book) == (Names{"a", "b", "c"}));
  BOOST_TEST(book.newest().value() == "c");
}

BOOST_AUTO_TEST_CASE(without_a_score_the_newest_are_kept) {
  CheckpointBook book(keep(2));
  BOOST_TEST(book.commit("a", {}).to_delete.empty());
  BOOST_TEST(book.commit("b", {}).to_delete.empty());
  BOOST_TEST(book.commit("c", {}).to_delete == Names{"a"});
  BOOST_TEST(kept(book) == (Names{"b", "c"}));
}

BOOST_AUTO_TEST_CASE(with_a_score_the_highest_are_kept_or_the_lowest) {
  BOOST_TEST(kept(book_of(keep(2, "acc"), {0.9, 0.1, 0.8, 0.85})) == (Names{"a", "d"}));
  BOOST_TEST(kept(book_of(keep(2, "acc", "min"), {0.9, 0.1, 0.8, 0.2})) == (Names{"b", "d"}));
}

BOOST_AUTO_TEST_CASE(the_newest_stays_beside_the_best_until_a_newer_one_comes) {
  CheckpointBook book(keep(1, "acc"));
  book.commit("a", {{"acc", 0.9}});
  BOOST_TEST(book.commit("b", {{"acc", 0.1}}).to_delete.empty());
  BOOST_TEST(kept(book) == (Names{"a", "b"}));
  BOOST_TEST(book.commit("c", {{"acc", 0.2}}).to_delete == Names{"b"});
  BOOST_TEST(book.commit("d", {{"acc", 0.95}}).to_delete == (Names{"a", "c"}));
  BOOST_TEST(kept(book) == Names{"d"});
}

BOOST_AUTO_TEST_CASE(of_equal_scores_the_newer_is_the_better) {
  BOOST_TEST(kept(book_of(keep(1, "acc"), {0.5, 0.5, 0.5})) == Names{"c"});
  BOOST_TEST(kept(book_of(keep(1, "acc", "min"), {0.5, 0.5})) == Names{"b"});
}

BOOST_AUTO_TEST_CASE(a_nested_score_is_found_by_its_path_and_an_exact_key_wins) {
  CheckpointBook book(keep(1, "eval/acc"));
  book.commit("a", {{"eval", {{"acc", 0.9}}}});
  BOOST_TEST(!book.commit("b", {{"eval", {{"acc", 0.1}}}}).warning);
  BOOST_TEST(kept(book) == (Names{"a", "b"}));
  book.commit("c", {{"eval/acc", 1.0}, {"eval", {{"acc", 0.0}}}});
  BOOST_TEST(kept(book) == Names{"c"});
}

BOOST_AUTO_TEST_CASE(whole_numbers_and_fractions_compare) {
  CheckpointBook book(keep(1, "acc"));
  book.commit("a", {{"acc", 2}});
  book.commit("b", {{"acc", std::uint64_t{3}}});
  BOOST_TEST(kept(book) == Names{"b"});
  book.commit("c", {{"acc", 2.5}});
  book.commit("d", {{"acc", 2.75}});
  BOOST_TEST(kept(book) == (Names{"b", "d"}));
}

BOOST_AUTO_TEST_CASE(infinities_are_scores) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(kept(book_of(keep(1, "acc"), {infinity, 1.0})) == (Names{"a", "b"}));
  BOOST_TEST(kept(book_of(keep(1, "acc"), {-infinity, -1e300})) == Names{"b"});
}

BOOST_AUTO_TEST_CASE(a_score_that_is_missing_or_no_number_ranks_last_and_is_warned_of_once) {
  const JsonObject without[] = {{{"loss", 1.0}, {"epoch", 3}},
                                {{"acc", std::numeric_limits<double>::quiet_NaN()}},
                                {{"acc", "high"}},
                                {{"acc", true}},
                                {}};
  for (const JsonObject& metrics : without) {
    CheckpointBook book(keep(1, "acc"));
    book.commit("a", {{"acc", -1e9}});
    const CheckpointBook::Verdict verdict = book.commit("b", metrics);
    BOOST_REQUIRE(verdict.warning.has_value());
    BOOST_TEST(verdict.warning->starts_with("checkpoint_score_attribute \"acc\" is not a number in the metrics of b"));
    BOOST_TEST(verdict.to_delete.empty());
    const CheckpointBook::Verdict next = book.commit("c", metrics);
    BOOST_TEST(!next.warning);
    BOOST_TEST(next.to_delete == Names{"b"});
    BOOST_TEST(kept(book) == (Names{"a", "c"}));
  }
}

BOOST_AUTO_TEST_CASE(the_warning_names_the_metrics_that_are_there) {
  CheckpointBook book(keep({}, "acc"));
  BOOST_TEST(
      book.commit("a", {{"loss", 1.0}, {"epoch", 3}}).warning.value().ends_with("The metrics there are: loss, epoch."));
  CheckpointBook empty(keep({}, "acc"));
  BOOST_TEST(empty.commit("a", {}).warning.value().ends_with("The metrics there are: none."));
}

BOOST_AUTO_TEST_CASE(when_no_score_is_there_at_all_the_newest_are_kept) {
  CheckpointBook book(keep(2, "acc"));
  for (const char* name : {"a", "b", "c", "d"}) book.commit(name, {});
  BOOST_TEST(kept(book) == (Names{"c", "d"}));
}

BOOST_AUTO_TEST_CASE(a_pinned_checkpoint_stays_until_it_is_pinned_no_more) {
  CheckpointBook book(keep(1));
  BOOST_TEST(book.pin({"b"}).empty());
  BOOST_TEST(book.commit("a", {}).to_delete.empty());
  BOOST_TEST(book.commit("b", {}).to_delete == Names{"a"});
  BOOST_TEST(book.commit("c", {}).to_delete.empty());
  BOOST_TEST(book.commit("d", {}).to_delete == Names{"c"});
  BOOST_TEST(kept(book) == (Names{"b", "d"}));
  BOOST_TEST(book.pin({}) == Names{"b"});
  BOOST_TEST(kept(book) == Names{"d"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
