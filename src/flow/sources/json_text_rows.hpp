#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string_view>

namespace headway::flow {

/// Whether the text, which begins a file, is JSON lines: its first object ends before its first
/// line does.
bool begins_with_json_line(std::string_view text);

/// A list of objects, or one object after another, over any number of lines, as JSON lines. What is
/// no JSON stays as wrong as it was: a parser sees it next.
arrow::Result<std::shared_ptr<arrow::Buffer>> as_json_lines(std::string_view text, arrow::MemoryPool* pool);

}  // namespace headway::flow
