#pragma once

#include <headway/export.hpp>
#include <headway/json.hpp>

#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace headway::data {

/// A value of each row, computed by the data process: a column, a constant, or what operators and
/// functions make of others. Operators are `+ - * / %`, the comparisons, `&&`, `||` and `!`. Where
/// a value is missing (null), so is what is computed from it; `&&` and `||` know what does not
/// depend on it.
///
///     using headway::data::col;
///     auto young = people.filter(col("age") >= 18 && col("country").is_in({"FR", "DE"}));
class HEADWAY_API Expr {
 public:
  /// A constant.
  template <class T>
    requires((std::integral<T> && !std::same_as<T, char>) || std::floating_point<T>)
  Expr(T value) : Expr(Literal{}, Json(value)) {}
  Expr(char letter) : Expr(std::string(1, letter)) {}
  Expr(const char* text) : Expr(Literal{}, Json(text)) {}
  Expr(const std::string& text) : Expr(Literal{}, Json(text)) {}

  Expr is_null() const;
  Expr is_not_null() const;
  /// Whether the value is one of these.
  Expr is_in(const std::vector<Json>& values) const;
  /// The value, or another where it is missing.
  Expr fill_null(const Expr& value) const;
  /// The value in another type, as Arrow names it: "float", "double", "int64", "string",
  /// "timestamp[us]". A value that the type does not have is an error when it is computed.
  Expr cast(const std::string& type) const;
  Expr abs() const;
  Expr sqrt() const;
  Expr exp() const;
  Expr ln() const;
  Expr floor() const;
  Expr ceil() const;
  Expr power(const Expr& exponent) const;

  friend HEADWAY_API Expr operator+(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator-(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator*(const Expr& left, const Expr& right);
  /// Of integers too the quotient has a fraction.
  friend HEADWAY_API Expr operator/(const Expr& left, const Expr& right);
  /// The sign is that of `right`.
  friend HEADWAY_API Expr operator%(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator-(const Expr& value);
  friend HEADWAY_API Expr operator==(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator!=(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator<(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator<=(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator>(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator>=(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator&&(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator||(const Expr& left, const Expr& right);
  friend HEADWAY_API Expr operator!(const Expr& value);

  /// As the plan of a data set has it.
  const Json& json() const { return json_; }

 private:
  struct Literal {};
  explicit Expr(Json json) : json_(std::move(json)) {}
  Expr(Literal, const Json& value);
  static Expr call(const char* function, const std::vector<Expr>& arguments, const Json& options = Json());
  friend HEADWAY_API Expr col(const std::string& name);
  friend HEADWAY_API Expr lit(const Json& value);

  Json json_;
};

/// A column of the data set. Throws `BadResult` (`invalid_argument`) for an empty name.
HEADWAY_API Expr col(const std::string& name);

/// A constant: a number, text, a bool, or null. Throws `BadResult` (`invalid_argument`) for
/// anything else.
HEADWAY_API Expr lit(const Json& value);

}  // namespace headway::data
