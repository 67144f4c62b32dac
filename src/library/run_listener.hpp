#pragma once

#include <map>
#include <string>
#include <string_view>

namespace headway::library {

/// Hears what happens in a run, in order, on the thread that serves it. JSON as text; see
/// worker_bridge.hpp.
class RunListener {
 public:
  virtual ~RunListener() = default;
  virtual void rank_line(int rank, std::string_view line) = 0;
  virtual void helper_line(const std::string& helper, std::string_view line) = 0;
  virtual void remark(bool warning, const std::string& text) = 0;
  virtual void report(const std::string& line_json) = 0;
  virtual void attempt_failed(int attempt, const std::string& message, const std::map<int, std::string>& failures) = 0;
  /// The last call.
  virtual void finished(const std::string& state, int attempts) = 0;
};

}  // namespace headway::library
