#pragma once

#include "data/plan.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Whether two plans give the same rows in the same order: what a cursor is valid for. A cursor
/// carries the identity of its plan, so that a changed plan is refused with the difference in
/// words.
namespace headway::data {

/// XXH3 (64 bits, seed 0) of some text or bytes: "xxh3:" and 16 lower-case hexadecimal digits.
std::string digest_of(std::string_view bytes);

/// A plan's nodes as they are compared: in order (`in_order`), keys sorted, blobs as digests, a
/// long list of paths as its first and last one with a digest. What changes no row is not in it:
/// how many workers and GPUs functions have.
struct PlanIdentity {
  std::vector<JsonObject> nodes;
};
BOOST_DESCRIBE_STRUCT(PlanIdentity, (), (nodes))

PlanIdentity identity_of(const Plan& plan, std::span<const std::string_view> blobs);

/// One line of JSON; equal texts are equal plans.
std::string canonical_text(const PlanIdentity& identity);

/// The digest of the canonical text.
std::string plan_hash(const PlanIdentity& identity);

/// What differs, in words: `limit: rows was 10, is 20; filter is new`. Empty when nothing does.
std::string difference(const PlanIdentity& before, const PlanIdentity& now);

}  // namespace headway::data
