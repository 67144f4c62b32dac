#include "library/run_loop.hpp"

#include "core/location.hpp"
#include "library/exception_text.hpp"

#include <array>
#include <poll.h>
#include <unistd.h>

namespace headway::library {

namespace {

std::map<int, std::string> texts_of(const control::RunFailure& failure) {
  std::map<int, std::string> texts;
  for (const control::RankFailure& each : failure.ranks) texts[each.rank] = each.text;
  return texts;
}

}  // namespace

const driver::Finished& RunLoop::serve(RunListener* listener) {
  listener_ = listener;
  // Beside a program that goes on (`Trainer::start`), a line that moves would be in the way.
  const bool on_main_thread = gettid() == getpid();
  if (on_main_thread && display_.move()) run_->show_moving_line();
  while (!end_) {
    std::array<pollfd, 3> watch{
        {{run_->event_fd(), POLLIN, 0}, {run_->alarm_fd(), POLLIN, 0}, {aborted_ ? -1 : interrupt_.fd(), POLLIN, 0}}};
    if (poll(watch.data(), watch.size(), -1) < 0) continue;  // A signal that the program handles.
    if (!aborted_ && interrupt_.came()) {
      aborted_ = true;
      run_->abort("Ctrl-C");
    }
    const auto take = [this](driver::FrontEvent& event) { std::visit([this](auto& what) { on(what); }, event); };
    for (driver::FrontEvent& event : run_->take_alarms()) take(event);
    for (driver::FrontEvent& event : run_->take_events()) take(event);
    display_.flush();
  }
  display_.finish();
  if (listener_ != nullptr) listener_->finished(end_->outcome.state, end_->outcome.attempts);
  return *end_;
}

void RunLoop::on(const driver::RankLine& event) {
  display_.line(event.rank, *event.line);
  if (listener_ != nullptr) listener_->rank_line(event.rank, *event.line);
}

void RunLoop::on(const driver::RankRedraws& event) { display_.redraw(event.rank, *event.line); }

void RunLoop::on(const driver::MovingLineShown& event) { display_.status(event.text); }

void RunLoop::on(const driver::HelperLine& event) {
  display_.helper_line(event.helper, *event.line);
  if (listener_ != nullptr) listener_->helper_line(event.helper, *event.line);
}

void RunLoop::on(const driver::Notice& event) { remark(false, event.text); }

void RunLoop::on(const driver::RunWarning& event) { remark(true, event.text); }

void RunLoop::remark(bool warning, const std::string& text) {
  display_.say(warning, text);
  if (listener_ != nullptr) listener_->remark(warning, text);
}

void RunLoop::on(const driver::ReportRecorded& event) {
  display_.report(event.line);
  if (listener_ != nullptr) listener_->report(json_text(event.line));
}

void RunLoop::on(const driver::CallbackReport& event) {
  if (callbacks_.after_report) {
    std::vector<std::string> metrics;
    for (const JsonObject& each : event.metrics) metrics.push_back(json_text(each));
    const Json* name = event.line.if_contains("checkpoint_dir_name");
    std::optional<std::string> checkpoint;
    if (name != nullptr && name->is_string()) checkpoint = join_location(run_->path(), name->as_string());
    call_back([&] { callbacks_.after_report(metrics, checkpoint); });
  }
  run_->report_heard();
}

void RunLoop::on(const driver::AttemptFailed& event) {
  const std::map<int, std::string> failures = texts_of(event.failure);
  if (listener_ != nullptr) listener_->attempt_failed(event.attempt, event.failure.message, failures);
  if (!callbacks_.after_exception) return;
  call_back([&] { callbacks_.after_exception(failures); });
}

void RunLoop::on(const driver::SetupAsked& event) { run_->setup_finished(event.attempt, std::nullopt); }

void RunLoop::on(const driver::TeardownAsked& event) { run_->teardown_finished(event.attempt); }

void RunLoop::on(const driver::FunctionReturned& event) { return_value_json_ = event.value ? *event.value : "null"; }

void RunLoop::on(driver::Finished& event) { end_ = std::move(event); }

/// The run fails by what a callback throws; the others are not called any more.
template <class Call>
void RunLoop::call_back(Call call) {
  if (callback_failed_) return;
  try {
    call();
  } catch (...) {
    callback_failed_ = true;
    const RankError error = describe_current_exception();
    run_->callback_failed(to_text(error) + "\n" + error.traceback +
                          "Thrown by a callback of TrainerOptions.callbacks\n");
  }
}

}  // namespace headway::library
