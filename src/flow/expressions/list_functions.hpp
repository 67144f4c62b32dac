#pragma once

#include <arrow/datum.h>
#include <arrow/result.h>

/// What Arrow has no kernel for: functions of lists and maps. Slices are taken as they are; a null
/// list stays null.
namespace headway::flow {

/// Each list with its values in order.
arrow::Result<arrow::Datum> list_sort(const arrow::Datum& lists, bool descending, bool nulls_last,
                                      arrow::MemoryPool* pool);

/// As lists whose length is no part of the type.
arrow::Result<arrow::Datum> as_list(const arrow::Datum& lists);

/// A list of lists becomes a list of their values; a null inner list adds none.
arrow::Result<arrow::Datum> list_join(const arrow::Datum& lists);

/// The keys (0) or the values (1) of each map, as a list.
arrow::Result<arrow::Datum> map_part(const arrow::Datum& maps, int part);

}  // namespace headway::flow
