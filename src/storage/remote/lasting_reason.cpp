#include "storage/files.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headway::storage {

namespace {

bool has_any(std::string_view words, std::span<const std::string_view> reasons, std::string_view before) {
  return std::any_of(reasons.begin(), reasons.end(), [&](std::string_view reason) {
    return words.find(std::string(before).append(reason)) != std::string_view::npos;
  });
}

}  // namespace

bool is_lasting_reason(const std::string& words) {
  constexpr std::array<std::string_view, 12> aws{"ACCESS_DENIED",
                                                 "INVALID_ACCESS_KEY_ID",
                                                 "SIGNATURE_DOES_NOT_MATCH",
                                                 "INVALID_SIGNATURE",
                                                 "NO_SUCH_BUCKET",
                                                 "INVALID_CLIENT_TOKEN_ID",
                                                 "MISSING_AUTHENTICATION_TOKEN",
                                                 "UNRECOGNIZED_CLIENT",
                                                 "INCOMPLETE_SIGNATURE",
                                                 "REQUEST_TIME_TOO_SKEWED",
                                                 "OPT_IN_REQUIRED",
                                                 "INVALID_PARAMETER_VALUE"};
  constexpr std::array<std::string_view, 6> http{"400", "401", "403", "404", "405", "411"};
  constexpr std::array<std::string_view, 4> google{"PERMISSION_DENIED", "UNAUTHENTICATED", "INVALID_ARGUMENT",
                                                   "FAILED_PRECONDITION"};
  return has_any(words, aws, "AWS Error ") || has_any(words, http, "HTTP status ") ||
         has_any(words, google, "google::cloud::Status(");
}

}  // namespace headway::storage
