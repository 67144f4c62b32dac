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
  std::size_t size = 0;  // Of whole rows.
  while (!has_ended_ && size == 0) {
    ARROW_ASSIGN_OR_RAISE(const auto part, stream_->Read(bytes_));
    has_ended_ = part->size() == 0;
    text += std::string_view(*part);
    if (!has_ended_) size = whole_rows(text, quoting_);
  }
  if (text.empty()) return nullptr;
  if (size != 0) {
    rest_ = text.substr(size);
    text.resize(size);
  }
  lines_ = std::count(text.begin(), text.end(), '\n');
  return arrow::Buffer::FromString(std::move(text));
}

arrow::Status TablesOfLines::ReadNext(std::shared_ptr<arrow::RecordBatch>* out) {
  *out = nullptr;
  while (true) {
    if (batches_) ARROW_RETURN_NOT_OK(batches_->ReadNext(out));
    if (*out != nullptr) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto text, blocks_.next());
    if (text == nullptr) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto table, parse_(text, blocks_.lines_before()));
    batches_.emplace(std::move(table));
  }
}

}  // namespace headway::flow
