#include "data/interpreter.hpp"

#include "data/philox.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace headway::data {
namespace {

using Value = Table::Value;
using Row = Table::Row;
using RowList = std::vector<Row>;

struct Place {
  std::uint32_t unit;
  std::uint32_t row;
};

Value evaluate(const Expression& expression, const Table& table, const Row& row, Place place) {
  if (expression.kind == Expression::Kind::column) return row.at(table.place_of(expression.name));
  if (expression.kind == Expression::Kind::literal) {
    return expression.literal.is_null() ? Value() : Value(expression.literal.to_number<std::int64_t>());
  }
  if (expression.name == "random") return RandomStream(5, 0, Purpose::function, place.unit, place.row).next() % 10;
  std::vector<Value> args;
  for (const Expression& arg : expression.args) args.push_back(evaluate(arg, table, row, place));
  if (expression.name == "is_null") return args[0] ? 0 : 1;
  if (!args[0] || !args[1]) return {};
  if (expression.name == "add") return *args[0] + *args[1];
  if (expression.name == "less") return *args[0] < *args[1] ? 1 : 0;
  throw std::runtime_error("no function " + expression.name);
}

/// Applies `make(row, place, to)` to each row.
template <class Make>
void each_row(Table& table, Make make) {
  for (std::uint32_t unit = 0; unit < table.units.size(); ++unit) {
    RowList rows;
    for (std::uint32_t row = 0; row < table.units[unit].size(); ++row) {
      make(table.units[unit][row], Place{unit, row}, rows);
    }
    table.units[unit] = std::move(rows);
  }
}

Table choose(const Table& table, const std::vector<std::string>& columns) {
  Table chosen{columns, table.units};
  each_row(chosen, [&](const Row& row, Place, RowList& to) {
    Row& made = to.emplace_back();
    for (const std::string& column : columns) made.push_back(row.at(table.place_of(column)));
  });
  return chosen;
}

Table project(const ProjectNode& node, const Table& input) {
  Table output{node.keep ? input.columns : std::vector<std::string>(), input.units};
  for (const NamedExpression& each : node.columns) {
    if (std::ranges::find(output.columns, each.name) == output.columns.end()) output.columns.push_back(each.name);
  }
  each_row(output, [&](const Row& row, Place place, RowList& to) {
    Row made = node.keep ? row : Row();
    made.resize(output.columns.size());
    for (const NamedExpression& each : node.columns) {
      made[output.place_of(each.name)] = evaluate(each.expression, input, row, place);
    }
    to.push_back(std::move(made));
  });
  return output;
}

void run_step(const FunctionStep& step, RowList& batch) {
  RowList result;
  Value least;
  for (const Row& row : batch) {
    if (row[0] && (!least || *row[0] < *least)) least = row[0];
  }
  for (Row& row : batch) {
    if (step.blob == 3 && row[0] && *row[0] % 3 == 0) continue;
    if (step.blob == 0 && row[0]) ++*row[0];
    if (step.blob == 1 && row[0]) *row[0] -= *least;
    if (step.blob == 2 && row[0] && *row[0] % 2 != 0) result.push_back(row);
    result.push_back(row);
  }
  batch = std::move(result);
}

void call(const FunctionNode& node, Table& table) {
  for (RowList& unit : table.units) {
    const std::size_t batch_rows = node.batch_size ? static_cast<std::size_t>(*node.batch_size) : unit.size();
    RowList rows;
    for (std::size_t first = 0; first < unit.size(); first += batch_rows) {
      const std::size_t end = std::min(first + batch_rows, unit.size());
      RowList batch(unit.begin() + static_cast<std::ptrdiff_t>(first), unit.begin() + static_cast<std::ptrdiff_t>(end));
      run_step(node, batch);
      for (const FunctionStep& step : node.then) run_step(step, batch);
      rows.insert(rows.end(), batch.begin(), batch.end());
    }
    unit = std::move(rows);
  }
}

void limit(std::int64_t rows, Table& table) {
  for (RowList& unit : table.units) {
    unit.resize(std::min(unit.size(), static_cast<std::size_t>(rows)));
    rows -= static_cast<std::int64_t>(unit.size());
  }
}

void shuffle_rows(std::uint64_t seed, Table& table) {
  const RowList rows = table.rows();
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  RandomStream stream(seed, 0, Purpose::rows, 0);
  shuffle(order, stream);
  RowList shuffled;
  for (const std::uint32_t place : order) shuffled.push_back(rows[place]);
  table.units = {std::move(shuffled)};
}

Table unite(const std::vector<Table>& inputs) {
  Table united{inputs[0].columns, {}};
  for (const Table& input : inputs) {
    const Table chosen = choose(input, united.columns);
    united.units.insert(united.units.end(), chosen.units.begin(), chosen.units.end());
  }
  return united;
}

Table result_of(const Node& node, std::vector<Table> inputs, const std::map<std::string, Table>& files) {
  if (const auto* read = node.as<ReadNode>()) {
    const Table& file = files.at(read->paths.at(0));
    return choose(file, columns_of(*read).value_or(file.columns));
  }
  if (node.as<UnionNode>()) return unite(inputs);
  Table table = std::move(inputs.at(0));
  if (const auto* made = node.as<ProjectNode>()) return project(*made, table);
  if (const auto* drop = node.as<DropNode>()) {
    std::vector<std::string> kept = table.columns;
    for (const std::string& column : drop->columns) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(Table{kept, {}}.place_of(column)));
    }
    return choose(table, kept);
  }
  if (const auto* filter = node.as<FilterNode>()) {
    each_row(table, [&, whole = table](const Row& row, Place place, RowList& to) {
      if (evaluate(filter->where, whole, row, place).value_or(0) != 0) to.push_back(row);
    });
  } else if (const auto* function = node.as<FunctionNode>()) {
    call(*function, table);
  } else if (const auto* cut = node.as<LimitNode>()) {
    limit(cut->rows, table);
  } else if (const auto* sample = node.as<SampleNode>()) {
    for (std::uint32_t unit = 0; unit < table.units.size(); ++unit) {
      RowSample keeps(sample->fraction, sample->seed, unit);
      std::erase_if(table.units[unit], [&](const Row&) { return !keeps.keeps_next(); });
    }
  } else if (const auto* shuffled = node.as<ShuffleNode>()) {
    shuffle_rows(*shuffled->seed, table);
  }
  return table;
}

}  // namespace

std::vector<Table::Row> Table::rows() const {
  RowList all;
  for (const RowList& unit : units) all.insert(all.end(), unit.begin(), unit.end());
  return all;
}

std::size_t Table::place_of(const std::string& column) const {
  const auto found = std::ranges::find(columns, column);
  if (found == columns.end()) throw std::runtime_error("no column " + column);
  return static_cast<std::size_t>(found - columns.begin());
}

Table interpret(const Plan& plan, const std::map<std::string, Table>& files) {
  std::vector<Table> tables;
  for (const Node& node : plan.nodes) {
    std::vector<Table> inputs;
    for (const std::size_t input : node.inputs) inputs.push_back(tables.at(input));
    tables.push_back(result_of(node, std::move(inputs), files));
  }
  return tables.back();
}

}  // namespace headway::data
