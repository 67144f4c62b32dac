#include "bindings/data_batch.hpp"
#include "bindings/module.hpp"
#include "core/json.hpp"
#include "data/epoch_order.hpp"
#include "data/flow_text.hpp"
#include "data/verdict.hpp"
#include "data/wider_number.hpp"
#include "feed/data_process.hpp"
#include "feed/feed_client.hpp"
#include "feed/function_seat.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstdlib>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

/// What a user's function raised in the data process or below it. It lives as long as the process.
PyObject* data_failure = nullptr;

using Blobs = std::vector<nb::bytes>;

/// Called with FlowCounters as JSON while something is waited for.
using Told = std::optional<nb::callable>;

/// An Exception of it is dropped: nobody's data depend on what is shown. What else it raises, as
/// handlers of signals do, ends the wait: `raised`.
feed::Progressing progressing(const Told& told, bool& raised) {
  if (!told) return nullptr;
  return [&told, &raised](const FlowCounters& counters) {
    if (raised) return;
    const GilTaken acquired;
    try {
      (*told)(to_json_text(counters));
    } catch (nb::python_error& failure) {
      if (failure.matches(PyExc_Exception)) {
        failure.discard_as_unraisable("headway.data");
      } else {
        failure.restore();
        raised = true;
      }
    }
  };
}

/// Called with the number of a write's file, and of how many files on it gives the names.
using Names = std::optional<nb::callable>;

/// What it raises ends the wait: `raised`.
feed::Naming naming(const Names& names, bool& raised) {
  if (!names) return nullptr;
  return [&names, &raised](std::uint64_t first, std::uint64_t count) -> Result<std::vector<std::string>> {
    const GilTaken acquired;
    try {
      return nb::cast<std::vector<std::string>>((*names)(first, count));
    } catch (nb::python_error& failure) {
      failure.restore();
      raised = true;
      return Error{ErrorKind::aborted, "interrupted"};
    }
  };
}

/// A failure of the user's function with all that is known of it; another one as its kind says.
[[noreturn]] void raise_outcome(const Error& error, const std::shared_ptr<const feed::Failure>& failure) {
  if (!failure || error.kind != ErrorKind::user_code) raise(error);
  const nb::object raised = nb::borrow(data_failure)(error.message);
  raised.attr("traceback") = failure->failed.traceback;
  raised.attr("where") = failure->failed.where;
  const wire::Blob& exception = failure->exception;
  raised.attr("exception") = exception ? nb::bytes(exception->data(), exception->size()) : nb::bytes("");
  PyErr_SetObject(data_failure, raised.ptr());
  throw nb::python_error();
}

/// Waits without the GIL. When a signal's handler has raised, that is raised.
template <class Wait>
auto interruptibly(const Wait& wait) {
  bool raised = false;
  auto outcome = [&] {
    const GilReleased released;
    const auto interrupted = [&raised] {
      const GilTaken acquired;
      return raised = raised || PyErr_CheckSignals() != 0;
    };
    return wait(interrupted, raised);
  }();
  if (raised) throw nb::python_error();
  if (!outcome.value) raise_outcome(outcome.value.error(), outcome.failure);
  return std::move(*outcome.value);
}

wire::Blob joined(const Blobs& blobs, std::vector<std::uint64_t>& sizes) {
  std::string all;
  for (const nb::bytes& blob : blobs) {
    sizes.push_back(blob.size());
    all.append(blob.c_str(), blob.size());
  }
  return std::make_shared<const std::string>(std::move(all));
}

/// A message of which `json` has some fields.
template <class Message>
Message parsed(const std::string& json, std::string_view subject) {
  Json fields = unwrap(parse_json(json, subject));
  if (fields.is_object()) fill_missing(fields.get_object(), to_json(Message{}).get_object());
  Result<Message> message = from_json<Message>(fields, subject);
  if (!message) raise({ErrorKind::invalid_argument, message.error().message});
  return std::move(*message);
}

template <class Message>
std::pair<Message, wire::Blob> message_of(const std::string& json, const Blobs& blobs) {
  auto message = parsed<Message>(json, "the request");
  wire::Blob blob = joined(blobs, message.blob_sizes);
  return {std::move(message), std::move(blob)};
}

class PyDataClient {
 public:
  PyDataClient(std::string address, const std::string& hello) : address_(std::move(address)) {
    hello_ = parsed<feed::Hello>(hello, "hello");
  }

  const std::string& address() const { return address_; }
  const feed::Hello& hello() const { return hello_; }

  std::string invite(const std::string& json) const {
    const wire::Frame frame = wire::to_frame(parsed<feed::Invite>(json, "the invitation"));
    const feed::Reply reply = interruptibly(
        [&](const feed::Interrupted& interrupted, bool&) { return feed::ask(address_, hello_, frame, interrupted); });
    return json_text(reply.value);
  }

  std::pair<std::string, nb::bytes> ask(const std::string& json, const Blobs& blobs, const Told& told) const {
    return replied<feed::Ask>(json, blobs, told, {});
  }
  std::pair<std::string, nb::bytes> run(const std::string& json, const Blobs& blobs, const Told& told,
                                        const Names& names) const {
    return replied<feed::Run>(json, blobs, told, names);
  }

 private:
  template <class Message>
  std::pair<std::string, nb::bytes> replied(const std::string& json, const Blobs& blobs, const Told& told,
                                            const Names& names) const {
    auto [message, blob] = message_of<Message>(json, blobs);
    const wire::Frame frame = wire::to_frame(message, std::move(blob));
    const feed::Reply reply = interruptibly([&](const feed::Interrupted& interrupted, bool& raised) {
      return feed::ask(address_, hello_, frame, interrupted, progressing(told, raised), naming(names, raised));
    });
    return {json_text(reply.value), reply.blob ? nb::bytes(reply.blob->data(), reply.blob->size()) : nb::bytes("")};
  }

  std::string address_;
  feed::Hello hello_;
};

class PyStream {
 public:
  PyStream(const PyDataClient& client, const std::string& json, const Blobs& blobs) {
    auto [message, blob] = message_of<feed::Open>(json, blobs);
    stream_ = without_gil([&] { return feed::Stream::open(client.address(), client.hello(), message, blob); });
  }

  nb::object next(const Told& told) {
    auto batch = interruptibly([&](const feed::Interrupted& interrupted, bool& raised) {
      return stream_->next(interrupted, progressing(told, raised));
    });
    return batch ? nb::cast(PyBatch{std::move(batch)}) : nb::none();
  }
  std::uint64_t next_bytes() const { return stream_->next_bytes(); }
  void close() { stream_->close(); }
  std::string end() const { return to_json_text(stream_->end()); }
  std::string waits() const { return to_json_text(stream_->waits()); }
  std::string counters() const { return to_json_text(stream_->counters()); }

 private:
  std::unique_ptr<feed::Stream> stream_;
};

std::unique_ptr<feed::DataProcess> start_process(const std::string& program, const std::string& folder,
                                                 const std::map<std::string, std::string>& environment) {
  return std::make_unique<feed::DataProcess>(
      without_gil([&] { return feed::DataProcess::start(program, folder, environment); }));
}

/// What is made of counters, which are JSON.
void bind_counters(nb::module_& module) {
  module.def(
      "data_stats_table",
      [](const std::string& counters) {
        return data::stats_table(unwrap(from_json_text<FlowCounters>(counters, "counters")));
      },
      nb::arg("counters"), "What the stages of a data set have done (JSON), as a table.");
  module.def(
      "data_progress_text",
      [](const std::string& counters, const std::string& what) {
        return data::progress_text(unwrap(from_json_text<FlowCounters>(counters, "counters")), what);
      },
      nb::arg("counters"), nb::arg("what"), "How far a data set is (JSON), as a line for a terminal.");
  module.def("data_dropped_text", &data::dropped_text, nb::arg("dataset"), nb::arg("rows"), nb::arg("world_size"),
             "How many last rows of an epoch were dropped, in words; an empty name: the data set has none.");
  module.def(
      "data_awaited_words",
      [](const std::string& counters) {
        return data::awaited_words(unwrap(from_json_text<FlowCounters>(counters, "counters")));
      },
      nb::arg("counters"), "Which rank the others wait for, by the counters of a data set (JSON); empty: for none.");
  // Keeps the GIL: arithmetic.
  module.def("data_lanes", &data::lanes_for, nb::arg("machines"),
             "Into how many lanes a data set is cut that so many machines read.");
  // Keeps the GIL: a look into a table.
  module.def("data_wider_number", &data::wider_number, nb::arg("one"), nb::arg("other"),
             "Arrow's name of the type that has the numbers of two, by their names; None where there is none.");
  module.def(
      "data_flows_together",
      [](const std::string& before, const std::string& epoch) {
        auto all = unwrap(from_json_text<FlowCounters>(before, "before"));
        data::add_flow(all, unwrap(from_json_text<FlowCounters>(epoch, "epoch")));
        return to_json_text(all);
      },
      nb::arg("before"), nb::arg("epoch"), "Counters of several epochs of a data set (JSON) as one.");
}

std::unique_ptr<feed::FunctionSeat> take_seat(const std::string& host, int port, const std::string& name,
                                              const std::string& token, double idle_s) {
  const cluster::Endpoint desk{host, static_cast<std::uint16_t>(port)};
  const auto idle = std::chrono::milliseconds(static_cast<std::int64_t>(idle_s * 1000));
  // The function may hold the GIL for as long as it likes.
  const auto interrupted = [] { std::_Exit(0); };
  return without_gil([&] { return feed::FunctionSeat::take(desk, name, token, idle, interrupted); });
}

/// A function worker of another node.
void bind_seat(nb::module_& module) {
  nb::class_<feed::FunctionSeat>(module, "FunctionSeat",
                                 "A function worker's place beside another node's data process.")
      .def(nb::new_(&take_seat), nb::arg("host"), nb::arg("port"), nb::arg("name"), nb::arg("token"), nb::arg("idle_s"),
           "Connects to the data process there; both prove to have the token. This process ends when the data process "
           "needs it no more in the middle of a unit.")
      // Keeps the GIL: a field.
      .def("release_socket", &feed::FunctionSeat::release_socket,
           "The descriptor of the worker's link, which is the caller's from now on.");
}

void bind_stream(nb::module_& module) {
  nb::class_<PyStream>(module, "DataStream", "The batches of one epoch.")
      .def(
          "next", &PyStream::next, nb::arg("told") = nb::none(),
          nb::sig("def next(self, told: collections.abc.Callable[[str], object] | None = None) -> DataBatch | None"),
          "Waits for the next batch; None at the end. Ctrl-C works. `told` is called meanwhile, with counters as JSON.")
      .def("close", &PyStream::close, nb::call_guard<GilReleased>(), "Nothing more is wanted. Batches live on.")
      // Keeps the GIL: two fields of shared memory.
      .def_prop_ro("next_bytes", &PyStream::next_bytes,
                   "The bytes of the next batch's memory, if that batch is there; 0: `next` may wait.")
      // Keeps the GIL: fields.
      .def_prop_ro("waits", &PyStream::waits, "JSON: how long batches were waited for since the first one came.")
      // Keeps the GIL: fields.
      .def_prop_ro("counters", &PyStream::counters, "JSON: what the stages have done, as far as it is known here.")
      // Keeps the GIL: fields.
      .def_prop_ro("end", &PyStream::end, "At the end: JSON with the rows dropped, and statistics.");
}

}  // namespace

void bind_data(nb::module_& module) {
  data_failure = PyErr_NewExceptionWithDoc(
      "headway._core.DataFailure",
      "A user's function failed in a data set: with traceback, where (file and rows) and the pickled exception.",
      PyExc_RuntimeError, nullptr);
  if (data_failure == nullptr) throw nb::python_error();
  module.attr("DataFailure") = nb::borrow(data_failure);
  bind_counters(module);
  nb::class_<feed::DataProcess>(module, "DataProcess",
                                "The data process of this machine; it ends with the last of its clients.")
      .def(nb::new_(&start_process), nb::arg("program"), nb::arg("folder"),
           nb::arg("environment") = std::map<std::string, std::string>(),
           "Starts it; with a folder, one that was started for the same folder is used if it still runs.")
      // Keeps the GIL: a field.
      .def_prop_ro("address", &feed::DataProcess::address, "Where clients find it.")
      // Keeps the GIL: does not wait.
      .def_prop_ro("has_ended", &feed::DataProcess::has_ended, "Whether it has ended meanwhile.")
      .def("is_about_to_end", &feed::DataProcess::is_about_to_end, nb::call_guard<GilReleased>(),
           "Whether it has ended, for one that has closed a connection. Waits a moment for it.")
      .def("close", &feed::DataProcess::close, nb::call_guard<GilReleased>(),
           "This process needs it no more; the last client's close ends it.");
  nb::class_<PyDataClient>(module, "DataClient", "Asks a data process, and opens streams of batches.")
      // Keeps the GIL: nothing is sent yet.
      .def(nb::init<std::string, std::string>(), nb::arg("address"), nb::arg("hello") = "{}",
           "`hello`: JSON with budget, threads, function_host, environment, scratch.")
      .def(
          "ask", &PyDataClient::ask, nb::arg("json"), nb::arg("blobs"), nb::arg("told") = nb::none(),
          "Asks about a plan ({\"what\", \"plan\"}): the answer as JSON, and its raw part. `told` is called meanwhile, "
          "with counters as JSON.")
      .def("invite", &PyDataClient::invite, nb::arg("json"),
           "From now on function workers of other nodes may come in ({\"host\", \"first\", \"plan\", \"blobs\"}): the "
           "answer as JSON.")
      .def("run", &PyDataClient::run, nb::arg("json"), nb::arg("blobs"), nb::arg("told") = nb::none(),
           nb::arg("names") = nb::none(),
           "Runs a plan ({\"plan\"}) that ends in a write: the answer as JSON, and its raw part. `names` gives the "
           "names of files: so many, from a number on.")
      // Keeps the GIL: PyStream lets it go itself.
      .def(
          "open",
          [](const PyDataClient& self, const std::string& json, const Blobs& blobs) {
            return std::make_unique<PyStream>(self, json, blobs);
          },
          nb::arg("json"), nb::arg("blobs"), "Opens a stream ({\"plan\", \"consumption\"}); errors come with `next`.");
  bind_stream(module);
  bind_batch(module);
  bind_seat(module);
}

}  // namespace headway::bindings
