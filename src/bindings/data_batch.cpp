#include "bindings/data_batch.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

nb::bytes schema_of(const PyBatch& self) {
  const wire::Blob& schema = self.batch->layout()->schema;
  return schema ? nb::bytes(schema->data(), schema->size()) : nb::bytes("");
}

std::vector<std::pair<std::int64_t, std::int64_t>> nodes_of(const PyBatch& self) {
  std::vector<std::pair<std::int64_t, std::int64_t>> nodes;
  for (const feed::SlotNode& node : self.batch->nodes()) nodes.emplace_back(node.length, node.null_count);
  return nodes;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> buffers_of(const PyBatch& self) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> buffers;
  for (const feed::SlotBuffer& buffer : self.batch->buffers()) buffers.emplace_back(buffer.offset, buffer.size);
  return buffers;
}

constexpr std::int64_t not_viewed = -1;

/// `places` has three 32-bit numbers a column: its array, that of its values, and their buffer.
nb::list offsets_of(const PyBatch& self, const nb::bytes& places) {
  const std::span nodes = self.batch->nodes();
  const std::span buffers = self.batch->buffers();
  const auto* at = static_cast<const char*>(places.data());
  nb::list offsets;
  for (const char* const end = at + places.size() / 12 * 12; at != end; at += 12) {
    std::array<std::uint32_t, 3> place{};
    std::memcpy(place.data(), at, sizeof(place));
    const auto [array, values, buffer] = place;
    const bool known = array < nodes.size() && values < nodes.size() && buffer < buffers.size();
    const bool viewed = known && nodes[array].null_count == 0 && nodes[values].null_count == 0;
    offsets.append(viewed ? static_cast<std::int64_t>(buffers[buffer].offset) : not_viewed);
  }
  return offsets;
}

/// The buffer protocol: each view keeps the batch.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const std::span<std::byte> memory = nb::inst_ptr<PyBatch>(nb::handle(self))->batch->memory();
  return PyBuffer_FillInfo(view, self, memory.data(), static_cast<Py_ssize_t>(memory.size()), 0, flags);
}

PyType_Slot batch_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

}  // namespace

void bind_batch(nb::module_& module) {
  // Keeps the GIL: a setting.
  module.def(
      "say_nothing_of_leaks", [] { nb::set_leak_warnings(false); },
      "At the interpreter's end objects that live are no leaks.");
  // Keeps the GIL: fields.
  nb::class_<feed::Place>(module, "DataPlace", "Where a stream is after a batch, which it does not keep.")
      .def_prop_ro("cursor", &feed::Place::cursor, "As JSON.");
  nb::class_<PyBatch>(module, "DataBatch", nb::type_slots(batch_slots),
                      "Rows in shared memory, which views of its buffer keep. Writable, and nobody else's.")
      // Keeps the GIL: fields.
      .def_prop_ro("rows", [](const PyBatch& self) { return self.batch->rows(); })
      // Keeps the GIL: fields.
      .def_prop_ro(
          "layout", [](const PyBatch& self) { return to_json_text(self.batch->layout()->layout); },
          "The columns, as JSON.")
      // Keeps the GIL: fields.
      .def_prop_ro(
          "layout_id", [](const PyBatch& self) { return self.batch->layout()->layout.id; },
          "The same for all batches of a stream that have one layout.")
      // Keeps the GIL: fields.
      .def_prop_ro("schema", &schema_of, "The schema, as Arrow's IPC serializes it.")
      // Keeps the GIL: fields.
      .def_prop_ro("nodes", &nodes_of, "(length, null count) of each array, depth first.")
      // Keeps the GIL: fields.
      .def_prop_ro("buffers", &buffers_of, "(offset, size) of each buffer; offset 0: there is none.")
      // Keeps the GIL: fields.
      .def("offsets", &offsets_of, nb::arg("places"),
           "Where the values of columns without nulls begin; 0: there are none, -1: a column has nulls, or no place in "
           "the batch. `places` has three 32-bit numbers a column: its node, that of its values, and their buffer.")
      // Keeps the GIL: fields.
      .def_prop_ro(
          "place", [](const PyBatch& self) { return self.batch->place(); }, "Where the stream is after this batch.");
}

}  // namespace headway::bindings
