#pragma once

#include <headway/result.hpp>

#include <string>
#include <string_view>

namespace headway::dashboard {

/// The charts of the run or the experiment in a folder, as JSON for inline_page:
/// {"charts": [{title, x, log, lines: [{name, style, x, min, max, last}], marks}], "left_out": n}.
/// Of a run: its first metrics, at most `charts_max`, in at most `points` parts each (series.hpp),
/// with what happened to it. Of an experiment: the value of each trial, and the best trials over
/// one another. Errors: `not_found` when the folder holds neither; those of reading it.
Result<std::string> inline_charts(const std::string& location, std::size_t charts_max, std::size_t points);

/// A whole page of HTML that draws such charts with the dashboard's own scripts, and asks nobody
/// for anything: it works in a saved notebook.
std::string inline_page(std::string_view charts);

}  // namespace headway::dashboard
