#include <headway/data/dataset.hpp>

#include "core/location.hpp"
#include "library/plan_arguments.hpp"
#include "library/text_check.hpp"

#include <cstdlib>
#include <filesystem>

namespace headway {
namespace fs = std::filesystem;

namespace library {

std::string location_of(const std::string& argument, const std::string& path) {
  check_text(argument, path).value();
  if (path.empty() || path.find('\0') != std::string::npos) refuse(argument + " is \"\"; allowed: a path or a URL");
  if (is_remote(path)) return path;
  std::string local = scheme_of(path).empty() ? path : local_path(path).value();
  const char* home = std::getenv("HOME");
  if (home != nullptr && (local == "~" || local.starts_with("~/"))) local = home + local.substr(1);
  std::error_code failure;
  const fs::path absolute = fs::absolute(local, failure).lexically_normal();
  return failure ? local : absolute.string();
}

}  // namespace library

namespace data {
namespace {

Json list_of(const std::vector<std::string>& texts) {
  Json all = Json::array();
  for (const std::string& each : texts) all.push_back(each);
  return all;
}

Json locations_of(const Paths& paths, bool may_be_missing) {
  if (paths.all.empty()) library::refuse("paths is empty; allowed: a path, a URL, or several");
  Json places = Json::array();
  for (std::size_t index = 0; index < paths.all.size(); ++index) {
    const std::string argument = paths.all.size() == 1 ? "paths" : "paths[" + std::to_string(index) + "]";
    const std::string place = library::location_of(argument, paths.all[index]);
    std::error_code failure;
    if (!may_be_missing && !is_remote(place) && !fs::exists(place, failure)) {
      throw BadResult({ErrorKind::not_found, argument + " is \"" + place + "\", which does not exist"});
    }
    places.push_back(place);
  }
  return places;
}

struct Format {
  const char* name;
  bool has_partitions = false;
  std::vector<std::string> extensions = {};  ///< Empty: all files.
};

Dataset read(const Format& format, const Paths& paths, const ReadOptions& given, Json options = Json::object()) {
  if (given.columns) {
    if (given.columns->empty()) library::refuse("ReadOptions.columns is empty; allowed: none, or columns' names");
    for (const std::string& name : *given.columns) library::check_text("ReadOptions.columns", name).value();
    options["columns"] = list_of(*given.columns);
  }
  if (format.has_partitions) {
    options["partitioning"] = {{"style", "hive"}, {"base_dir", nullptr}, {"field_names", nullptr}};
  }
  if (given.include_paths) options["include_paths"] = true;
  if (given.ignore_missing_paths) options["ignore_missing_paths"] = true;
  const std::vector<std::string> extensions = given.file_extensions.value_or(format.extensions);
  if (!extensions.empty()) options["file_extensions"] = list_of(extensions);
  const Json places = locations_of(paths, given.ignore_missing_paths);
  Dataset made = Dataset::source("read", {{"format", format.name}, {"paths", places}, {"options", options}});
  if (!given.shuffle) return made;
  (void)library::shuffle_arguments("ReadOptions.shuffle.seed", *given.shuffle);
  return made.randomize_block_order(*given.shuffle);
}

}  // namespace

Dataset read_parquet(const Paths& paths, const ReadOptions& options) {
  return read({"parquet", true, {"parquet"}}, paths, options);
}

Dataset read_csv(const Paths& paths, const ReadOptions& options, const CsvOptions& csv) {
  Json given = Json::object();
  if (static_cast<unsigned char>(csv.delimiter) >= 128 || csv.delimiter < ' ') {
    if (csv.delimiter != '\t') {
      library::refuse("CsvOptions.delimiter is the character " + std::to_string(static_cast<int>(csv.delimiter)) +
                      "; allowed: one that can be seen, a space or a tab");
    }
  }
  if (csv.skip_rows < 0) {
    library::refuse("CsvOptions.skip_rows is " + std::to_string(csv.skip_rows) + "; allowed: 0 or more");
  }
  if (csv.delimiter != ',') given["delimiter"] = std::string(1, csv.delimiter);
  if (!csv.column_names.empty()) given["column_names"] = list_of(csv.column_names);
  if (csv.skip_rows > 0) given["skip_rows"] = csv.skip_rows;
  for (const std::string& name : csv.column_names) library::check_text("CsvOptions.column_names", name).value();
  return read({"csv", true}, paths, options, std::move(given));
}

Dataset read_json(const Paths& paths, const ReadOptions& options) { return read({"json", true}, paths, options); }

Dataset read_text(const Paths& paths, const ReadOptions& options) { return read({"text"}, paths, options); }

Dataset read_orc(const Paths& paths, const ReadOptions& options) { return read({"orc"}, paths, options); }

Dataset read_numpy(const Paths& paths, const ReadOptions& options) {
  return read({"numpy", false, {"npy"}}, paths, options);
}

Dataset read_images(const Paths& paths, const ReadOptions& options, const ImageOptions& images) {
  Json given = Json::object();
  if (images.size) {
    const auto [height, width] = *images.size;
    if (height < 1 || width < 1) {
      library::refuse("ImageOptions.size is {" + std::to_string(height) + ", " + std::to_string(width) +
                      "}; allowed: none, or a height and a width above 0");
    }
    given["size"] = Json::array({height, width});
  }
  library::check_text("ImageOptions.mode", images.mode).value();
  if (!images.mode.empty()) given["mode"] = images.mode;
  const std::vector<std::string> extensions = {"png", "jpg", "jpeg"};
  return read({"images", false, extensions}, paths, options, std::move(given));
}

Dataset read_binary_files(const Paths& paths, const ReadOptions& options) { return read({"binary"}, paths, options); }

Dataset read_tfrecords(const Paths& paths, const ReadOptions& options) { return read({"tfrecord"}, paths, options); }

Dataset read_webdataset(const Paths& paths, const ReadOptions& options) { return read({"webdataset"}, paths, options); }

Dataset range(std::int64_t rows) {
  if (rows < 0) library::refuse("rows is " + std::to_string(rows) + "; allowed: 0 or more");
  return Dataset::source("range", Json::object({{"rows", rows}}));
}

}  // namespace data
}  // namespace headway
