#pragma once

#include <span>

namespace headway::library {

/// The frames of this thread where a signal came, innermost first: the first one is the instruction
/// itself, the others are return addresses. To be called by the handler, with its third argument.
/// Returns how many were written.
int frames_at_signal(const void* context, std::span<void*> frames);

/// To be called before the first signal: what it takes to read frames is loaded.
void prepare_frames();

}  // namespace headway::library
