#include <headway/tune.hpp>

#include <algorithm>
#include <cmath>

namespace headway::tune {
namespace {

Error wrong(const std::string& name, const std::string& given, const std::string& allowed) {
  return {ErrorKind::invalid_argument, "TunerOptions.space[\"" + name + "\"] is " + given + "; allowed: " + allowed};
}

std::string bounds(const char* function, double low, double high) {
  return std::string(function) + "(" + Json(low).dump() + ", " + Json(high).dump() + ")";
}

}  // namespace

Domain uniform(double low, double high) { return {Domain::Kind::uniform, low, high, 0, {}}; }
Domain quniform(double low, double high, double step) { return {Domain::Kind::quniform, low, high, step, {}}; }
Domain loguniform(double low, double high) { return {Domain::Kind::loguniform, low, high, 0, {}}; }
Domain randint(std::int64_t low, std::int64_t high) {
  return {Domain::Kind::randint, static_cast<double>(low), static_cast<double>(high), 0, {}};
}
Domain choice(Json::Array values) { return {Domain::Kind::choice, 0, 0, 0, std::move(values)}; }
Domain grid_search(Json::Array values) { return {Domain::Kind::grid, 0, 0, 0, std::move(values)}; }

Result<void> Domain::check(const std::string& name) const {
  const bool in_order = std::isfinite(low_) && std::isfinite(high_) && low_ < high_;
  switch (kind_) {
    case Kind::constant: return {};
    case Kind::choice:
    case Kind::grid:
      if (!values_.empty()) return {};
      return wrong(name, kind_ == Kind::grid ? "grid_search({})" : "choice({})", "at least one value");
    case Kind::uniform:
      if (in_order) return {};
      return wrong(name, bounds("uniform", low_, high_), "finite numbers, the lower one first");
    case Kind::quniform:
      if (in_order && std::isfinite(step_) && step_ > 0) return {};
      return wrong(name, bounds("quniform", low_, high_) + " with step " + Json(step_).dump(),
                   "finite numbers, the lower one first, and a step above 0");
    case Kind::loguniform:
      if (in_order && low_ > 0) return {};
      return wrong(name, bounds("loguniform", low_, high_), "finite numbers above 0, the lower one first");
    case Kind::randint:
      // Beyond that not every integer is a double.
      if (in_order && std::abs(low_) <= 0x1p53 && std::abs(high_) <= 0x1p53) return {};
      return wrong(name, bounds("randint", low_, high_), "integers up to 2^53, the lower one first");
  }
  return {};
}

Json Domain::at(double drawn) const {
  switch (kind_) {
    case Kind::constant:
    case Kind::grid: return values_.front();
    case Kind::uniform: return low_ + (drawn * (high_ - low_));
    case Kind::quniform: {
      const double steps = std::round((low_ + (drawn * (high_ - low_))) / step_);
      return std::clamp(steps * step_, low_, high_);
    }
    case Kind::loguniform: return std::exp(std::log(low_) + (drawn * (std::log(high_) - std::log(low_))));
    case Kind::randint: return static_cast<std::int64_t>(low_ + std::floor(drawn * (high_ - low_)));
    case Kind::choice: {
      const auto place = static_cast<std::size_t>(drawn * static_cast<double>(values_.size()));
      return values_[std::min(place, values_.size() - 1)];
    }
  }
  return nullptr;
}

}  // namespace headway::tune
