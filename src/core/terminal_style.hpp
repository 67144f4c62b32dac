#pragma once

#include <string>
#include <string_view>

/// What stands out on a terminal that takes colours. They are of the terminal's palette, so
/// that they can be read on a dark and on a light ground.
namespace headway {

/// Whether the environment lets a terminal have colours: `NO_COLOR` and `TERM=dumb` turn them off.
bool takes_colours();

/// Titles.
std::string in_bold(std::string_view text);
/// What is there beside the point.
std::string in_dim(std::string_view text);

/// A line "headway: ..." with its first word as it deserves: "warning:" is yellow, an error and
/// "failed" are red, "Restarting" is bold. Other text stays as it is.
std::string styled_notice(std::string_view text);

}  // namespace headway
