#include "flow/expressions/type_names.hpp"

#include <arrow/type.h>

#include <charconv>
#include <functional>
#include <map>
#include <vector>

namespace headway::flow {
namespace {

using TypeResult = arrow::Result<std::shared_ptr<arrow::DataType>>;

const std::map<std::string, std::shared_ptr<arrow::DataType>, std::less<>>& plain_types() {
  using namespace arrow;  // NOLINT(google-build-using-namespace): a table of its factories
  static const std::map<std::string, std::shared_ptr<DataType>, std::less<>> table = {
      {"null", null()},
      {"bool", boolean()},
      {"boolean", boolean()},
      {"int8", int8()},
      {"int16", int16()},
      {"int32", int32()},
      {"int64", int64()},
      {"uint8", uint8()},
      {"uint16", uint16()},
      {"uint32", uint32()},
      {"uint64", uint64()},
      {"halffloat", float16()},
      {"float16", float16()},
      {"float", float32()},
      {"float32", float32()},
      {"double", float64()},
      {"float64", float64()},
      {"string", utf8()},
      {"utf8", utf8()},
      {"str", utf8()},
      {"large_string", large_utf8()},
      {"large_utf8", large_utf8()},
      {"string_view", utf8_view()},
      {"binary", binary()},
      {"large_binary", large_binary()},
      {"binary_view", binary_view()},
      {"date32[day]", date32()},
      {"date32", date32()},
      {"date64[ms]", date64()},
      {"date64", date64()},
      {"time32[s]", time32(TimeUnit::SECOND)},
      {"time32[ms]", time32(TimeUnit::MILLI)},
      {"time64[us]", time64(TimeUnit::MICRO)},
      {"time64[ns]", time64(TimeUnit::NANO)},
      {"month_interval", month_interval()},
      {"day_time_interval", day_time_interval()},
      {"month_day_nano_interval", month_day_nano_interval()}};
  return table;
}

/// Reads a name from its start; each function takes what it understands off `rest`.
class NameReader {
 public:
  explicit NameReader(std::string_view name) : whole_(name), rest_(name) {}

  TypeResult read_all() {
    ARROW_ASSIGN_OR_RAISE(auto type, read());
    skip_blanks();
    if (!rest_.empty()) return wrong();
    return type;
  }

 private:
  arrow::Status wrong() const {
    return arrow::Status::Invalid("type ", std::string(whole_),
                                  " is unknown; allowed are the names that Arrow prints, such as int64, float, double, "
                                  "string, bool, timestamp[us], decimal128(10, 2), list<int64>");
  }

  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  bool take(std::string_view text) {
    skip_blanks();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  std::string_view take_until(std::string_view ends) {
    skip_blanks();
    const std::size_t length = std::min(rest_.find_first_of(ends), rest_.size());
    const std::string_view found = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return found;
  }

  arrow::Result<int> number() {
    skip_blanks();
    int value = 0;
    const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (failure != std::errc()) return wrong();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  TypeResult read() {
    skip_blanks();
    if (take("timestamp[")) return timestamp();
    if (take("duration[")) return duration();
    if (take("fixed_size_binary[")) {
      ARROW_ASSIGN_OR_RAISE(const int width, number());
      return take("]") ? TypeResult(arrow::fixed_size_binary(width)) : wrong();
    }
    if (take("decimal32(")) return decimal(&arrow::Decimal32Type::Make);
    if (take("decimal64(")) return decimal(&arrow::Decimal64Type::Make);
    if (take("decimal128(")) return decimal(&arrow::Decimal128Type::Make);
    if (take("decimal256(")) return decimal(&arrow::Decimal256Type::Make);
    if (take("struct<")) return structure();
    if (take("map<")) return map();
    if (take("dictionary<values=")) return dictionary();
    if (take("large_list<")) return list(&large_list_of);
    if (take("list<")) return list(&list_of);
    if (take("fixed_size_list<")) return fixed_size_list();
    return plain();
  }

  static std::shared_ptr<arrow::DataType> list_of(const std::shared_ptr<arrow::Field>& value) {
    return arrow::list(value);
  }
  static std::shared_ptr<arrow::DataType> large_list_of(const std::shared_ptr<arrow::Field>& value) {
    return arrow::large_list(value);
  }

  TypeResult plain() {
    std::string_view name = take_until("<>,()=");
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    const auto found = plain_types().find(name);
    if (found == plain_types().end()) return wrong();
    return found->second;
  }

  arrow::Result<arrow::TimeUnit::type> unit() {
    if (take("ms")) return arrow::TimeUnit::MILLI;
    if (take("us")) return arrow::TimeUnit::MICRO;
    if (take("ns")) return arrow::TimeUnit::NANO;
    if (take("s")) return arrow::TimeUnit::SECOND;
    return wrong();
  }

  TypeResult timestamp() {
    ARROW_ASSIGN_OR_RAISE(const auto resolution, unit());
    std::string zone;
    if (take(",")) {
      if (!take("tz=")) return wrong();
      zone = std::string(take_until("]"));
    }
    return take("]") ? TypeResult(arrow::timestamp(resolution, zone)) : wrong();
  }

  TypeResult duration() {
    ARROW_ASSIGN_OR_RAISE(const auto resolution, unit());
    return take("]") ? TypeResult(arrow::duration(resolution)) : wrong();
  }

  template <class Make>
  TypeResult decimal(Make make) {
    ARROW_ASSIGN_OR_RAISE(const int precision, number());
    if (!take(",")) return wrong();
    ARROW_ASSIGN_OR_RAISE(const int scale, number());
    if (!take(")")) return wrong();
    return make(precision, scale);
  }

  /// A field `name: type`, or a type alone, which is called `name`.
  arrow::Result<std::shared_ptr<arrow::Field>> field(std::string name) {
    const std::string_view before = rest_;
    const std::string_view word = take_until(":<>,[(");
    if (rest_.starts_with(':')) {
      name = std::string(word);
      rest_.remove_prefix(1);
    } else {
      rest_ = before;
    }
    ARROW_ASSIGN_OR_RAISE(auto type, read());
    const bool nullable = !take("not null");
    return arrow::field(std::move(name), std::move(type), nullable);
  }

  template <class Make>
  TypeResult list(Make make) {
    ARROW_ASSIGN_OR_RAISE(auto value, field("item"));
    if (!take(">")) return wrong();
    return make(value);
  }

  TypeResult fixed_size_list() {
    ARROW_ASSIGN_OR_RAISE(auto value, field("item"));
    if (!take(">") || !take("[")) return wrong();
    ARROW_ASSIGN_OR_RAISE(const int size, number());
    return take("]") ? TypeResult(arrow::fixed_size_list(std::move(value), size)) : wrong();
  }

  TypeResult structure() {
    std::vector<std::shared_ptr<arrow::Field>> fields;
    while (!take(">")) {
      if (!fields.empty() && !take(",")) return wrong();
      ARROW_ASSIGN_OR_RAISE(auto one, field(""));
      if (one->name().empty()) return wrong();
      fields.push_back(std::move(one));
    }
    return arrow::struct_(std::move(fields));
  }

  TypeResult map() {
    ARROW_ASSIGN_OR_RAISE(auto key, read());
    if (!take(",")) return wrong();
    ARROW_ASSIGN_OR_RAISE(auto value, read());
    if (!take(">")) return wrong();
    return arrow::map(std::move(key), std::move(value));
  }

  TypeResult dictionary() {
    ARROW_ASSIGN_OR_RAISE(auto values, read());
    if (!take(",") || !take("indices=")) return wrong();
    ARROW_ASSIGN_OR_RAISE(auto indices, read());
    bool ordered = false;
    if (take(",")) {
      if (!take("ordered=")) return wrong();
      ordered = take_until(">") == "1";
    }
    if (!take(">")) return wrong();
    return arrow::DictionaryType::Make(indices, values, ordered);
  }

  std::string_view whole_;
  std::string_view rest_;
};

}  // namespace

TypeResult type_of_name(std::string_view name) { return NameReader(name).read_all(); }

}  // namespace headway::flow
