#include "flow/sources/line_blocks.hpp"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace headway::flow {

arrow::Result<std::shared_ptr<arrow::Buffer>> LineBlocks::next() {
  lines_before_ += std::exchange(lines_, 0);
  std::string text = std::exchange(rest_, "");
  std::size_t end = std::string::npos;
  while (!has_ended_ && end == std::string::npos) {
    ARROW_ASSIGN_OR_RAISE(const auto part, stream_->Read(bytes_));
    has_ended_ = part->size() == 0;
    text += std::string_view(*part);
    if (part->size() > 0) end = text.rfind('\n');
  }
  if (text.empty()) return nullptr;
  if (end != std::string::npos) {
    rest_ = text.substr(end + 1);
    text.resize(end + 1);
  }
  lines_ = std::count(text.begin(), text.end(), '\n');
  return arrow::Buffer::FromString(std::move(text));
}

}  // namespace headway::flow
