#include "flow/expressions/list_functions.hpp"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/type.h>

#include <algorithm>
#include <vector>

namespace headway::flow {
namespace {

namespace cp = arrow::compute;
using DatumResult = arrow::Result<arrow::Datum>;

/// As a list array with 32-bit offsets, which start at 0 when its first list does.
arrow::Result<std::shared_ptr<arrow::ListArray>> lists_of(const arrow::Datum& value) {
  if (!value.is_array()) return arrow::Status::Invalid("a list column is needed");
  auto array = value.make_array();
  if (array->type_id() != arrow::Type::LIST) {
    if (!arrow::is_list_like(array->type_id())) {
      return arrow::Status::TypeError("lists are needed, found ", array->type()->ToString());
    }
    ARROW_ASSIGN_OR_RAISE(array, cp::Cast(*array, arrow::list(array->type()->field(0)->type())));
  }
  return std::static_pointer_cast<arrow::ListArray>(array);
}

std::shared_ptr<arrow::Buffer> buffer_of(const std::vector<std::int32_t>& values) {
  return arrow::Buffer::FromVector(values);
}

/// Lists of `values` with these offsets (from 0), null where `like` is.
DatumResult lists_like(const arrow::Array& like, std::vector<std::int32_t> offsets,
                       const std::shared_ptr<arrow::Array>& values) {
  std::shared_ptr<arrow::Buffer> valid;
  if (like.null_count() > 0) {
    ARROW_ASSIGN_OR_RAISE(valid, arrow::AllocateEmptyBitmap(like.length()));
    for (std::int64_t i = 0; i < like.length(); ++i) {
      if (like.IsValid(i)) arrow::bit_util::SetBit(valid->mutable_data(), i);
    }
  }
  return arrow::Datum(std::make_shared<arrow::ListArray>(arrow::list(values->type()), like.length(), buffer_of(offsets),
                                                         values, valid, like.null_count()));
}

DatumResult no_lists(const std::shared_ptr<arrow::DataType>& value_type) {
  ARROW_ASSIGN_OR_RAISE(auto array, arrow::MakeEmptyArray(arrow::list(value_type)));
  return arrow::Datum(array);
}

}  // namespace

DatumResult list_sort(const arrow::Datum& value, bool descending, bool nulls_last, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const auto lists, lists_of(value));
  if (lists->length() == 0) return no_lists(lists->value_type());
  cp::ExecContext context(pool);
  const auto order = descending ? cp::SortOrder::Descending : cp::SortOrder::Ascending;
  const auto nulls = nulls_last ? cp::NullPlacement::AtEnd : cp::NullPlacement::AtStart;
  // One sort of all values keeps equal ones in order, so dealing them out by list sorts each list.
  const std::int32_t first = lists->value_offset(0);
  const std::int32_t last = lists->value_offset(lists->length());
  const auto values = lists->values()->Slice(first, last - first);
  ARROW_ASSIGN_OR_RAISE(const auto sorted, cp::SortIndices(*values, cp::ArraySortOptions(order, nulls), &context));
  std::vector<std::int32_t> list_of(static_cast<std::size_t>(values->length()));
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(lists->length()) + 1, 0);
  for (std::int64_t i = 0; i < lists->length(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    offsets[at + 1] = lists->value_offset(i + 1) - first;
    std::fill(list_of.begin() + (lists->value_offset(i) - first), list_of.begin() + offsets[at + 1],
              static_cast<std::int32_t>(i));
  }
  std::vector<std::int32_t> next(offsets.begin(), offsets.end() - 1);
  std::vector<std::int32_t> places(list_of.size());
  const auto& indices = static_cast<const arrow::UInt64Array&>(*sorted);
  for (std::int64_t i = 0; i < indices.length(); ++i) {
    const auto from = static_cast<std::size_t>(indices.Value(i));
    places[static_cast<std::size_t>(next[static_cast<std::size_t>(list_of[from])]++)] = static_cast<std::int32_t>(from);
  }
  const arrow::Int32Array chosen(static_cast<std::int64_t>(places.size()), buffer_of(places));
  ARROW_ASSIGN_OR_RAISE(const auto taken, cp::Take(*values, chosen, cp::TakeOptions::NoBoundsCheck(), &context));
  return lists_like(*lists, std::move(offsets), taken);
}

DatumResult as_list(const arrow::Datum& value) {
  ARROW_ASSIGN_OR_RAISE(auto lists, lists_of(value));
  return arrow::Datum(std::move(lists));
}

DatumResult list_join(const arrow::Datum& value) {
  ARROW_ASSIGN_OR_RAISE(const auto outer, lists_of(value));
  ARROW_ASSIGN_OR_RAISE(const auto inner, lists_of(arrow::Datum(outer->values())));
  if (outer->length() == 0) return no_lists(inner->value_type());
  ARROW_ASSIGN_OR_RAISE(const auto flat, inner->Flatten());
  // Flattening leaves out what lies below null lists, so lengths are counted and not subtracted.
  std::vector<std::int32_t> before(static_cast<std::size_t>(inner->length()) + 1, 0);
  for (std::int64_t i = 0; i < inner->length(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    before[at + 1] = before[at] + (inner->IsValid(i) ? inner->value_length(i) : 0);
  }
  std::vector<std::int32_t> offsets;
  const std::int32_t first = before[static_cast<std::size_t>(outer->value_offset(0))];
  for (std::int64_t i = 0; i <= outer->length(); ++i) {
    offsets.push_back(before[static_cast<std::size_t>(outer->value_offset(i))] - first);
  }
  return lists_like(*outer, std::move(offsets), flat->Slice(first));
}

DatumResult map_part(const arrow::Datum& value, int part) {
  if (!value.is_array() || value.type()->id() != arrow::Type::MAP) {
    return arrow::Status::TypeError("maps are needed, found ", value.type()->ToString());
  }
  const auto array = value.make_array();
  const auto& maps = static_cast<const arrow::MapArray&>(*array);
  if (maps.length() == 0) return no_lists((part == 0 ? maps.keys() : maps.items())->type());
  const std::int32_t first = maps.value_offset(0);
  std::vector<std::int32_t> offsets;
  for (std::int64_t i = 0; i <= maps.length(); ++i) offsets.push_back(maps.value_offset(i) - first);
  const auto values = (part == 0 ? maps.keys() : maps.items())->Slice(first, offsets.back());
  return lists_like(maps, std::move(offsets), values);
}

}  // namespace headway::flow
