#pragma once

#include "flow/sources/file_format.hpp"

#include <vector>

namespace headway::flow {

/// Parts of files that are looked into before the schema is fixed: the begin of the first file, and
/// less of its middle and end, of the file in the middle, and of the last one. `end` may lie behind
/// the file's.
std::vector<Piece> sample_pieces(const std::vector<SourceFile>& files);

}  // namespace headway::flow
