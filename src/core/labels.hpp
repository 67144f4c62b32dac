#pragma once

#include <headway/config.hpp>
#include <headway/result.hpp>

#include <map>
#include <string>

/// What is said of nodes by name ("region": "eu"), and which nodes a worker wants.
namespace headway {

/// Whether a node with `labels` is one that the selector means. Its values are "x" (the label is
/// x), "!x" (it is not, or not there), "in(x, y)" and "!in(x, y)".
bool matches(const Labels& labels, const Labels& selector);

/// "{region: eu}", for messages.
std::string labels_text(const Labels& labels);

}  // namespace headway
