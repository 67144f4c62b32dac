#include "core/literals.hpp"
#include "core/location.hpp"
#include "core/manifest.hpp"
#include "storage/storage.hpp"
#include "worker/handed_over.hpp"
#include "worker/session.hpp"

#include <boost/asio/post.hpp>

/// What a rank gives to a checkpoint: the offer, its files, and what becomes of them.
namespace headway::worker {

namespace {

/// Where nobody gave a name.
const std::string directory_of_checkpoint = "the checkpoint's directory";

Result<void> check_new_name(const std::string& run_directory, const std::string& argument, const std::string& name) {
  if (auto fits = check_checkpoint_name(name, argument); !fits) return fits;
  return is_remote(run_directory) ? check_remote_name(name, argument) : Result<void>();
}

/// Before anything is sent.
Result<void> check_remote_names(const std::vector<FileRecord>& files) {
  for (const FileRecord& file : files) {
    if (Result<void> fits = check_remote_name(file.name, checkpoint_file); !fits) return fits;
  }
  return {};
}

}  // namespace

Result<CheckpointOffer> Session::offer(const ReportRequest& request) const {
  CheckpointOffer offer;
  offer.source = request.source;
  offer.asynchronous = request.asynchronous;
  offer.directory_name = request.checkpoint_name;
  if (request.source == CheckpointSource::placed) {
    Result<std::string> name = storage::name_in_run(context_.run_directory, *request.checkpoint_directory);
    if (!name)
      return Error{name.error().kind, "the checkpoint is to be recorded where it lies: " + name.error().message};
    if (request.checkpoint_name && *request.checkpoint_name != *name) {
      return Error{ErrorKind::invalid_argument,
                   request.name_argument + " is " + json_text(Json(*request.checkpoint_name)) +
                       " for a checkpoint that is recorded where it lies; allowed: " + literals().none +
                       ", or its directory's, \"" + *name + "\""};
    }
    offer.directory_name = std::move(*name);
  }
  if (offer.directory_name) {
    const std::string argument = request.checkpoint_name ? request.name_argument : directory_of_checkpoint;
    if (Result<void> fits = check_new_name(context_.run_directory, argument, *offer.directory_name); !fits)
      return fits.error();
  }
  if (request.source == CheckpointSource::files) {
    if (contains(*request.checkpoint_directory, context_.run_directory)) {
      return Error{ErrorKind::invalid_argument, "checkpoint is the directory " + *request.checkpoint_directory +
                                                    ", which contains the run's folder " + context_.run_directory +
                                                    "; allowed: a directory with the checkpoint's files alone"};
    }
    Result<std::vector<FileRecord>> files = storage::list_files(*request.checkpoint_directory, context_.run_directory);
    if (!files) return files.error();
    if (is_remote(context_.run_directory)) {
      if (Result<void> fit = check_remote_names(*files); !fit) return fit.error();
    }
    offer.files = std::move(*files);
  }
  return offer;
}

wire::Uploaded Session::store(const wire::Upload& order, const ReportRequest& request) const {
  wire::Uploaded done;
  done.index = order.index;
  if (request.source == CheckpointSource::function) {
    const Result<std::string> directory = request.store(order.name);
    Result<std::string> name =
        directory ? storage::name_in_run(context_.run_directory, *directory) : Result<std::string>(directory.error());
    const Result<void> fits =
        name ? check_new_name(context_.run_directory, directory_of_checkpoint, *name) : Result<void>(name.error());
    if (fits) {
      done.stored_name = std::move(*name);
    } else {
      done.error = "the function that stores it: " + fits.error().message;
    }
    return done;
  }
  const auto transfer = request.move ? storage::Transfer::link : storage::Transfer::copy;
  const auto target = order.beside ? storage::Target::placed : storage::Target::begun;
  auto records = storage::upload(*request.checkpoint_directory, order.directory, order.files, context_.plan.rank,
                                 transfer, {}, target);
  if (records) {
    done.files = std::move(*records);
  } else {
    done.error = records.error().message;
    done.unseen = records.error().kind == ErrorKind::not_found;
  }
  return done;
}

/// What was handed over is removed once it is safe elsewhere, not before.
void Session::remove_handed_over(const ReportRequest& request) const {
  if (!request.move || !request.checkpoint_directory) return;
  // A function of the user's may have made a checkpoint of the directory where it lies.
  if (storage::name_in_run(context_.run_directory, *request.checkpoint_directory)) return;
  (void)storage::remove_directory(*request.checkpoint_directory);
}

void Session::take_stored(const wire::CheckpointStored& stored) {
  checkpoint_ = stored.checkpoint;
  const auto node = meanwhile_.extract(stored.index);
  if (node.empty()) return;
  boost::asio::post(*uploads_, [this, request = node.mapped()] { remove_handed_over(request); });
}

Result<void> Session::start_uploads() {
  const std::lock_guard lock(mutex_);
  if (uploads_) return {};
  Result<std::unique_ptr<wire::ThreadPool>> started = wire::ThreadPool::start(1);
  if (!started) return started.error();
  uploads_ = std::move(*started);
  return {};
}

void Session::finish_uploads() {
  if (uploads_) uploads_->join();
}

}  // namespace headway::worker
