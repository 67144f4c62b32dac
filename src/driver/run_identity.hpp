#pragma once

#include <string>

/// What a run is called when nobody has named it, and what nobody else can guess.
namespace headway::driver {

/// "t" and eight hexadecimal digits at random. The letter is there for readers of tables, which
/// take some of the others for numbers.
std::string new_trial_id();

/// "TorchTrainer_2026-01-31_12-00-00_1a2b": the trainer's name, the local time, and the beginning
/// of the trial's id.
std::string default_run_name(const std::string& trainer, const std::string& trial_id);

}  // namespace headway::driver
