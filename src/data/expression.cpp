#include "data/expression.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headway::data {
namespace {

constexpr std::array<std::string_view, 3> placed_calls = {"monotonically_increasing_id", "random", "uuid"};

void add_columns(const Expression& expression, std::set<std::string>& columns) {
  if (expression.kind == Expression::Kind::column) columns.insert(expression.name);
  for (const Expression& arg : expression.args) add_columns(arg, columns);
}

}  // namespace

Expression Expression::column(std::string name) { return {Kind::column, std::move(name), {}, {}, {}, {}}; }

Expression Expression::value(Json literal, std::string type) {
  return {Kind::literal, {}, std::move(literal), std::move(type), {}, {}};
}

Expression Expression::call(std::string function, std::vector<Expression> args, JsonObject options) {
  return {Kind::call, std::move(function), {}, {}, std::move(args), std::move(options)};
}

std::set<std::string> columns_read(const Expression& expression) {
  std::set<std::string> columns;
  add_columns(expression, columns);
  return columns;
}

bool is_pure(const Expression& expression) {
  if (expression.kind == Expression::Kind::call &&
      std::ranges::find(placed_calls, expression.name) != placed_calls.end())
    return false;
  return std::ranges::all_of(expression.args, is_pure);
}

std::size_t size_of(const Expression& expression) {
  std::size_t size = 1;
  for (const Expression& arg : expression.args) size += size_of(arg);
  return size;
}

std::string to_string(const Expression& expression) {
  if (expression.kind == Expression::Kind::column) return expression.name;
  if (expression.kind == Expression::Kind::literal) return json_text(expression.literal);
  std::string text = expression.name + "(";
  for (const Expression& arg : expression.args) text += (&arg == expression.args.data() ? "" : ", ") + to_string(arg);
  return text + ")";
}

}  // namespace headway::data

namespace headway::codec {
namespace {

bool read_call(const JsonObject& object, data::Expression& expression, Wrong& wrong) {
  const Json* args = object.if_contains("args");
  if (args == nullptr) {
    wrong = {"a list", "args", "none"};
    return false;
  }
  if (!of<std::vector<data::Expression>>.read(*args, &expression.args, wrong)) return refuse_member("args", wrong);
  const Json* options = object.if_contains("options");
  return options == nullptr || options->is_null() || of<JsonObject>.read(*options, &expression.options, wrong) ||
         refuse_member("options", wrong);
}

bool read_literal(const JsonObject& object, data::Expression& expression, Wrong& wrong) {
  expression.literal = object.at("literal");
  const Json* type = object.if_contains("type");
  return type == nullptr || type->is_null() || of<std::string>.read(*type, &expression.type, wrong) ||
         refuse_member("type", wrong);
}

}  // namespace

void Type<data::Expression>::write(const void* from, Json& to) {
  const auto& expression = *static_cast<const data::Expression*>(from);
  JsonObject& object = to.emplace_object();
  switch (expression.kind) {
    case data::Expression::Kind::column: object["column"] = expression.name; return;
    case data::Expression::Kind::literal:
      object["literal"] = expression.literal;
      object["type"] = expression.type.empty() ? Json() : Json(expression.type);
      return;
    case data::Expression::Kind::call:
      object["call"] = expression.name;
      of<std::vector<data::Expression>>.write(&expression.args, object["args"]);
      object["options"] = expression.options;
      return;
  }
}

bool Type<data::Expression>::read(const Json& from, void* to, Wrong& wrong) {
  using Kind = data::Expression::Kind;
  auto& expression = *static_cast<data::Expression*>(to);
  const JsonObject* object = from.if_object();
  if (object == nullptr) return refuse(of<data::Expression>, from, wrong);
  expression = {};
  if (object->contains("literal")) return read_literal(*object, expression, wrong);
  const char* key = object->contains("call") ? "call" : "column";
  const Json* named = object->if_contains(key);
  if (named == nullptr) return refuse(of<data::Expression>, from, wrong);
  expression.kind = std::string_view(key) == "call" ? Kind::call : Kind::column;
  if (!of<std::string>.read(*named, &expression.name, wrong)) return refuse_member(key, wrong);
  return expression.kind == Kind::column || read_call(*object, expression, wrong);
}

void Type<data::NamedExpression>::write(const void* from, Json& to) {
  const auto& named = *static_cast<const data::NamedExpression*>(from);
  JsonArray& pair = to.emplace_array();
  pair.emplace_back(named.name);
  of<data::Expression>.write(&named.expression, pair.emplace_back(nullptr));
}

bool Type<data::NamedExpression>::read(const Json& from, void* to, Wrong& wrong) {
  auto& named = *static_cast<data::NamedExpression*>(to);
  const JsonArray* pair = from.if_array();
  if (pair == nullptr || pair->size() != 2) return refuse(of<data::NamedExpression>, from, wrong);
  if (!of<std::string>.read((*pair)[0], &named.name, wrong)) return refuse_element(0, wrong);
  return of<data::Expression>.read((*pair)[1], &named.expression, wrong) || refuse_element(1, wrong);
}

}  // namespace headway::codec
