#pragma once

#include "feed/feed_messages.hpp"

#include <headway/result.hpp>

#include <string>

namespace headway::library {

/// How this process finds its data process.
struct DataAddress {
  std::string address;
  feed::Hello hello;
};

/// The data process of this process, which is started by the first call: in a rank the one that the
/// ranks of its node and attempt share. Errors: `unavailable`.
Result<DataAddress> data_process();

/// What to say in place of a failure to speak with the data process: that it was not loaded, and
/// what is missing. Waits a moment for its end. The process is started again when it is needed.
Error in_words_of_data_process(const Error& failure);

}  // namespace headway::library
