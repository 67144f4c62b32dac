#include "flow/sources/tfrecord_records.hpp"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include <array>
#include <cstring>
#include <optional>

namespace headway::flow {
namespace {

// CRC-32C, bits reversed (RFC 3720, appendix B.4).
constexpr std::uint32_t castagnoli = 0x82f63b78;
constexpr std::size_t tables = 8;

/// Tables for eight bytes at a time.
constexpr std::array<std::array<std::uint32_t, 256>, tables> crc_tables() {
  std::array<std::array<std::uint32_t, 256>, tables> made{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? castagnoli : 0);
    made[0][i] = value;
  }
  for (std::size_t k = 1; k < tables; ++k) {
    for (std::size_t i = 0; i < 256; ++i) made[k][i] = (made[k - 1][i] >> 8U) ^ made[0][made[k - 1][i] & 255U];
  }
  return made;
}

std::uint32_t crc32c(std::string_view text) {
  static constexpr auto table = crc_tables();
  std::uint32_t value = ~0U;
  while (text.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), 8);
    word ^= value;
    value = 0;
    for (std::size_t k = 0; k < 8; ++k) value ^= table[7 - k][word >> (8 * k) & 255U];
    text.remove_prefix(8);
  }
  for (const char character : text) {
    value = (value >> 8U) ^ table[0][(value ^ static_cast<unsigned char>(character)) & 255U];
  }
  return ~value;
}

/// A checksum of bytes that have checksums in them is turned and shifted.
std::uint32_t masked_crc(std::string_view text) {
  const std::uint32_t value = crc32c(text);
  return ((value >> 15U) | (value << 17U)) + 0xa282ead8U;
}

template <class T>
T number_at(const char* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T>
void append_bytes(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding).
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view text) : text_(text) {}

  struct Field {
    std::uint32_t number = 0;
    std::uint32_t wire_type = 0;
    std::uint64_t value = 0;  ///< Of wire types 0, 1 and 5.
    std::string_view bytes;   ///< Of wire type 2.
  };

  bool at_end() const { return text_.empty(); }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !text_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(text_.front());
      text_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 127U) << shift;
      if (byte < 128) return value;
    }
    return std::nullopt;
  }

  std::optional<Field> field() {
    const auto tag = varint();
    if (!tag) return std::nullopt;
    Field found{.number = static_cast<std::uint32_t>(*tag >> 3U),
                .wire_type = static_cast<std::uint32_t>(*tag & 7U),
                .value = 0,
                .bytes = {}};
    switch (found.wire_type) {
      case 0: return with_varint(found);
      case 1: return with_fixed(found, 8);
      case 2: return with_bytes(found);
      case 5: return with_fixed(found, 4);
      default: return std::nullopt;
    }
  }

 private:
  std::optional<Field> with_varint(Field field) {
    const auto value = varint();
    if (!value) return std::nullopt;
    field.value = *value;
    return field;
  }
  std::optional<Field> with_fixed(Field field, std::size_t bytes) {
    if (text_.size() < bytes) return std::nullopt;
    std::memcpy(&field.value, text_.data(), bytes);
    text_.remove_prefix(bytes);
    return field;
  }
  std::optional<Field> with_bytes(Field field) {
    const auto length = varint();
    if (!length || *length > text_.size()) return std::nullopt;
    field.bytes = text_.substr(0, static_cast<std::size_t>(*length));
    text_.remove_prefix(static_cast<std::size_t>(*length));
    return field;
  }

  std::string_view text_;
};

bool parse_integers(const ProtoReader::Field& field, Feature& feature) {
  if (field.wire_type == 0) {
    feature.integers.push_back(static_cast<std::int64_t>(field.value));
    return true;
  }
  ProtoReader packed(field.bytes);
  while (!packed.at_end()) {
    const auto value = packed.varint();
    if (!value) return false;
    feature.integers.push_back(static_cast<std::int64_t>(*value));
  }
  return field.wire_type == 2;
}

bool parse_floats(const ProtoReader::Field& field, Feature& feature) {
  if (field.wire_type == 5) {
    const auto bits = static_cast<std::uint32_t>(field.value);
    feature.floats.push_back(number_at<float>(reinterpret_cast<const char*>(&bits)));
    return true;
  }
  if (field.wire_type != 2 || field.bytes.size() % 4 != 0) return false;
  for (std::size_t at = 0; at < field.bytes.size(); at += 4) {
    feature.floats.push_back(number_at<float>(field.bytes.data() + at));
  }
  return true;
}

bool parse_list(std::string_view bytes, Feature& feature) {
  ProtoReader list(bytes);
  while (!list.at_end()) {
    const auto field = list.field();
    if (!field) return false;
    if (field->number != 1) continue;
    if (feature.kind == Feature::Kind::bytes)
      feature.bytes.push_back(field->bytes);
    else if (feature.kind == Feature::Kind::floats && !parse_floats(*field, feature))
      return false;
    else if (feature.kind == Feature::Kind::integers && !parse_integers(*field, feature))
      return false;
  }
  return true;
}

bool parse_feature(std::string_view bytes, Feature& feature) {
  ProtoReader reader(bytes);
  while (!reader.at_end()) {
    const auto field = reader.field();
    if (!field || field->number > 3 || field->wire_type != 2) return false;
    feature = {};
    feature.kind = static_cast<Feature::Kind>(field->number);
    if (!parse_list(field->bytes, feature)) return false;
  }
  return true;
}

bool parse_entry(std::string_view bytes, std::map<std::string_view, Feature>& features) {
  ProtoReader entry(bytes);
  std::string_view name;
  Feature feature;
  while (!entry.at_end()) {
    const auto field = entry.field();
    if (!field) return false;
    if (field->number == 1) name = field->bytes;
    if (field->number == 2 && !parse_feature(field->bytes, feature)) return false;
  }
  features[name] = std::move(feature);
  return true;
}

void append_varint(std::uint64_t value, std::string& out) {
  for (; value >= 128; value >>= 7U) out += static_cast<char>(static_cast<unsigned char>(value & 127U) | 128U);
  out += static_cast<char>(value);
}

/// A field of wire type 2.
void append_field(std::uint32_t number, std::string_view bytes, std::string& out) {
  append_varint(number << 3U | 2U, out);
  append_varint(bytes.size(), out);
  out += bytes;
}

}  // namespace

arrow::Status RecordReader::broken(const char* why) const { return arrow::Status::Invalid("record ", read_, " ", why); }

arrow::Result<std::shared_ptr<arrow::Buffer>> RecordReader::next() {
  ARROW_ASSIGN_OR_RAISE(const auto head, stream_->Read(12));
  if (head->size() == 0) return nullptr;
  if (head->size() < 12) return broken("ends early");
  const auto* bytes = reinterpret_cast<const char*>(head->data());
  if (number_at<std::uint32_t>(bytes + 8) != masked_crc({bytes, 8})) {
    return broken("has a length whose checksum does not fit: it is no TFRecord file, or a broken one");
  }
  const auto length = static_cast<std::int64_t>(number_at<std::uint64_t>(bytes));
  ARROW_ASSIGN_OR_RAISE(const auto body, stream_->Read(length + 4));
  if (body->size() < length + 4) return broken("ends early");
  const std::string_view text(reinterpret_cast<const char*>(body->data()), static_cast<std::size_t>(length));
  if (number_at<std::uint32_t>(text.data() + text.size()) != masked_crc(text)) {
    return broken("has bytes whose checksum does not fit");
  }
  ++read_;
  return arrow::SliceBuffer(body, 0, length);
}

void append_record(std::string_view bytes, std::string& out) {
  std::string length;
  append_bytes(static_cast<std::uint64_t>(bytes.size()), length);
  out += length;
  append_bytes(masked_crc(length), out);
  out += bytes;
  append_bytes(masked_crc(bytes), out);
}

arrow::Result<std::map<std::string_view, Feature>> parse_example(std::string_view bytes) {
  const auto wrong = arrow::Status::Invalid("is no tf.train.Example");
  std::map<std::string_view, Feature> features;
  ProtoReader example(bytes);
  while (!example.at_end()) {
    const auto field = example.field();
    if (!field) return wrong;
    if (field->number != 1) continue;
    ProtoReader all(field->bytes);
    while (!all.at_end()) {
      const auto entry = all.field();
      if (!entry || entry->number != 1 || !parse_entry(entry->bytes, features)) return wrong;
    }
  }
  return features;
}

void ExampleBuilder::add(std::string_view name, const Feature& feature) {
  std::string values;
  if (feature.kind == Feature::Kind::bytes) {
    for (const std::string_view each : feature.bytes) append_field(1, each, values);
  } else if (feature.kind == Feature::Kind::floats) {
    const auto* begin = reinterpret_cast<const char*>(feature.floats.data());
    append_field(1, {begin, feature.floats.size() * sizeof(float)}, values);
  } else {
    std::string packed;
    for (const std::int64_t each : feature.integers) append_varint(static_cast<std::uint64_t>(each), packed);
    append_field(1, packed, values);
  }
  std::string list;
  append_field(static_cast<std::uint32_t>(feature.kind), values, list);
  std::string entry;
  append_field(1, name, entry);
  append_field(2, list, entry);
  append_field(1, entry, features_);
}

std::string ExampleBuilder::finish() {
  std::string example;
  append_field(1, features_, example);
  features_.clear();
  return example;
}

}  // namespace headway::flow
