#include "dashboard/prometheus.hpp"

#include "core/json.hpp"
#include "dashboard/run_summary.hpp"
#include "engine/engine_view.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace headway::dashboard {
namespace {

std::string number_text(double value) {
  std::array<char, 40> text{};
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}

/// The lines of one metric, each with its labels.
struct Family {
  const char* name;
  const char* help;
  const char* type;
  std::string lines = {};

  void add(const std::string& labels, double value) {
    lines += std::string(name) + "{" + labels + "} " + number_text(value) + "\n";
  }
  std::string text() const {
    if (lines.empty()) return "";
    return std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n" + lines;
  }
};

}  // namespace

std::string label_text(std::string_view text) {
  std::string shown = "\"";
  for (const char letter : text) {
    if (letter == '\\' || letter == '"') shown += '\\';
    if (letter == '\n') {
      shown += "\\n";
    } else {
      shown += letter;
    }
  }
  return shown + "\"";
}

namespace {

/// What nodes have and how much of it is in use.
std::string node_metrics(const Overview* overview) {
  Family total{"headway_node_resource", "What a node offers: CPUs, GPUs, bytes of memory, and others.", "gauge"};
  Family available{"headway_node_resource_free", "What of it no run has taken.", "gauge"};
  Family cpus{"headway_node_cpu_share", "The share of its CPUs that is at work, for all processes.", "gauge"};
  Family memory{"headway_node_memory_bytes", "Memory in use, by all processes.", "gauge"};
  Family memory_total{"headway_node_memory_total_bytes", "Memory that the node has.", "gauge"};
  Family gpus{"headway_gpu_share", "The share of time that something ran on a GPU.", "gauge"};
  Family gpu_memory{"headway_gpu_memory_bytes", "Memory of a GPU in use, by all processes.", "gauge"};
  Family gpu_memory_total{"headway_gpu_memory_total_bytes", "Memory that a GPU has.", "gauge"};
  const auto add = [](Family& family, const std::string& labels, const std::optional<double>& value) {
    if (value) family.add(labels, *value);
  };
  const auto nodes =
      from_json_text<std::vector<engine::NodeView>>(overview != nullptr ? overview->nodes : "[]", "the nodes");
  for (const engine::NodeView& each : nodes ? *nodes : std::vector<engine::NodeView>{}) {
    const std::string labels = "node=" + label_text(each.node.node_id) + ",host=" + label_text(each.node.hostname);
    for (const auto& [name, amount] : each.node.total) total.add(labels + ",resource=" + label_text(name), amount);
    for (const auto& [name, amount] : each.available) available.add(labels + ",resource=" + label_text(name), amount);
    if (!each.use) continue;
    add(cpus, labels, each.use->cpu_share);
    add(memory, labels, each.use->memory_bytes);
    add(memory_total, labels, each.use->memory_total_bytes);
    for (const node::GpuUse& gpu : each.use->gpus) {
      const std::string of = labels + ",gpu=\"" + std::to_string(gpu.index) + "\",name=" + label_text(gpu.name);
      add(gpus, of, gpu.share);
      add(gpu_memory, of, gpu.memory_bytes);
      add(gpu_memory_total, of, gpu.memory_total_bytes);
    }
  }
  std::string text;
  for (const Family* family :
       {&total, &available, &cpus, &memory, &memory_total, &gpus, &gpu_memory, &gpu_memory_total}) {
    text += family->text();
  }
  return text;
}

}  // namespace

Answer answer_metrics(const Overview* overview) {
  Family reports{"headway_run_reports_total", "Reports that are recorded, over all attempts.", "counter"};
  Family attempts{"headway_run_attempts_total", "Attempts that have begun.", "counter"};
  Family workers{"headway_run_workers", "Workers of the current attempt.", "gauge"};
  Family seconds{"headway_run_seconds_total", "How long the run has been at work.", "counter"};
  Family states{"headway_run_state", "1 for the state that the run is in.", "gauge"};
  Family values{"headway_run_metric", "The last value of a metric that rank 0 has reported.", "gauge"};
  for (const auto& part : overview != nullptr ? overview->runs : std::vector<std::shared_ptr<const Part>>{}) {
    const auto run = from_json_text<RunSummary>(part->text, "a run");
    if (!run) continue;
    const std::string labels = "run=" + label_text(run->name) + ",id=" + label_text(run->id);
    reports.add(labels, static_cast<double>(run->reports));
    attempts.add(labels, run->attempt);
    workers.add(labels, run->workers);
    seconds.add(labels, run->time_total_s);
    states.add(labels + ",state=" + label_text(run->state), 1);
    for (const auto& [name, value] : run->last) {
      if (value.is_number()) values.add(labels + ",metric=" + label_text(name), value.to_number<double>());
    }
  }
  std::string text;
  for (const Family* family : {&reports, &attempts, &workers, &seconds, &states, &values}) text += family->text();
  return {200, text + node_metrics(overview), "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace headway::dashboard
