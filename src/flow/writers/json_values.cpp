#include "flow/writers/json_values.hpp"

#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/base64.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace headway::flow {
namespace {

using ValuesResult = arrow::Result<std::unique_ptr<JsonValues>>;
using Pointer = std::unique_ptr<JsonValues>;

template <class Number>
void append_number(Number value, std::string& out) {
  std::array<char, 32> text{};
  const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), value);
  const std::string_view digits(text.data(), end);
  out += digits;
  // Readers take a number without a point for an integer.
  if (std::is_floating_point_v<Number> && digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

template <class ArrayType>
class NumberValues : public JsonValues {
 public:
  explicit NumberValues(const std::shared_ptr<arrow::Array>& array)
      : array_(std::static_pointer_cast<ArrayType>(array)) {}

  void append(std::int64_t row, std::string& out) const override {
    if (array_->IsNull(row)) {
      out += "null";
      return;
    }
    const auto value = array_->Value(row);
    if constexpr (std::is_floating_point_v<decltype(value)>) {
      if (!std::isfinite(value)) {
        out += "null";
        return;
      }
    }
    append_number(value, out);
  }

 private:
  std::shared_ptr<ArrayType> array_;
};

class TruthValues : public JsonValues {
 public:
  explicit TruthValues(const std::shared_ptr<arrow::Array>& array)
      : array_(std::static_pointer_cast<arrow::BooleanArray>(array)) {}
  void append(std::int64_t row, std::string& out) const override {
    out += array_->IsNull(row) ? "null" : array_->Value(row) ? "true" : "false";
  }

 private:
  std::shared_ptr<arrow::BooleanArray> array_;
};

class NullValues : public JsonValues {
 public:
  void append(std::int64_t, std::string& out) const override { out += "null"; }
};

template <class ArrayType>
class TextValues : public JsonValues {
 public:
  explicit TextValues(const std::shared_ptr<arrow::Array>& array)
      : array_(std::static_pointer_cast<ArrayType>(array)) {}
  void append(std::int64_t row, std::string& out) const override {
    if (array_->IsNull(row)) {
      out += "null";
    } else if constexpr (std::is_base_of_v<arrow::StringArray, ArrayType> ||
                         std::is_base_of_v<arrow::LargeStringArray, ArrayType>) {
      append_json_text(array_->GetView(row), out);
    } else {
      out += '"' + arrow::util::base64_encode(std::string_view(array_->GetView(row))) + '"';
    }
  }

 private:
  std::shared_ptr<ArrayType> array_;
};

/// Of lists with offsets or of a fixed size.
template <class ArrayType>
class ListValues : public JsonValues {
 public:
  ListValues(std::shared_ptr<ArrayType> array, Pointer values) : array_(std::move(array)), values_(std::move(values)) {}
  void append(std::int64_t row, std::string& out) const override {
    if (array_->IsNull(row)) {
      out += "null";
      return;
    }
    out += '[';
    const std::int64_t begin = array_->value_offset(row);
    const std::int64_t end = begin + array_->value_length(row);
    for (std::int64_t i = begin; i < end; ++i) {
      if (i > begin) out += ',';
      values_->append(i, out);
    }
    out += ']';
  }

 private:
  std::shared_ptr<ArrayType> array_;
  Pointer values_;
};

class StructValues : public JsonValues {
 public:
  StructValues(std::shared_ptr<arrow::Array> array, std::vector<std::pair<std::string, Pointer>> fields)
      : array_(std::move(array)), fields_(std::move(fields)) {}
  void append(std::int64_t row, std::string& out) const override {
    if (array_->IsNull(row)) {
      out += "null";
      return;
    }
    out += '{';
    for (const auto& [name, values] : fields_) {
      if (out.back() != '{') out += ',';
      out += name;
      values->append(row, out);
    }
    out += '}';
  }

 private:
  std::shared_ptr<arrow::Array> array_;
  std::vector<std::pair<std::string, Pointer>> fields_;  ///< Names with quotes and a colon.
};

/// A tensor's values lie in a list.
class TensorValues : public JsonValues {
 public:
  explicit TensorValues(Pointer values) : values_(std::move(values)) {}

 protected:
  void append_tensor(std::span<const std::int32_t> shape, std::int64_t at, std::string& out) const {
    append_level(shape, at, out);
  }

 private:
  void append_level(std::span<const std::int32_t> shape, std::int64_t& at, std::string& out) const {
    if (shape.empty()) {
      values_->append(at++, out);
      return;
    }
    out += '[';
    for (std::int32_t i = 0; i < shape.front(); ++i) {
      if (i > 0) out += ',';
      append_level(shape.subspan(1), at, out);
    }
    out += ']';
  }

  Pointer values_;
};

class FixedTensorValues : public TensorValues {
 public:
  FixedTensorValues(std::shared_ptr<arrow::FixedSizeListArray> array, const std::vector<std::int64_t>& shape,
                    Pointer values)
      : TensorValues(std::move(values)), array_(std::move(array)), shape_(shape.begin(), shape.end()) {}
  void append(std::int64_t row, std::string& out) const override {
    if (array_->IsNull(row)) {
      out += "null";
    } else {
      append_tensor(shape_, array_->value_offset(row), out);
    }
  }

 private:
  std::shared_ptr<arrow::FixedSizeListArray> array_;
  std::vector<std::int32_t> shape_;
};

/// Each row has another shape.
class VariableTensorValues : public TensorValues {
 public:
  VariableTensorValues(std::shared_ptr<arrow::StructArray> array, Pointer values)
      : TensorValues(std::move(values)),
        array_(std::move(array)),
        data_(std::static_pointer_cast<arrow::ListArray>(array_->field(0))),
        shapes_(std::static_pointer_cast<arrow::FixedSizeListArray>(array_->field(1))) {}
  void append(std::int64_t row, std::string& out) const override {
    if (array_->IsNull(row)) {
      out += "null";
      return;
    }
    const auto& lengths = static_cast<const arrow::Int32Array&>(*shapes_->values());
    const std::span shape(lengths.raw_values() + shapes_->value_offset(row),
                          static_cast<std::size_t>(shapes_->value_length(row)));
    append_tensor(shape, data_->value_offset(row), out);
  }

 private:
  std::shared_ptr<arrow::StructArray> array_;
  std::shared_ptr<arrow::ListArray> data_;
  std::shared_ptr<arrow::FixedSizeListArray> shapes_;
};

template <class ArrayType>
ValuesResult of_lists(const std::shared_ptr<arrow::Array>& array, arrow::MemoryPool* pool) {
  auto lists = std::static_pointer_cast<ArrayType>(array);
  ARROW_ASSIGN_OR_RAISE(auto values, JsonValues::of(lists->values(), pool));
  return std::make_unique<ListValues<ArrayType>>(std::move(lists), std::move(values));
}

ValuesResult of_struct(const std::shared_ptr<arrow::Array>& array, arrow::MemoryPool* pool) {
  const auto& structs = static_cast<const arrow::StructArray&>(*array);
  std::vector<std::pair<std::string, Pointer>> fields;
  for (int i = 0; i < structs.num_fields(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto values, JsonValues::of(structs.field(i), pool));
    std::string name;
    append_json_text(array->type()->field(i)->name(), name);
    fields.emplace_back(name + ":", std::move(values));
  }
  return std::make_unique<StructValues>(array, std::move(fields));
}

ValuesResult of_extension(const std::shared_ptr<arrow::Array>& array, arrow::MemoryPool* pool) {
  const auto& type = static_cast<const arrow::ExtensionType&>(*array->type());
  auto storage = static_cast<const arrow::ExtensionArray&>(*array).storage();
  if (type.extension_name() == "arrow.variable_shape_tensor") {
    auto tensors = std::static_pointer_cast<arrow::StructArray>(storage);
    const auto& data = static_cast<const arrow::ListArray&>(*tensors->field(0));
    ARROW_ASSIGN_OR_RAISE(auto values, JsonValues::of(data.values(), pool));
    return std::make_unique<VariableTensorValues>(std::move(tensors), std::move(values));
  }
  if (type.extension_name() != "arrow.fixed_shape_tensor") return JsonValues::of(storage, pool);
  auto lists = std::static_pointer_cast<arrow::FixedSizeListArray>(storage);
  ARROW_ASSIGN_OR_RAISE(auto values, JsonValues::of(lists->values(), pool));
  const auto& tensor = static_cast<const arrow::extension::FixedShapeTensorType&>(type);
  return std::make_unique<FixedTensorValues>(std::move(lists), tensor.shape(), std::move(values));
}

ValuesResult of_cast(const std::shared_ptr<arrow::Array>& array, const std::shared_ptr<arrow::DataType>& type,
                     arrow::MemoryPool* pool) {
  arrow::compute::ExecContext context(pool);
  const auto cast = arrow::compute::Cast(*array, type, arrow::compute::CastOptions::Safe(), &context);
  if (!cast.ok()) return arrow::Status::NotImplemented("JSON has no form for the type ", array->type()->ToString());
  return JsonValues::of(*cast, pool);
}

}  // namespace

void append_json_text(std::string_view text, std::string& out) {
  static constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    switch (character) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (byte < 0x20)
          out.append("\\u00").append({digits[byte >> 4U], digits[byte & 15U]});
        else
          out += character;
    }
  }
  out += '"';
}

ValuesResult JsonValues::of(const std::shared_ptr<arrow::Array>& array, arrow::MemoryPool* pool) {
  switch (array->type_id()) {
    case arrow::Type::NA: return std::make_unique<NullValues>();
    case arrow::Type::BOOL: return std::make_unique<TruthValues>(array);
    case arrow::Type::INT8: return std::make_unique<NumberValues<arrow::Int8Array>>(array);
    case arrow::Type::INT16: return std::make_unique<NumberValues<arrow::Int16Array>>(array);
    case arrow::Type::INT32: return std::make_unique<NumberValues<arrow::Int32Array>>(array);
    case arrow::Type::INT64: return std::make_unique<NumberValues<arrow::Int64Array>>(array);
    case arrow::Type::UINT8: return std::make_unique<NumberValues<arrow::UInt8Array>>(array);
    case arrow::Type::UINT16: return std::make_unique<NumberValues<arrow::UInt16Array>>(array);
    case arrow::Type::UINT32: return std::make_unique<NumberValues<arrow::UInt32Array>>(array);
    case arrow::Type::UINT64: return std::make_unique<NumberValues<arrow::UInt64Array>>(array);
    case arrow::Type::FLOAT: return std::make_unique<NumberValues<arrow::FloatArray>>(array);
    case arrow::Type::DOUBLE: return std::make_unique<NumberValues<arrow::DoubleArray>>(array);
    case arrow::Type::HALF_FLOAT: return of_cast(array, arrow::float32(), pool);
    case arrow::Type::STRING: return std::make_unique<TextValues<arrow::StringArray>>(array);
    case arrow::Type::LARGE_STRING: return std::make_unique<TextValues<arrow::LargeStringArray>>(array);
    case arrow::Type::BINARY: return std::make_unique<TextValues<arrow::BinaryArray>>(array);
    case arrow::Type::LARGE_BINARY: return std::make_unique<TextValues<arrow::LargeBinaryArray>>(array);
    case arrow::Type::FIXED_SIZE_BINARY: return std::make_unique<TextValues<arrow::FixedSizeBinaryArray>>(array);
    case arrow::Type::LIST: return of_lists<arrow::ListArray>(array, pool);
    case arrow::Type::LARGE_LIST: return of_lists<arrow::LargeListArray>(array, pool);
    case arrow::Type::MAP: return of_lists<arrow::MapArray>(array, pool);
    case arrow::Type::FIXED_SIZE_LIST: return of_lists<arrow::FixedSizeListArray>(array, pool);
    case arrow::Type::STRUCT: return of_struct(array, pool);
    case arrow::Type::EXTENSION: return of_extension(array, pool);
    default: return of_cast(array, arrow::utf8(), pool);
  }
}

}  // namespace headway::flow
