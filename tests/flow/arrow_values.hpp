#pragma once

#include <arrow/api.h>
#include <arrow/json/from_string.h>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Arrow's values from text and back, for tests.
namespace headway::flow {

/// The value, or a failed test that says the error.
template <class T>
T must(arrow::Result<T> result) {
  if (!result.ok()) BOOST_FAIL(result.status().ToString());
  return std::move(*result);
}

inline void must(const arrow::Status& status) {
  if (!status.ok()) BOOST_FAIL(status.ToString());
}

/// The words of an error, or a failed test.
template <class T>
std::string error_of(const arrow::Result<T>& result) {
  if (!result.ok()) return result.status().message();
  BOOST_ERROR("expected an error, there was none");
  return "";
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

inline std::shared_ptr<arrow::Array> array_of_text(const std::shared_ptr<arrow::DataType>& type,
                                                   const std::string& json) {
  return must(arrow::json::ArrayFromJSONString(type, json));
}

struct NamedArray {
  std::string name;
  std::shared_ptr<arrow::Array> values;
};

inline std::shared_ptr<arrow::RecordBatch> batch_of(const std::vector<NamedArray>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const NamedArray& column : columns) {
    fields.push_back(arrow::field(column.name, column.values->type()));
    arrays.push_back(column.values);
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), arrays.front()->length(), arrays);
}

}  // namespace headway::flow
