#pragma once

#include "core/json.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace headway::data {

/// A value of each row. As JSON: `{"column": "a"}`; `{"literal": 5, "type": "int32"}`, whose type
/// may be missing or null; `{"call": "add", "args": [...], "options": {...}}`, whose options may be
/// missing.
struct Expression {
  enum class Kind { column, literal, call };

  Kind kind = Kind::literal;
  std::string name;              ///< The column, or the function that is called.
  Json literal;                  ///< null is a value too.
  std::string type;              ///< A literal's Arrow type, such as "int32"; empty: as inferred.
  std::vector<Expression> args;  ///< A call's.
  JsonObject options;            ///< A call's.

  static Expression column(std::string name);
  static Expression value(Json literal, std::string type = "");
  static Expression call(std::string function, std::vector<Expression> args, JsonObject options = {});

  bool operator==(const Expression&) const = default;
};

/// A column that an expression makes. As JSON: `["name", Expression]`.
struct NamedExpression {
  std::string name;
  Expression expression;

  bool operator==(const NamedExpression&) const = default;
};

/// The columns that `expression` reads.
std::set<std::string> columns_read(const Expression& expression);

/// Whether the value depends on the row's columns alone: no call of `random`, `uuid` or
/// `monotonically_increasing_id`, whose value depends on the row's place too.
bool is_pure(const Expression& expression);

/// The number of columns, literals and calls in it.
std::size_t size_of(const Expression& expression);

/// `a + 5` as `add(a, 5)`, for explain() and errors.
std::string to_string(const Expression& expression);

}  // namespace headway::data

namespace headway::codec {

template <>
struct Type<data::Expression> {
  static constexpr const char* name = "an expression ({\"column\"}, {\"literal\"} or {\"call\"})";
  static void write(const void* from, Json& to);
  static bool read(const Json& from, void* to, Wrong& wrong);
};

template <>
struct Type<data::NamedExpression> {
  static constexpr const char* name = "a list of a name and an expression";
  static void write(const void* from, Json& to);
  static bool read(const Json& from, void* to, Wrong& wrong);
};

}  // namespace headway::codec
