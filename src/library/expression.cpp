#include <headway/data/expression.hpp>

#include "library/text_check.hpp"

namespace headway::data {
namespace {

Json literal_of(const Json& value) {
  if (value.is_array() || value.is_object()) {
    throw BadResult(
        {ErrorKind::invalid_argument, "value is " + value.dump() + "; allowed: a number, text, true, false or null"});
  }
  library::check_text("value", value).value();
  return {{"literal", value}};
}

void check_name(const char* argument, const std::string& name) {
  if (name.empty()) {
    throw BadResult({ErrorKind::invalid_argument, std::string(argument) + " is \"\"; allowed: a column's name"});
  }
  library::check_text(argument, name).value();
}

}  // namespace

Expr::Expr(Literal, const Json& value) : json_(literal_of(value)) {}

Expr Expr::call(const char* function, const std::vector<Expr>& arguments, const Json& options) {
  Json given = Json::array();
  for (const Expr& each : arguments) given.push_back(each.json_);
  Json made = {{"call", function}, {"args", std::move(given)}};
  if (options.is_object()) made["options"] = options;
  return Expr(std::move(made));
}

Expr Expr::is_null() const { return call("is_null", {*this}); }
Expr Expr::is_not_null() const { return call("is_valid", {*this}); }

Expr Expr::is_in(const std::vector<Json>& values) const {
  Json all = Json::array();
  for (const Json& value : values) all.push_back(literal_of(value).at("literal"));
  return call("is_in", {*this}, Json::object({{"values", std::move(all)}}));
}

Expr Expr::fill_null(const Expr& value) const { return call("coalesce", {*this, value}); }

Expr Expr::cast(const std::string& type) const {
  check_name("type", type);
  return call("cast", {*this}, Json::object({{"type", type}, {"safe", true}}));
}

Expr Expr::abs() const { return call("abs", {*this}); }
Expr Expr::sqrt() const { return call("sqrt", {*this}); }
Expr Expr::exp() const { return call("exp", {*this}); }
Expr Expr::ln() const { return call("ln", {*this}); }
Expr Expr::floor() const { return call("floor", {*this}); }
Expr Expr::ceil() const { return call("ceil", {*this}); }
Expr Expr::power(const Expr& exponent) const { return call("power", {*this, exponent}); }

Expr operator+(const Expr& left, const Expr& right) { return Expr::call("add", {left, right}); }
Expr operator-(const Expr& left, const Expr& right) { return Expr::call("subtract", {left, right}); }
Expr operator*(const Expr& left, const Expr& right) { return Expr::call("multiply", {left, right}); }
Expr operator/(const Expr& left, const Expr& right) { return Expr::call("true_divide", {left, right}); }
Expr operator%(const Expr& left, const Expr& right) { return Expr::call("modulo", {left, right}); }
Expr operator-(const Expr& value) { return Expr::call("negate", {value}); }
Expr operator==(const Expr& left, const Expr& right) { return Expr::call("equal", {left, right}); }
Expr operator!=(const Expr& left, const Expr& right) { return Expr::call("not_equal", {left, right}); }
Expr operator<(const Expr& left, const Expr& right) { return Expr::call("less", {left, right}); }
Expr operator<=(const Expr& left, const Expr& right) { return Expr::call("less_equal", {left, right}); }
Expr operator>(const Expr& left, const Expr& right) { return Expr::call("greater", {left, right}); }
Expr operator>=(const Expr& left, const Expr& right) { return Expr::call("greater_equal", {left, right}); }
Expr operator&&(const Expr& left, const Expr& right) { return Expr::call("and_kleene", {left, right}); }
Expr operator||(const Expr& left, const Expr& right) { return Expr::call("or_kleene", {left, right}); }
Expr operator!(const Expr& value) { return Expr::call("invert", {value}); }

Expr col(const std::string& name) {
  check_name("name", name);
  return Expr(Json::object({{"column", name}}));
}

Expr lit(const Json& value) { return Expr(literal_of(value)); }

}  // namespace headway::data
