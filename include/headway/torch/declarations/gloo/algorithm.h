#pragma once

/// PyTorch's wheels hold c10d's ProcessGroupGloo.hpp but not the headers of gloo that it includes. It only points to gloo's types, so these
/// few declarations are enough; whatever is behind them stays inside libtorch. Made for the version that headway/torch/version.hpp names.
namespace gloo {}
