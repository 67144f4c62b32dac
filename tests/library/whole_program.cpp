#include <headway/data.hpp>

#include <iostream>

/// Sorts, groups and joins of a C++ program: `whole_program TRIPS CITIES`, two CSV files. Prints
/// a line for each, with the values of its rows; what is thrown is a line too.
namespace {

namespace data = headway::data;
namespace aggregate = headway::data::aggregate;

std::string value_of(const data::Column& column, std::int64_t row) {
  if (column.is_null(row)) return "-";
  if (column.type() == "string") return std::string(column.text(row));
  const auto index = static_cast<std::size_t>(row);
  if (column.type() == "double") return std::to_string(column.as<double>()[index]).substr(0, 4);
  return std::to_string(column.as<std::int64_t>()[index]);
}

void print(const std::string& what, const data::Dataset& rows) {
  std::string line = what + ":";
  for (const data::Batch& batch : rows.batches()) {
    for (std::int64_t row = 0; row < batch.rows(); ++row) {
      for (const data::Column& column : batch.columns()) line += " " + value_of(column, row);
      line += " |";
    }
  }
  std::cout << line << '\n';
}

void print_all(const data::Dataset& trips, const data::Dataset& cities) {
  print("sorted", trips.sort({"price", "city"}, {true, false}));
  print("ascending", trips.sort({"city"}));
  print("groups", trips.groupby({"city"}).aggregate({aggregate::sum("price"), aggregate::count().as("trips")}));
  print("counts", trips.groupby({"city"}).count());
  print("all rows",
        trips.aggregate({aggregate::mean("price"), aggregate::max("price").ignore_nulls(false).as("most"),
                         aggregate::quantile("price", 1), aggregate::standard_deviation("price", 0),
                         aggregate::count("price").ignore_nulls(true).as("values"), aggregate::count_distinct("city"),
                         aggregate::min("price"), aggregate::abs_max("price").as("far")}));
  print("inner", trips.join(cities, data::JoinType::inner, {.on = {"city"}, .right_on = {"code"}}).sort({"price"}));
  print("anti",
        trips.join(cities, data::JoinType::left_anti, {.on = {"city"}, .right_on = {"code"}}).sort({"city", "price"}));
  print("together", trips.union_({trips.limit(1)}).sort({"city", "price"}));
  std::cout << "shuffled: " << trips.limit(3).random_shuffle({.seed = 1}).count() << '\n';
}

}  // namespace

int main(int, char** argv) {
  try {
    print_all(data::read_csv(argv[1]), data::read_csv(argv[2]));
  } catch (const headway::BadResult& failure) {
    std::cout << to_string(failure.error().kind) << ": " << failure.error().message << '\n';
    return 1;
  }
}
