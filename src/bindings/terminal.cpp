#include "bindings/module.hpp"
#include "core/output_line.hpp"
#include "core/table_columns.hpp"
#include "core/terminal_style.hpp"
#include "core/terminal_text.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace headway::bindings {

namespace nb = nanobind;

void bind_terminal(nb::module_& module) {
  module.def(
      "choose_columns",
      [](const std::vector<std::string>& names, const std::optional<std::string>& score, std::optional<int> width) {
        TableColumns columns = choose_columns(names, score, width);
        return std::pair(std::move(columns.shown), more_title(columns.more));
      },
      nb::arg("names"), nb::arg("score").none(), nb::arg("width").none(),
      "The metrics that a table of reports has columns for, and the title that says how many it has not. `width`: the "
      "terminal's columns; None where the output is no terminal.");
  module.def("takes_colours", &takes_colours, "Whether the environment lets a terminal have colours.");
  module.def("in_bold", [](const std::string& text) { return in_bold(text); }, nb::arg("text"), "For titles.");
  module.def(
      "in_dim", [](const std::string& text) { return in_dim(text); }, nb::arg("text"), "What is beside the point.");
  module.def(
      "styled_notice", [](const std::string& text) { return styled_notice(text); }, nb::arg("text"),
      "A line of Headway's own with its first word in the style of its kind.");
  module.def(
      "text_width", [](nb::bytes text) { return text_width({text.c_str(), text.size()}); }, nb::arg("text"),
      "How many columns of a terminal UTF-8 text takes.");
  module.def(
      "cut_to", [](nb::bytes text, std::size_t columns) { return cut_to({text.c_str(), text.size()}, columns); },
      nb::arg("text"), nb::arg("columns"), "The text, or as much of its beginning as that many columns hold.");
  module.def(
      "cut_parts", [](nb::bytes text, std::size_t columns) { return cut_parts({text.c_str(), text.size()}, columns); },
      nb::arg("text"), nb::arg("columns"), "The same for text of parts with \" · \" between: whole parts.");
  module.def(
      "without_escapes", [](nb::bytes text) { return without_escapes({text.c_str(), text.size()}); }, nb::arg("text"),
      "The text without colours, movements of the cursor and other control sequences.");
  module.def(
      "output_line",
      [](nb::bytes line) {
        const OutputLine found = output_line({line.c_str(), line.size()});
        return std::pair(nb::bytes(found.seen.data(), found.seen.size()), found.ended_bar);
      },
      nb::arg("line"),
      "A line of output as a terminal ends up with it, and whether it is a progress bar that has ended.");
}

}  // namespace headway::bindings
