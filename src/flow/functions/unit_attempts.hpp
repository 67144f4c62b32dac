#pragma once

namespace headway::flow {

/// How often a unit may go to another worker when one has ended.
class UnitAttempts {
 public:
  /// `attempts`: workers that may begin with it and end.
  explicit UnitAttempts(int attempts) : left_(attempts - 1) {}

  /// After a worker's end. `is_lost`: it had not begun, most likely for no reason of its function.
  /// A few times that is no attempt.
  bool has_another(bool is_lost) {
    if (is_lost && lost_ < lost_max) {
      ++lost_;
      return true;
    }
    return left_-- > 0;
  }

 private:
  static constexpr int lost_max = 3;

  int left_;
  int lost_ = 0;
};

}  // namespace headway::flow
