#pragma once

#include <headway/result.hpp>

#include <string>

namespace headway::dashboard {

/// What a route answers.
struct Answer {
  unsigned status = 200;
  std::string body;
  std::string type = "application/json";
  bool forever = false;  ///< A browser may keep it: its URL has a hash of it.
};

/// `not_found` is 404, `invalid_argument` 400, anything else 500; the words are in `error`.
Answer answer_of(const Error& error);

}  // namespace headway::dashboard
