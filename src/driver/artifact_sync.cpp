#include "driver/artifact_sync.hpp"

#include <boost/asio/post.hpp>

namespace headway::driver {

namespace asio = boost::asio;

ArtifactSync::ArtifactSync(asio::thread_pool& threads, std::string source, std::string target)
    : strand_(asio::make_strand(threads.get_executor())),
      copier_(std::make_shared<storage::ArtifactCopier>(std::move(source), std::move(target))) {}

void ArtifactSync::start(Done done) {
  stop_ = std::stop_source();
  asio::post(strand_, [copier = copier_, stop = stop_.get_token(), done = std::move(done)] {
    const Result<void> copied = copier->copy(stop);
    done(copied ? std::nullopt : std::optional(copied.error().message));
  });
}

}  // namespace headway::driver
