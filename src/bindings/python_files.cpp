#include "bindings/python_files.hpp"

#include "storage/python_exception.hpp"

#include <nanobind/stl/string.h>

#include <cstring>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

Error error_of(const nb::python_error& raised) {
  storage::PythonException found;
  for (const nb::handle each : nb::cast<nb::tuple>(nb::getattr(raised.type(), "__mro__"))) {
    found.classes.push_back(nb::cast<std::string>(nb::getattr(each, "__name__")));
  }
  const nb::object number = nb::getattr(raised.value(), "errno", nb::none());
  if (PyLong_Check(number.ptr())) found.code = nb::cast<int>(number);
  found.words = found.classes.front() + ": " + nb::cast<std::string>(nb::str(raised.value()));
  return storage::error_of(found);
}

/// What `call` gives, or the exception as an error. Takes the interpreter's lock.
template <class T, class Call>
Result<T> guarded(Call call) {
  const nb::gil_scoped_acquire lock;
  try {
    if constexpr (std::is_void_v<T>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (nb::python_error& raised) {
    return error_of(raised);
  } catch (const std::exception& thrown) {
    return Error{ErrorKind::refused, std::string("the filesystem's answer is none: ") + thrown.what()};
  }
}

/// A Python stream, closed when it goes; its errors then are nobody's.
class Stream {
 public:
  explicit Stream(nb::object stream) : stream_(std::move(stream)) {}
  ~Stream() {
    if (!stream_.is_valid()) return;
    (void)guarded<void>([&] { stream_.attr("close")(); });
    const nb::gil_scoped_acquire lock;
    stream_.reset();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Result<void> call(const char* method) {
    return guarded<void>([&] { stream_.attr(method)(); });
  }
  const nb::object& object() const { return stream_; }

 private:
  nb::object stream_;
};

class PythonReader : public storage::Reader {
 public:
  explicit PythonReader(nb::object stream) : stream_(std::move(stream)) {}

  Result<std::size_t> read(std::span<std::byte> buffer) override {
    return guarded<std::size_t>([&]() -> std::size_t {
      std::size_t filled = 0;
      while (filled < buffer.size()) {
        const nb::bytes piece = nb::cast<nb::bytes>(stream_.object().attr("read")(buffer.size() - filled));
        if (piece.size() == 0) break;
        std::memcpy(buffer.data() + filled, piece.c_str(), std::min(piece.size(), buffer.size() - filled));
        filled += std::min(piece.size(), buffer.size() - filled);
      }
      return filled;
    });
  }

 private:
  Stream stream_;
};

/// Threads take turns, by the interpreter's lock and the file's own.
class PythonRandomFile : public storage::RandomFile {
 public:
  explicit PythonRandomFile(nb::object file)
      : size_(nb::cast<std::uint64_t>(file.attr("size")())), file_(std::move(file)) {}

  std::uint64_t size() const override { return size_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer) override {
    return guarded<std::size_t>([&]() -> std::size_t {
      std::size_t filled = 0;
      while (filled < buffer.size()) {
        const nb::bytes piece =
            nb::cast<nb::bytes>(file_.object().attr("read_at")(buffer.size() - filled, offset + filled));
        const std::size_t got = std::min(piece.size(), buffer.size() - filled);
        if (got == 0) break;
        std::memcpy(buffer.data() + filled, piece.c_str(), got);
        filled += got;
      }
      return filled;
    });
  }

 private:
  std::uint64_t size_;
  Stream file_;
};

class PythonWriter : public storage::Writer {
 public:
  PythonWriter(nb::object stream, std::size_t memory_bytes) : stream_(std::move(stream)), memory_bytes_(memory_bytes) {}

  Result<void> write(std::span<const std::byte> bytes) override {
    if (pending_ > 0 && pending_ + bytes.size() > memory_bytes_) {
      if (Result<void> flushed = stream_.call("flush"); !flushed) return flushed;
      pending_ = 0;
    }
    pending_ += bytes.size();
    return guarded<void>(
        [&] { stream_.object().attr("write")(nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size())); });
  }

  Result<void> finish() override { return stream_.call("close"); }

 private:
  Stream stream_;
  std::size_t memory_bytes_;
  std::size_t pending_ = 0;
};

storage::Entry entry_of(nb::handle answer) {
  const nb::tuple parts = nb::cast<nb::tuple>(answer);
  return {nb::cast<std::string>(parts[0]), nb::cast<bool>(parts[1]), nb::cast<std::uint64_t>(parts[2])};
}

}  // namespace

Result<std::string> PythonFiles::path_of(const std::string& location) {
  return guarded<std::string>([&] { return nb::cast<std::string>(files_.attr("path_of")(location)); });
}

std::string PythonFiles::shown(const std::string& path) {
  const Result<std::string> text =
      guarded<std::string>([&] { return nb::cast<std::string>(files_.attr("shown")(path)); });
  return text ? *text : path;
}

Result<storage::Entry> PythonFiles::info(const std::string& path) {
  return guarded<storage::Entry>([&] { return entry_of(files_.attr("info")(path)); });
}

Result<std::vector<storage::Entry>> PythonFiles::list(const std::string& path, bool recursive) {
  return guarded<std::vector<storage::Entry>>([&] {
    std::vector<storage::Entry> entries;
    for (const nb::handle entry : files_.attr("list")(path, recursive)) entries.push_back(entry_of(entry));
    return entries;
  });
}

Result<std::unique_ptr<storage::Reader>> PythonFiles::open_reader(const std::string& path) {
  return guarded<std::unique_ptr<storage::Reader>>([&]() -> std::unique_ptr<storage::Reader> {
    return std::make_unique<PythonReader>(files_.attr("open_reader")(path));
  });
}

Result<std::unique_ptr<storage::RandomFile>> PythonFiles::open_random(const std::string& path) {
  return guarded<std::unique_ptr<storage::RandomFile>>([&]() -> std::unique_ptr<storage::RandomFile> {
    return std::make_unique<PythonRandomFile>(files_.attr("open_random")(path));
  });
}

Result<std::unique_ptr<storage::Writer>> PythonFiles::open_writer(const std::string& path, std::uint64_t,
                                                                  std::size_t memory_bytes) {
  return guarded<std::unique_ptr<storage::Writer>>([&]() -> std::unique_ptr<storage::Writer> {
    return std::make_unique<PythonWriter>(files_.attr("open_writer")(path), memory_bytes);
  });
}

Result<void> PythonFiles::make_directory(const std::string& path) {
  return guarded<void>([&] { files_.attr("make_directory")(path); });
}

Result<void> PythonFiles::remove_file(const std::string& path) {
  return guarded<void>([&] { files_.attr("remove_file")(path); });
}

Result<void> PythonFiles::remove_tree(const std::string& path) {
  return guarded<void>([&] { files_.attr("remove_tree")(path); });
}

storage::OpenUrl url_opener(const nb::object& open) {
  return [open = nb::handle(open.inc_ref())](const std::string& url) {
    return guarded<std::shared_ptr<storage::Files>>([&]() -> Result<std::shared_ptr<storage::Files>> {
      try {
        return std::shared_ptr<storage::Files>(std::make_shared<PythonFiles>(open(url)));
      } catch (nb::python_error& raised) {
        // As Arrow's libraries have it: a URL of a wrong form is the caller's mistake.
        if (!raised.matches(PyExc_ValueError)) throw;
        return Error{ErrorKind::invalid_argument, nb::cast<std::string>(nb::str(raised.value()))};
      }
    });
  };
}

}  // namespace headway::bindings
