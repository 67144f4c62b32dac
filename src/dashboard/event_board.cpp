#include "dashboard/event_board.hpp"

#include <algorithm>

namespace headway::dashboard {
namespace {

std::string event(const char* name, std::int64_t number, const std::string& data) {
  return "id: " + std::to_string(number) + "\nevent: " + name + "\ndata: " + data + "\n\n";
}

}  // namespace

void EventBoard::publish(Overview overview) {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (!kept_.empty() && !overview.is_news_after(*kept_.back())) return;
    overview.number = kept_.empty() ? 1 : kept_.back()->number + 1;
    kept_.push_back(std::make_shared<const Overview>(std::move(overview)));
    if (kept_.size() > kept_max) kept_.pop_front();
    made_ = {};
    wake = wake_;
  }
  if (wake) wake();
}

void EventBoard::on_news(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

std::shared_ptr<const Overview> EventBoard::newest() const {
  const std::lock_guard lock(mutex_);
  return kept_.empty() ? nullptr : kept_.back();
}

Frame EventBoard::next(std::int64_t seen) {
  const std::lock_guard lock(mutex_);
  if (kept_.empty() || seen == kept_.back()->number) return {seen, nullptr};
  if (made_.from == seen) return made_.frame;
  const Overview& newest = *kept_.back();
  const auto found = std::ranges::find(kept_, seen, [](const auto& overview) { return overview->number; });
  std::string text;
  if (found != kept_.end()) {
    text = event("change", newest.number, newest.changes_since(**found));
  } else {
    if (seen != 0) text = event("reload", newest.number, "{}");
    text += event("state", newest.number, newest.text());
  }
  made_ = {seen, {newest.number, std::make_shared<const std::string>(std::move(text))}};
  return made_.frame;
}

}  // namespace headway::dashboard
