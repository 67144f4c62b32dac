#include "driver/event_file.hpp"

#include <boost/crc.hpp>
#include <boost/endian/conversion.hpp>

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <unistd.h>

namespace headway::driver {
namespace {

// The fields of the two protobuf messages that are written, as "number << 3 | wire type". Wire
// types: 0 is a varint, 1 are 8 bytes, 2 is a length and as many bytes, 5 are 4 bytes
// (protobuf.dev/programming-guides/encoding).
constexpr char event_wall_time = 1 << 3 | 1;     // double
constexpr char event_step = 2 << 3 | 0;          // int64
constexpr char event_file_version = 3 << 3 | 2;  // string
constexpr char event_summary = 5 << 3 | 2;       // Summary
constexpr char summary_value = 1 << 3 | 2;       // repeated Summary.Value
constexpr char value_tag = 1 << 3 | 2;           // string
constexpr char value_simple_value = 2 << 3 | 5;  // float

template <class Unsigned>
void put_fixed(std::string& message, Unsigned number) {
  const Unsigned little = boost::endian::native_to_little(number);
  std::array<char, sizeof(Unsigned)> bytes{};
  std::memcpy(bytes.data(), &little, bytes.size());
  message.append(bytes.data(), bytes.size());
}

void put_varint(std::string& message, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) message += static_cast<char>(0x80 | (number & 0x7f));
  message += static_cast<char>(number);
}

void put_bytes(std::string& message, char field, std::string_view bytes) {
  message += field;
  put_varint(message, bytes.size());
  message += bytes;
}

std::string event_at(double unix_s) {
  std::string event(1, event_wall_time);
  put_fixed(event, std::bit_cast<std::uint64_t>(unix_s));
  return event;
}

std::optional<float> scalar(const Json& value) {
  if (value.is_bool()) return value.get_bool() ? 1.0F : 0.0F;
  if (value.is_number()) return static_cast<float>(value.to_number<double>());
  return std::nullopt;
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc32c;
  crc32c.process_bytes(bytes.data(), bytes.size());
  return std::rotr(static_cast<std::uint32_t>(crc32c.checksum()), 15) + 0xa282ead8U;
}

std::string tf_record(std::string_view data) {
  std::string record;
  put_fixed(record, static_cast<std::uint64_t>(data.size()));
  put_fixed(record, masked_crc32c(record));
  record += data;
  put_fixed(record, masked_crc32c(data));
  return record;
}

Result<void> EventFile::begin(double unix_s) {
  if (file_) return {};
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) std::strcpy(host.data(), "localhost");
  std::string path;
  // An earlier driver of this run may have begun one in the same second.
  for (auto second = static_cast<std::int64_t>(unix_s); path.empty() || ::access(path.c_str(), F_OK) == 0; ++second) {
    path = directory_ + "/events.out.tfevents." + std::to_string(second) + "." + host.data();
  }
  auto file = std::make_unique<AppendFile>(path);
  std::string version = event_at(unix_s);
  put_bytes(version, event_file_version, "brain.Event:2");
  if (Result<void> begun = file->append(tf_record(version)); !begun) {
    ::unlink(path.c_str());
    return begun;
  }
  file_ = std::move(file);
  return {};
}

Result<void> EventFile::append(const FlatMetrics& metrics, std::int64_t step, double unix_s) {
  std::string summary;
  for (const auto& [tag, metric] : metrics) {
    const std::optional<float> number = scalar(*metric);
    if (!number) continue;
    std::string value;
    put_bytes(value, value_tag, tag);
    value += value_simple_value;
    put_fixed(value, std::bit_cast<std::uint32_t>(*number));
    put_bytes(summary, summary_value, value);
  }
  if (summary.empty()) return {};
  if (Result<void> begun = begin(unix_s); !begun) return begun;
  std::string event = event_at(unix_s);
  event += event_step;
  put_varint(event, static_cast<std::uint64_t>(step));
  put_bytes(event, event_summary, summary);
  return file_->append(tf_record(event));
}

}  // namespace headway::driver
