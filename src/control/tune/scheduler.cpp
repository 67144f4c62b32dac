#include "control/tune/scheduler.hpp"

#include "control/tune/arguments.hpp"

#include <algorithm>
#include <boost/mp11.hpp>

namespace headway::control::tune {
namespace {

constexpr const char* iteration = "training_iteration";

template <class S>
inline constexpr bool has_metric = requires(S scheduler) { scheduler.spec().metric; };

template <class S>
S made(std::remove_cvref_t<decltype(std::declval<S>().spec())> spec, std::uint64_t seed) {
  if constexpr (std::is_constructible_v<S, decltype(spec), std::uint64_t>) {
    return S(std::move(spec), seed);
  } else {
    return S(std::move(spec));
  }
}

/// Calls `use` with the type of the scheduler of that name; false where there is none.
template <class Use>
bool with_kind(std::string_view name, Use use) {
  bool found = false;
  boost::mp11::mp_for_each<boost::mp11::mp_transform<std::type_identity, Scheduler::Kind>>([&](auto type) {
    using S = typename decltype(type)::type;
    if (S::is != name) return;
    found = true;
    use(type);
  });
  return found;
}

std::string kind_of(const JsonObject& description) {
  const Json* kind = description.if_contains("kind");
  const boost::json::string* name = kind != nullptr ? kind->if_string() : nullptr;
  return name != nullptr ? std::string(*name) : "";
}

}  // namespace

Result<Scheduler> Scheduler::make(JsonObject description, const std::optional<std::string>& metric,
                                  const std::optional<std::string>& mode, std::uint64_t seed) {
  const std::string name = kind_of(description);
  Result<Scheduler> result = Error{ErrorKind::invalid_argument,
                                   "scheduler is of the kind \"" + name +
                                       R"("; allowed: "fifo", "asha", "median", "hyperband", "pbt", "pbt_replay")"};
  with_kind(name, [&](auto type) {
    using S = typename decltype(type)::type;
    using Spec = std::remove_cvref_t<decltype(std::declval<S>().spec())>;
    fill_missing(description, headway::to_json(Spec{}).as_object());
    Result<Spec> spec = headway::from_json<Spec>(description, "the scheduler's arguments");
    if (!spec) {
      result = Error{ErrorKind::invalid_argument, spec.error().message};
      return;
    }
    if constexpr (has_metric<S>) {
      if (!spec->metric) spec->metric = metric;
      if (!spec->mode) spec->mode = mode;
      if (Result<void> valid = validate(*spec); !valid) {
        result = valid.error();
        return;
      }
    }
    result = Scheduler(made<S>(std::move(*spec), seed));
  });
  return result;
}

Json Scheduler::to_json() const {
  return std::visit(
      [](const auto& scheduler) {
        JsonObject object;
        object["kind"] = scheduler.is;
        object["spec"] = headway::to_json(scheduler.spec());
        object["state"] = headway::to_json(scheduler.state());
        return Json(std::move(object));
      },
      kind_);
}

Result<Scheduler> Scheduler::from_json(const Json& json) {
  Result<Scheduler> result = Error{ErrorKind::corrupted, "a scheduler: expected an object with a known kind"};
  const JsonObject* object = json.if_object();
  if (object == nullptr || !object->contains("spec") || !object->contains("state")) return result;
  with_kind(kind_of(*object), [&](auto type) {
    using S = typename decltype(type)::type;
    auto spec = headway::from_json<std::remove_cvref_t<decltype(std::declval<S>().spec())>>(object->at("spec"),
                                                                                            "a scheduler's arguments");
    auto state = headway::from_json<typename S::State>(object->at("state"), "a scheduler's state");
    if (!spec) {
      result = spec.error();
    } else if (!state) {
      result = state.error();
    } else {
      result = Scheduler(S(std::move(*spec), std::move(*state)));
    }
  });
  return result;
}

std::vector<std::string> Scheduler::needs() const {
  return std::visit(
      [](const auto& scheduler) -> std::vector<std::string> {
        if constexpr (requires { scheduler.spec().require_attrs; }) {
          if (!scheduler.spec().require_attrs) return {scheduler.spec().metric.value_or("")};
        }
        if constexpr (has_metric<decltype(scheduler)>) {
          return {scheduler.spec().time_attr, scheduler.spec().metric.value_or("")};
        } else {
          return {};
        }
      },
      kind_);
}

std::vector<std::string> Scheduler::reads() const {
  std::vector<std::string> names = std::visit(
      [](const auto& scheduler) -> std::vector<std::string> {
        if constexpr (has_metric<decltype(scheduler)>) {
          return {scheduler.spec().time_attr, scheduler.spec().metric.value_or("")};
        } else {
          return {};
        }
      },
      kind_);
  if (std::holds_alternative<Pbt>(kind_) || std::holds_alternative<PbtReplay>(kind_)) names.emplace_back(iteration);
  return names;
}

std::optional<Progress> Scheduler::progress(std::int64_t trial, const std::map<std::string, double>& numbers) const {
  const std::vector<std::string> names = reads();
  if (names.empty() || !std::ranges::all_of(names, [&](const auto& name) { return numbers.contains(name); })) {
    return std::nullopt;
  }
  Progress progress{.trial = trial};
  if (const auto count = numbers.find(iteration); count != numbers.end()) progress.iteration = count->second;
  std::visit(
      [&](const auto& scheduler) {
        if constexpr (has_metric<decltype(scheduler)>) {
          const double sign = is_less_better(scheduler.spec().mode) ? -1 : 1;
          progress.time = numbers.at(scheduler.spec().time_attr);
          progress.score = sign * numbers.at(scheduler.spec().metric.value_or(""));
        }
      },
      kind_);
  return progress;
}

void Scheduler::added(std::int64_t trial) {
  std::visit([&](auto& scheduler) { scheduler.added(trial); }, kind_);
}

void Scheduler::added_again(std::int64_t trial) {
  std::visit(
      [&](auto& scheduler) {
        if constexpr (requires { scheduler.added_again(trial); }) {
          scheduler.added_again(trial);
        } else {
          scheduler.added(trial);
        }
      },
      kind_);
}

Decision Scheduler::reported(const Progress& progress, SideEffects& effects) {
  return std::visit([&](auto& scheduler) { return scheduler.reported(progress, effects); }, kind_);
}

void Scheduler::completed(const Progress& progress, SideEffects& effects) {
  std::visit([&](auto& scheduler) { scheduler.completed(progress, effects); }, kind_);
}

void Scheduler::removed(std::int64_t trial, SideEffects& effects) {
  std::visit(
      [&](auto& scheduler) {
        if constexpr (requires { scheduler.removed(trial, effects); }) {
          scheduler.removed(trial, effects);
        } else {
          scheduler.removed(trial);
        }
      },
      kind_);
}

void Scheduler::left(std::int64_t trial, SideEffects& effects) {
  if (auto* hyperband = std::get_if<HyperBand>(&kind_)) hyperband->removed(trial, effects);
  if (auto* pbt = std::get_if<Pbt>(&kind_)) pbt->removed(trial, effects);
}

void Scheduler::taken_up(std::int64_t trial) {
  if (auto* hyperband = std::get_if<HyperBand>(&kind_)) hyperband->added(trial);
  if (auto* pbt = std::get_if<Pbt>(&kind_)) pbt->added(trial);
}

void Scheduler::idle(SideEffects& effects) {
  if (auto* hyperband = std::get_if<HyperBand>(&kind_)) hyperband->idle(effects);
  // No trial has ended, but none is to come any more.
  if (auto* pbt = std::get_if<Pbt>(&kind_)) pbt->removed(-1, effects);
}

bool Scheduler::resumes_where_there_is_room() const {
  const Asha* asha = std::get_if<Asha>(&kind_);
  const Pbt* pbt = std::get_if<Pbt>(&kind_);
  return !std::holds_alternative<HyperBand>(kind_) && (asha == nullptr || !asha->spec().promote) &&
         (pbt == nullptr || !pbt->spec().synch);
}

bool Scheduler::shares_places() const { return std::holds_alternative<Pbt>(kind_); }

bool Scheduler::may_run(std::int64_t trial) const {
  const Pbt* pbt = std::get_if<Pbt>(&kind_);
  return pbt == nullptr || pbt->may_run(trial);
}

std::int64_t Scheduler::choose(const std::set<std::int64_t>& candidates) const {
  const Pbt* pbt = std::get_if<Pbt>(&kind_);
  return pbt != nullptr ? pbt->choose(candidates) : *candidates.begin();
}

std::map<std::int64_t, std::vector<std::string>> Scheduler::pinned() const {
  const Pbt* pbt = std::get_if<Pbt>(&kind_);
  return pbt != nullptr ? pbt->pinned() : std::map<std::int64_t, std::vector<std::string>>();
}

const std::vector<Pbt::Point>* Scheduler::history() const {
  const Pbt* pbt = std::get_if<Pbt>(&kind_);
  return pbt != nullptr && pbt->spec().keeps_history ? &pbt->state().history : nullptr;
}

void Scheduler::configured(std::int64_t trial, double score, const std::string& config) {
  if (auto* pbt = std::get_if<Pbt>(&kind_)) pbt->configured(trial, score, config);
}

bool Scheduler::logs_copies() const {
  const Pbt* pbt = std::get_if<Pbt>(&kind_);
  return pbt != nullptr && pbt->spec().log_config;
}

}  // namespace headway::control::tune
