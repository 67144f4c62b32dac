#pragma once

/// All of Headway for a program that trains, but for PyTorch (headway/torch.hpp).
#include <headway/callback.hpp>
#include <headway/checkpoint.hpp>
#include <headway/collective.hpp>
#include <headway/config.hpp>
#include <headway/context.hpp>
#include <headway/data.hpp>
#include <headway/init.hpp>
#include <headway/json.hpp>
#include <headway/main.hpp>
#include <headway/preemption.hpp>
#include <headway/progress.hpp>
#include <headway/report.hpp>
#include <headway/reported_checkpoints.hpp>
#include <headway/result.hpp>
#include <headway/run_event.hpp>
#include <headway/storage.hpp>
#include <headway/trainer.hpp>
#include <headway/validation.hpp>
#include <headway/version.hpp>
