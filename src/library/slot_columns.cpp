#include "library/slot_columns.hpp"

#include "feed/column_places.hpp"
#include "library/column_state.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace headway::library {
namespace {

using data::Column;
using data::DType;

struct Named {
  const char* type;
  DType dtype;
};

/// Arrow's names.
constexpr std::array<Named, 16> plain_types = {{{"bool", DType::boolean},
                                                {"int8", DType::int8},
                                                {"int16", DType::int16},
                                                {"int32", DType::int32},
                                                {"int64", DType::int64},
                                                {"uint8", DType::uint8},
                                                {"uint16", DType::uint16},
                                                {"uint32", DType::uint32},
                                                {"uint64", DType::uint64},
                                                {"halffloat", DType::float16},
                                                {"float", DType::float32},
                                                {"double", DType::float64},
                                                {"date32[day]", DType::int32},
                                                {"date64[ms]", DType::int64},
                                                {"time32[s]", DType::int32},
                                                {"time32[ms]", DType::int32}}};

DType plain_dtype(std::string_view type) {
  for (const Named& each : plain_types) {
    if (type == each.type) return each.dtype;
  }
  for (const std::string_view of_64_bits : {"timestamp[", "duration[", "time64["}) {
    if (type.starts_with(of_64_bits)) return DType::int64;
  }
  return type.starts_with("fixed_size_binary[") ? DType::uint8 : DType::none;
}

bool is_text(std::string_view type) {
  return type == "string" || type == "binary" || type == "large_string" || type == "large_binary";
}

/// The arrays of one column, as its slot has them.
class Arrays {
 public:
  Arrays(const feed::Batch& batch, feed::ColumnPlace place) : batch_(batch), place_(place) {}

  std::span<std::byte> buffer(std::size_t index) const {
    if (place_.buffer + index >= batch_.buffers().size()) return {};
    const feed::SlotBuffer& buffer = batch_.buffers()[place_.buffer + index];
    return buffer.offset == 0 ? std::span<std::byte>() : batch_.memory().subspan(buffer.offset, buffer.size);
  }
  const feed::SlotNode& node() const { return batch_.nodes()[place_.node]; }

  template <class Offset>
  std::vector<std::int64_t> offsets() const {
    const std::span<std::byte> bytes = buffer(1);
    std::vector<std::int64_t> ends(static_cast<std::size_t>(node().length) + 1);
    if (bytes.size() < ends.size() * sizeof(Offset)) return ends;
    const auto* first = reinterpret_cast<const Offset*>(bytes.data());
    std::copy_n(first, ends.size(), ends.begin());
    return ends;
  }
  std::vector<std::int64_t> offsets(std::string_view type) const {
    return type.starts_with("large_") ? offsets<std::int64_t>() : offsets<std::int32_t>();
  }

 private:
  const feed::Batch& batch_;
  feed::ColumnPlace place_;
};

/// The first `count` values of a buffer. Bits become bytes, in memory that the column owns.
void set_values(Column::State& column, std::span<std::byte> bytes, std::int64_t first, std::int64_t count) {
  const auto begin = static_cast<std::size_t>(first);
  const auto wanted = static_cast<std::size_t>(count);
  if (column.dtype != DType::boolean) {
    const std::size_t size = size_of(column.dtype);
    column.values =
        bytes.size() < (begin + wanted) * size ? std::span<std::byte>() : bytes.subspan(begin * size, wanted * size);
    return;
  }
  const auto unpacked = std::make_shared<std::vector<std::byte>>(wanted);
  for (std::size_t place = 0; place < wanted && (begin + place) / 8 < bytes.size(); ++place) {
    const auto byte = static_cast<unsigned>(bytes[(begin + place) / 8]);
    (*unpacked)[place] = static_cast<std::byte>(byte >> ((begin + place) % 8) & 1U);
  }
  column.values = *unpacked;
  // The nulls stay in the slot.
  column.owner = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
      std::move(column.owner), unpacked);
}

/// Lists whose rows have one length are an array with one more dimension.
void set_lists(Column::State& column, const Arrays& arrays, std::size_t values_at) {
  std::vector<std::int64_t> ends = arrays.offsets(column.type);
  const std::int64_t first = ends.front();
  for (std::int64_t& end : ends) end -= first;
  set_values(column, arrays.buffer(values_at), first, ends.back());
  const std::int64_t length = column.rows > 0 ? ends[1] : 0;
  bool alike = column.rows > 0 && column.dtype != DType::text;
  for (std::size_t row = 1; alike && row < ends.size(); ++row) alike = ends[row] - ends[row - 1] == length;
  if (alike) {
    column.shape.push_back(length);
  } else {
    column.ends = std::move(ends);
  }
}

void set_fixed(Column::State& column, std::span<std::byte> bytes) {
  std::int64_t count = 1;
  for (const std::int64_t length : column.shape) count *= length;
  set_values(column, bytes, 0, count);
}

/// What the column's type makes of its arrays.
void view(Column::State& column, const feed::LayoutColumn& layout, const Arrays& arrays) {
  const std::optional<std::string> element = feed::element_of(layout.type);
  if (!layout.shape.empty()) {
    column.dtype = plain_dtype(layout.type);
    column.shape.insert(column.shape.end(), layout.shape.begin(), layout.shape.end());
    set_fixed(column, arrays.buffer(2));
  } else if (is_text(layout.type)) {
    column.dtype = DType::text;
    set_lists(column, arrays, 2);
  } else if (element) {
    column.dtype = plain_dtype(*element);
    const std::optional<std::int64_t> length = feed::fixed_length_of(layout.type);
    if (const auto inner = feed::fixed_length_of(*element); inner || column.dtype == DType::none) {
      column.dtype = DType::none;
    } else if (length) {
      column.shape.push_back(*length);
      set_fixed(column, arrays.buffer(2));
    } else {
      set_lists(column, arrays, 3);
    }
  } else {
    column.dtype = plain_dtype(layout.type);
    if (const auto length = feed::fixed_length_of(layout.type)) column.shape.push_back(*length);
    if (column.dtype != DType::none) set_fixed(column, arrays.buffer(1));
  }
}

}  // namespace

data::Batch as_columns(const std::shared_ptr<feed::Batch>& batch) {
  const std::vector<feed::LayoutColumn>& layout = batch->layout()->layout.columns;
  const auto places = feed::places_of(layout, batch->nodes().size(), batch->buffers().size());
  std::vector<Column> columns;
  for (std::size_t index = 0; index < layout.size(); ++index) {
    auto column = std::make_shared<Column::State>();
    column->name = layout[index].name;
    column->type = layout[index].type;
    column->rows = batch->rows();
    column->shape = {batch->rows()};
    column->owner = batch;
    column->problem = "a program in C++ reads numbers, text, tensors, and lists of numbers; allowed: other columns";
    if (const auto& place = places[index]) {
      const Arrays arrays(*batch, *place);
      column->null_count = arrays.node().null_count;
      column->validity = arrays.buffer(0);
      view(*column, layout[index], arrays);
    } else {
      column->problem += ", or to leave structs and maps beside it out (select_columns)";
    }
    columns.emplace_back(std::move(column));
  }
  return {batch->rows(), std::move(columns)};
}

}  // namespace headway::library
