#include "dashboard/overview.hpp"

#include "core/json.hpp"

#include <map>
#include <set>

namespace headway::dashboard {
namespace {

using Parts = std::vector<std::shared_ptr<const Part>>;

bool is_same(const Part& one, const Part& other) { return &one == &other || one.text == other.text; }

std::string list_of(const Parts& parts) {
  std::string list = "[";
  for (const auto& part : parts) {
    if (list.size() > 1) list += ',';
    list += part->text;
  }
  return list + ']';
}

struct Difference {
  Parts changed;
  JsonArray gone;
};

Difference difference_of(const Parts& before, const Parts& now) {
  std::map<std::string_view, const Part*> known;
  for (const auto& part : before) known.emplace(part->id, part.get());
  Difference difference;
  for (const auto& part : now) {
    const auto found = known.find(part->id);
    if (found == known.end() || !is_same(*found->second, *part)) difference.changed.push_back(part);
    if (found != known.end()) known.erase(found);
  }
  for (const auto& [id, part] : known) difference.gone.emplace_back(boost::json::string(id));
  return difference;
}

bool is_same(const Parts& one, const Parts& other) {
  if (one.size() != other.size()) return false;
  for (std::size_t place = 0; place < one.size(); ++place) {
    if (one[place]->id != other[place]->id || !is_same(*one[place], *other[place])) return false;
  }
  return true;
}

std::string head_of(const Overview& overview) {
  return "{\"number\":" + std::to_string(overview.number) + ",\"taken_unix_s\":" + json_text(overview.taken_unix_s);
}

}  // namespace

std::string Overview::text() const {
  return head_of(*this) + ",\"version\":1,\"mode\":" + mode + ",\"driver\":" + driver + ",\"runs\":" + list_of(runs) +
         ",\"experiments\":" + list_of(experiments) + ",\"nodes\":" + nodes + ",\"waiting\":" + waiting + "}";
}

std::string Overview::changes_since(const Overview& before) const {
  std::string changed;
  const auto add = [&](const char* name, const std::string& text) {
    changed += (changed.empty() ? "\"" : ",\"") + std::string(name) + "\":" + text;
  };
  JsonObject gone;
  const auto add_parts = [&](const char* name, const Parts& earlier, const Parts& now) {
    Difference difference = difference_of(earlier, now);
    if (!difference.changed.empty()) add(name, list_of(difference.changed));
    if (!difference.gone.empty()) gone[name] = std::move(difference.gone);
  };
  add_parts("runs", before.runs, runs);
  add_parts("experiments", before.experiments, experiments);
  if (nodes != before.nodes) add("nodes", nodes);
  if (waiting != before.waiting) add("waiting", waiting);
  if (driver != before.driver) add("driver", driver);
  return head_of(*this) + ",\"changed\":{" + changed + "},\"gone\":" + json_text(gone) + "}";
}

bool Overview::is_news_after(const Overview& before) const {
  return !is_same(runs, before.runs) || !is_same(experiments, before.experiments) || nodes != before.nodes ||
         waiting != before.waiting || driver != before.driver;
}

}  // namespace headway::dashboard
