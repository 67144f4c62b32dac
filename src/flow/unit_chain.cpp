#include "flow/unit_chain.hpp"

#include "flow/functions/wider_schema.hpp"
#include "flow/same_columns.hpp"

#include <algorithm>
#include <mutex>

namespace headway::flow {
namespace {

/// What reading takes: levels and buffers that double beside the rows, and the file's own bytes.
constexpr double decoding_factor = 2;

struct LeafUnit {
  std::shared_ptr<const Leaf> leaf;
  const Unit* unit = nullptr;
  std::int64_t number = 0;  ///< In the leaf.
};

std::vector<LeafUnit> units_of(const UnitChain& chain) {
  std::vector<LeafUnit> units;
  for (const auto& leaf : chain.leaves) {
    std::int64_t number = 0;
    for (const Unit& unit : leaf->source->units()) units.push_back({leaf, &unit, number++});
  }
  return units;
}

std::int64_t bytes_of(const Leaf& leaf, const Unit& unit) {
  if (!leaf.columns) return unit.bytes;
  const int all = leaf.source->schema()->num_fields();
  return all == 0 ? 0 : unit.bytes * static_cast<std::int64_t>(leaf.columns->size()) / all;
}

/// A unit with more than `at_once` is read in parts; a row is read as a whole.
std::int64_t bytes_to_read(const Leaf& leaf, const Unit& unit, std::int64_t at_once) {
  const double bytes = static_cast<double>(bytes_of(leaf, unit)) * decoding_factor;
  const double row_bytes = unit.rows > 0 ? bytes / static_cast<double>(unit.rows) : 0;
  return static_cast<std::int64_t>(std::min(bytes, std::max(row_bytes, static_cast<double>(at_once))));
}

/// Passes on the rows of a part of a unit; the unit is read and worked on as a whole, so that what
/// is made of a row does not depend on the part.
class PartSink {
 public:
  PartSink(const data::UnitPart& part, const ItemSink& sink) : part_(part), sink_(sink) {}

  arrow::Status put(const std::shared_ptr<arrow::RecordBatch>& rows) {
    const std::int64_t begin = std::max<std::int64_t>(part_.begin - at_, 0);
    const std::int64_t end = std::min(part_.end - at_, rows->num_rows());
    at_ += rows->num_rows();
    return begin < end ? sink_(rows->Slice(begin, end - begin)) : arrow::Status::OK();
  }

  /// `rows`: those of the unit, as they were known beforehand.
  arrow::Status finish(std::int64_t rows) const {
    if (at_ == rows) return arrow::Status::OK();
    return arrow::Status::Invalid("it has ", at_, " rows; when the data set was opened it had ", rows);
  }

 private:
  const data::UnitPart& part_;
  const ItemSink& sink_;
  std::int64_t at_ = 0;
};

arrow::Status read_unit_through(const LeafUnit& from, const UnitPlace& place, arrow::MemoryPool* pool,
                                const ItemSink& sink, FlowGauges& gauges) {
  ThreadClock clock(gauges, from.leaf->gauges);
  clock.go(ThreadClock::in(0));
  const std::vector<int>* columns = from.leaf->columns ? &*from.leaf->columns : nullptr;
  ARROW_ASSIGN_OR_RAISE(auto reader, from.leaf->source->read(*from.unit, columns, pool));
  std::vector<std::int64_t> units = from.leaf->first_units;
  for (std::int64_t& unit : units) unit += from.number;
  StepRun run(from.leaf->steps, place, sink, &clock, std::move(units));
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(run.put(batch));
  }
  ARROW_RETURN_NOT_OK(reader->Close());
  reader.reset();  // It may hold the rows.
  return run.finish();
}

/// Once more where a step has let go of rows that it needs again; rows that `sink` has had are left
/// out then: the same rows are made of a unit whenever it is read.
arrow::Status read_unit(const LeafUnit& from, UnitPlace place, arrow::MemoryPool* pool, const ItemSink& sink,
                        FlowGauges& gauges) {
  std::int64_t given = 0;
  place.may_be_read_again = true;
  arrow::Status read = read_unit_through(
      from, place, pool,
      [&](const std::shared_ptr<arrow::RecordBatch>& rows) {
        given += rows ? rows->num_rows() : 0;
        return sink(rows);
      },
      gauges);
  if (!is_input_gone(read)) return read;
  place.may_be_read_again = false;
  place.is_second_attempt = !is_input_unused(read);
  const ItemSink rest = [&](const std::shared_ptr<arrow::RecordBatch>& rows) {
    const std::int64_t had = rows ? std::min(given, rows->num_rows()) : 0;
    given -= had;
    return had == 0 ? sink(rows) : had == rows->num_rows() ? arrow::Status::OK() : sink(rows->Slice(had));
  };
  return read_unit_through(from, place, pool, rest, gauges);
}

}  // namespace

std::vector<data::UnitSize> unit_sizes(const UnitChain& chain) {
  std::vector<data::UnitSize> sizes;
  for (const LeafUnit& each : units_of(chain)) {
    sizes.push_back({each.leaf->keeps_rows ? each.unit->rows : -1, bytes_of(*each.leaf, *each.unit)});
  }
  return sizes;
}

data::UnitSize size_in_sources(const UnitChain& chain) {
  data::UnitSize all{0, 0};
  for (const LeafUnit& each : units_of(chain)) {
    all.rows = all.rows < 0 || each.unit->rows < 0 ? -1 : all.rows + each.unit->rows;
    all.bytes += bytes_of(*each.leaf, *each.unit);
  }
  return all;
}

namespace {

/// The columns that several inputs have in common.
class CommonColumns {
 public:
  /// `schema` is null where rows show it.
  explicit CommonColumns(std::shared_ptr<arrow::Schema> schema) : schema_(std::move(schema)) {}

  /// Gives rows of one of them on with these columns.
  ItemSink over(const ItemSink& sink) {
    return [this, &sink](const std::shared_ptr<arrow::RecordBatch>& rows) -> arrow::Status {
      if (rows == nullptr) return sink(rows);
      if (schema_ == nullptr) {
        ARROW_ASSIGN_OR_RAISE(const auto columns, checked(*rows->schema()));
        ARROW_ASSIGN_OR_RAISE(const auto same, rows->ReplaceSchema(columns));
        return sink(same);
      }
      ARROW_ASSIGN_OR_RAISE(const auto same, with_columns_of(rows, schema_, "union: a data set"));
      return sink(same);
    };
  }

 private:
  /// Which rows come first is chance: others are made again when all types are known.
  arrow::Result<std::shared_ptr<arrow::Schema>> checked(const arrow::Schema& schema) {
    const std::lock_guard lock(mutex_);
    if (first_ == nullptr) first_ = with_nulls(schema);
    if (first_->Equals(*with_nulls(schema), false)) return first_;
    ARROW_RETURN_NOT_OK(check_same_columns(schema, *first_, "union: a data set"));
    return schema_widened(arrow::Status::Invalid("union: a data set has other columns than the first one"));
  }

  const std::shared_ptr<arrow::Schema> schema_;
  std::mutex mutex_;
  std::shared_ptr<arrow::Schema> first_;
};

}  // namespace

/// A leaf in messages.
static std::string union_input(const UnitChain& chain, const std::shared_ptr<const Leaf>& leaf) {
  const auto found = std::find(chain.leaves.begin(), chain.leaves.end(), leaf);
  return "union: data set " + std::to_string(found - chain.leaves.begin() + 1);
}

arrow::Result<std::shared_ptr<arrow::Schema>> schema_of(const UnitChain& chain) {
  std::shared_ptr<arrow::Schema> schema;
  std::vector<std::shared_ptr<arrow::Schema>> inputs;
  for (const auto& leaf : chain.leaves) {
    auto own = leaf->source->schema();
    if (leaf->columns) {
      arrow::FieldVector fields;
      for (const int column : *leaf->columns) fields.push_back(own->field(column));
      own = arrow::schema(std::move(fields), own->metadata());
    }
    ARROW_ASSIGN_OR_RAISE(own, schema_after(leaf->steps, std::move(own)));
    if (own == nullptr || chain.leaves.size() == 1) return own;
    schema = common_columns(schema, own);
    inputs.push_back(std::move(own));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ARROW_RETURN_NOT_OK(check_same_columns(*inputs[i], *schema, union_input(chain, chain.leaves[i])));
  }
  return schema;
}

PartRange parts_of_lane(const data::EpochOrder& order, int lane, std::uint32_t first_window) {
  const auto part_of = [&](std::uint32_t window) {
    return window < order.windows().size() ? order.windows()[window].first_part : order.parts().size();
  };
  return {part_of(first_window), part_of(order.end_window(lane))};
}

std::unique_ptr<Stage> read_units(Budget& budget, ParallelLimits limits, const UnitChain& chain,
                                  std::shared_ptr<const data::EpochOrder> order, PartRange parts,
                                  std::shared_ptr<arrow::Schema> schema, const std::shared_ptr<FlowGauges>& gauges,
                                  std::shared_ptr<SharedRing> ring) {
  auto units = std::make_shared<const std::vector<LeafUnit>>(units_of(chain));
  const auto common = chain.leaves.size() > 1 ? std::make_shared<CommonColumns>(schema) : nullptr;
  auto next = [units, order, common, at = parts.first, parts, &budget, gauges, ring = std::move(ring),
               places = std::int64_t{0}]() mutable -> arrow::Result<std::optional<Item>> {
    if (at >= parts.end) return std::nullopt;
    const data::UnitPart& part = order->parts()[at];
    const LeafUnit& from = (*units)[part.unit];
    UnitPlace place;
    place.seed = order->config().seed;
    place.epoch = order->config().epoch;
    place.unit = static_cast<std::int64_t>(part.unit);
    place.where = from.unit->where;
    place.place_of_row = [from](std::int64_t row) { return from.leaf->source->place_of(*from.unit, row); };
    place.is_first = at == parts.first;
    ++at;
    Item item;
    item.where = from.unit->where;
    item.bytes = bytes_to_read(*from.leaf, *from.unit, budget.bytes() / 2);
    item.window = part.window;
    item.unit = part.unit;
    const std::int64_t rows = order->lanes() > 1 ? from.unit->rows : -1;
    item.is_quick = ring && fits_ring(*from.unit);
    const auto ring_place = item.is_quick ? std::make_shared<RingPlace>(ring, places++) : nullptr;
    item.work = [from, place, part, rows, common, &budget, gauges, ring_place](const ItemSink& sink_of_item) {
      const AtRingPlace at_place(ring_place.get());
      const ItemSink sink = common ? common->over(sink_of_item) : sink_of_item;
      if (rows < 0) return read_unit(from, place, budget.pool(), sink, *gauges);
      PartSink of_part(part, sink);
      const ItemSink put = [&](const std::shared_ptr<arrow::RecordBatch>& batch) { return of_part.put(batch); };
      ARROW_RETURN_NOT_OK(read_unit(from, place, budget.pool(), put, *gauges));
      return of_part.finish(rows);
    };
    return item;
  };
  auto stop = [leaves = chain.leaves] {
    for (const auto& leaf : leaves) {
      for (const auto& step : leaf->steps) step->stop();
    }
  };
  StagePath path;
  for (const auto& leaf : chain.leaves) {
    for (const auto& gauge : leaf->gauges) {
      if (std::find(path.begin(), path.end(), gauge) == path.end()) path.push_back(gauge);
    }
  }
  const int pool = gauges->next_pool();
  for (const auto& gauge : path) gauge->set_pool(pool);
  auto stage =
      std::make_unique<ParallelStage>(budget, std::move(limits), std::move(schema), std::move(next), std::move(stop));
  stage->count_in(std::move(path));
  return awaited(std::move(stage), gauges);
}

}  // namespace headway::flow
