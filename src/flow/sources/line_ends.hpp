#pragma once

#include <arrow/io/type_fwd.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

/// Where rows begin in files of lines, so that ranges of bytes become whole rows.
namespace headway::flow {

struct Quoting {
  char quote = '"';  ///< Where there are no quotes: the escape.
  char delimiter = ',';
  /// The character after it has no meaning. Only for `is_row_end` and `whole_rows`.
  std::optional<char> escape;
};

/// Where the first row begins at `position` or after it; the file's end when there is none. Without
/// `quoting` each line is a row. With it a line end inside of quotes is part of a value: whether
/// `position` lies inside is taken from the first quote after it which can only open or only close
/// a value. `is_row_end` checks the guess. A file that ends before `position` has been
/// truncated since it was listed: an error, or its rows would be missing unsaid.
arrow::Result<std::int64_t> row_begin(arrow::io::RandomAccessFile& file, std::int64_t position,
                                      const std::optional<Quoting>& quoting);

/// Whether text that begins with a row ends where one ends.
bool is_row_end(std::string_view text, const Quoting& quoting);

/// How many bytes of text that begins with a row are whole rows, up to the last line end that is
/// one of a row.
std::size_t whole_rows(std::string_view text, const std::optional<Quoting>& quoting);

/// How many line ends the file has before `position`: for errors.
arrow::Result<std::int64_t> lines_before(arrow::io::RandomAccessFile& file, std::int64_t position);

/// The whole rows of a range of bytes: from the first that begins in it to the last that begins in
/// it.
arrow::Result<std::shared_ptr<arrow::Buffer>> rows_of_range(arrow::io::RandomAccessFile& file, std::int64_t begin,
                                                            std::int64_t end, const std::optional<Quoting>& quoting);

}  // namespace headway::flow
