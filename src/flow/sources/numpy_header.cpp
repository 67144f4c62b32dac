#include "flow/sources/numpy_header.hpp"

#include <arrow/buffer.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/io/interfaces.h>
#include <arrow/type.h>

#include <charconv>
#include <map>
#include <numeric>

namespace headway::flow {
namespace {

constexpr std::string_view numpy_magic = "\x93NUMPY";
constexpr std::size_t header_alignment = 64;

struct Kind {
  const char* code;
  std::shared_ptr<arrow::DataType> type;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> table = {{"|b1", arrow::boolean()},
                                          {"|i1", arrow::int8()},
                                          {"<i2", arrow::int16()},
                                          {"<i4", arrow::int32()},
                                          {"<i8", arrow::int64()},
                                          {"|u1", arrow::uint8()},
                                          {"<u2", arrow::uint16()},
                                          {"<u4", arrow::uint32()},
                                          {"<u8", arrow::uint64()},
                                          {"<f2", arrow::float16()},
                                          {"<f4", arrow::float32()},
                                          {"<f8", arrow::float64()},
                                          {"<M8[s]", arrow::timestamp(arrow::TimeUnit::SECOND)},
                                          {"<M8[ms]", arrow::timestamp(arrow::TimeUnit::MILLI)},
                                          {"<M8[us]", arrow::timestamp(arrow::TimeUnit::MICRO)},
                                          {"<M8[ns]", arrow::timestamp(arrow::TimeUnit::NANO)},
                                          {"<m8[s]", arrow::duration(arrow::TimeUnit::SECOND)},
                                          {"<m8[ms]", arrow::duration(arrow::TimeUnit::MILLI)},
                                          {"<m8[us]", arrow::duration(arrow::TimeUnit::MICRO)},
                                          {"<m8[ns]", arrow::duration(arrow::TimeUnit::NANO)}};
  return table;
}

/// What stands behind `'key':` in the header's dictionary.
std::string_view entry_of(std::string_view text, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "'";
  std::size_t at = text.find(quoted);
  if (at == std::string_view::npos) return {};
  at = text.find(':', at);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + 1);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

arrow::Status set_type(std::string_view entry, NumpyHeader& header) {
  const std::size_t end = entry.find('\'', 1);
  if (!entry.starts_with('\'') || end == std::string_view::npos) {
    return arrow::Status::Invalid("records (a dtype with fields) cannot be read");
  }
  const std::string named(entry.substr(1, end - 1));
  header.swapped = named.starts_with('>');
  const std::string code = header.swapped ? '<' + named.substr(1) : named;
  for (const Kind& kind : kinds()) {
    if (code != kind.code) continue;
    header.value_type = kind.type;
    header.value_bytes = kind.type->id() == arrow::Type::BOOL ? 1 : kind.type->byte_width();
    return arrow::Status::OK();
  }
  const bool objects = code.find('O') != std::string::npos;
  return arrow::Status::Invalid("values of dtype ", named, " cannot be read",
                                objects ? ": they are pickled objects" : "");
}

arrow::Status set_shape(std::string_view entry, NumpyHeader& header) {
  if (!entry.starts_with('(')) return arrow::Status::Invalid("its header has no shape");
  entry.remove_prefix(1);
  while (!entry.empty() && entry.front() != ')') {
    std::int64_t size = 0;
    const auto [end, failure] = std::from_chars(entry.data(), entry.data() + entry.size(), size);
    if (failure == std::errc()) {
      header.shape.push_back(size);
      entry.remove_prefix(static_cast<std::size_t>(end - entry.data()));
    } else {
      entry.remove_prefix(1);
    }
  }
  return arrow::Status::OK();
}

}  // namespace

std::int64_t NumpyHeader::rows() const { return shape.empty() ? 1 : shape.front(); }

std::int64_t NumpyHeader::values_of_a_row() const {
  return shape.size() < 2 ? 1 : std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::shared_ptr<arrow::DataType> NumpyHeader::row_type() const {
  if (shape.size() < 2) return value_type;
  return arrow::extension::fixed_shape_tensor(value_type, {shape.begin() + 1, shape.end()});
}

arrow::Result<NumpyHeader> read_numpy_header(arrow::io::RandomAccessFile& file) {
  ARROW_ASSIGN_OR_RAISE(const auto head, file.ReadAt(0, 12));
  const std::string_view bytes(*head);
  if (bytes.size() < 12 || !bytes.starts_with(numpy_magic)) return arrow::Status::Invalid("it is no .npy file");
  const auto byte = [&](std::size_t at) { return static_cast<std::int64_t>(static_cast<unsigned char>(bytes[at])); };
  const bool first_version = byte(6) == 1;
  const std::int64_t begin = first_version ? 10 : 12;
  const std::int64_t length =
      first_version ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  ARROW_ASSIGN_OR_RAISE(const auto dictionary, file.ReadAt(begin, length));
  const std::string_view text(*dictionary);
  NumpyHeader header;
  header.data_begin = begin + length;
  ARROW_RETURN_NOT_OK(set_type(entry_of(text, "descr"), header));
  ARROW_RETURN_NOT_OK(set_shape(entry_of(text, "shape"), header));
  header.columns_first = header.shape.size() > 1 && entry_of(text, "fortran_order").starts_with("True");
  return header;
}

arrow::Result<std::string> numpy_header_text(const arrow::DataType& type, const std::vector<std::int64_t>& shape) {
  for (const Kind& kind : kinds()) {
    if (!kind.type->Equals(type)) continue;
    std::string text = std::string("{'descr': '") + kind.code + "', 'fortran_order': False, 'shape': (";
    for (const std::int64_t size : shape) text += std::to_string(size) + ", ";
    text += "), }";
    const std::size_t before = numpy_magic.size() + 4;
    const std::size_t whole = (before + text.size() + 1 + header_alignment - 1) / header_alignment * header_alignment;
    text.append(whole - before - text.size() - 1, ' ');
    text += '\n';
    std::string header(numpy_magic);
    header += std::string("\x01\x00", 2);
    header += static_cast<char>(text.size() & 0xffU);
    header += static_cast<char>(text.size() >> 8U);
    return header + text;
  }
  return arrow::Status::NotImplemented("values of type ", type.ToString(), " have no dtype of numpy");
}

}  // namespace headway::flow
