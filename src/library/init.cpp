#include <headway/init.hpp>

#include "library/init_options.hpp"

namespace headway {

Result<void> init(const InitOptions& options) {
  return library::start_driver({options.num_cpus, options.num_gpus, options.resources, options.labels, options.listen,
                                options.token_file, options.node_lease_s, options.engine, options.engine_options.dump(),
                                options.dashboard});
}

std::string join_address() { return library::address_of_driver(); }

std::string dashboard_url() { return library::address_of_dashboard(); }

}  // namespace headway
