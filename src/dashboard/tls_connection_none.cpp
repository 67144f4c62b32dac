#include "dashboard/server_state.hpp"

/// A build without OpenSSL: only this machine can see the page.
namespace headway::dashboard {

Result<Serve> serve_with_tls() {
  return Error{ErrorKind::unavailable,
               "this build of Headway was made without OpenSSL, so the dashboard is for this machine alone: install "
               "libssl-dev and build again"};
}

}  // namespace headway::dashboard
