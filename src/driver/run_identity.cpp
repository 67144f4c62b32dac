#include "driver/run_identity.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <random>

namespace headway::driver {

std::string new_trial_id() {
  std::array<char, 10> text{};
  std::snprintf(text.data(), text.size(), "t%08x", std::random_device{}());
  return text.data();
}

std::string default_run_name(const std::string& trainer, const std::string& trial_id) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d_%H-%M-%S", &local);
  return trainer + "_" + text.data() + "_" + trial_id.substr(1, 4);
}

}  // namespace headway::driver
