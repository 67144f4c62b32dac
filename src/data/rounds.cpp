#include "data/rounds.hpp"

#include <algorithm>

namespace headway::data {

Rounds::Rounds(const Shares& shares, std::int64_t first_row) : shares_(shares), first_row_(first_row) {
  set_known(first_row);
}

void Rounds::set_known(std::int64_t rows) {
  known_ = rows;
  if (shares_.rows_max >= 0 && known_ >= shares_.rows_max) set_total(known_);
}

void Rounds::set_total(std::int64_t rows) {
  if (knows_total()) return;
  total_ = shares_.rows_max >= 0 ? std::min(rows, shares_.rows_max) : rows;
  known_ = total_;
  const std::int64_t left = std::max<std::int64_t>(total_ - first_row_, 0);
  const std::int64_t rest = left % global_batch();
  full_ = left / global_batch();
  if (shares_.equal) {
    rest_rows_ = shares_.drop_last ? 0 : rest / shares_.world_size * shares_.world_size;
  } else {
    rest_rows_ = shares_.drop_last ? rest / shares_.batch_rows * shares_.batch_rows : rest;
  }
  dropped_ = rest - rest_rows_;
  count_ = full_ + (rest_rows_ > 0 ? 1 : 0);
}

bool Rounds::is_decided(std::int64_t number) const {
  return knows_total() || first_row(number) + global_batch() <= known_;
}

std::int64_t Rounds::first_row(std::int64_t number) const { return first_row_ + number * global_batch(); }

std::int64_t Rounds::end_row(std::int64_t number) const {
  return knows_total() && number == count_ - 1 ? total_ : first_row(number) + rows(number);
}

std::int64_t Rounds::rows(std::int64_t number) const {
  return knows_total() && number >= full_ ? rest_rows_ : global_batch();
}

RowRange Rounds::batch(std::int64_t number, int rank) const {
  const std::int64_t dealt = rows(number);
  const std::int64_t each = shares_.equal ? dealt / shares_.world_size : shares_.batch_rows;
  const std::int64_t begin = std::min(rank * each, dealt);
  return {begin, std::min(each, dealt - begin)};
}

}  // namespace headway::data
