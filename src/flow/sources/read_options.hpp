#pragma once

#include <arrow/result.h>

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::flow {

/// The options of a read or a write by name. What is null counts as not given. Errors name the
/// option, what was given and what is allowed.
class OptionView {
 public:
  OptionView(const boost::json::object& options, const std::string& format) : options_(&options), format_(format) {}

  /// Null when it is not given.
  const boost::json::value* find(const char* name) const;

  arrow::Result<bool> flag(const char* name, bool otherwise) const;
  arrow::Result<std::int64_t> integer(const char* name, std::int64_t otherwise) const;
  arrow::Result<std::string> text(const char* name, const std::string& otherwise) const;
  /// One byte, such as a delimiter.
  arrow::Result<char> character(const char* name, char otherwise) const;
  arrow::Result<std::optional<std::vector<std::string>>> texts(const char* name) const;
  arrow::Result<std::optional<std::vector<std::int64_t>>> integers(const char* name) const;
  /// The object that stands under the name; empty when it is not given.
  arrow::Result<OptionView> object(const char* name) const;

  const boost::json::object& all() const { return *options_; }
  arrow::Status misfit(const char* name, const char* allowed) const;

 private:
  const boost::json::object* options_;
  std::string format_;
};

}  // namespace headway::flow
