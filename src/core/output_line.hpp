#pragma once

#include <string>
#include <string_view>

/// A line of a process's output, in which each '\r' goes back to its start.
namespace headway {

struct OutputLine {
  std::string seen;        ///< As a terminal ends up with it, without what moves the cursor.
  bool ended_bar = false;  ///< `seen` is the last drawing of a progress bar.
};

/// `line`: without its newline. A progress bar is drawn over and over, with other numbers: an
/// earlier drawing in the line has the same letters. Text that was written over a bar, or behind
/// it, is none.
OutputLine output_line(std::string_view line);

}  // namespace headway
