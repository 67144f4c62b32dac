#pragma once

#include "core/json.hpp"
#include "wire/frame.hpp"

#include <boost/mp11.hpp>

#include <string>
#include <type_traits>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

/// Described structs in Python: a class of the same name with the same fields, read-only.
namespace headway::bindings {

/// A new reference; null with a Python error set.
PyObject* to_python(const Json& json) noexcept;
PyObject* to_python(const JsonObject& object) noexcept;

/// "RankFailure(rank=1, text='...')"
std::string representation(nanobind::handle self, const std::vector<const char*>& fields);

/// Binds `T` with all of its fields. The structs within must be bound as well.
template <class T>
nanobind::class_<T> bind_described(nanobind::module_& module, const char* name, const char* doc) {
  nanobind::class_<T> bound(module, name, doc);
  std::vector<const char*> fields;
  boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>([&](auto field) {
    bound.def_ro(field.name, field.pointer);
    fields.push_back(field.name);
  });
  bound.def("__repr__", [fields](nanobind::handle_t<T> self) { return representation(self, fields); });
  return bound;
}

}  // namespace headway::bindings

namespace nanobind::detail {

template <>
struct type_caster<headway::JsonObject> {
  NB_TYPE_CASTER(headway::JsonObject, const_name("dict[str, typing.Any]"))

  bool from_python(handle, std::uint8_t, cleanup_list*) noexcept { return false; }
  static handle from_cpp(const headway::JsonObject& object, rv_policy, cleanup_list*) noexcept {
    return headway::bindings::to_python(object);
  }
};

template <>
struct type_caster<headway::wire::Blob> {
  NB_TYPE_CASTER(headway::wire::Blob, const_name("bytes | None"))

  bool from_python(handle, std::uint8_t, cleanup_list*) noexcept { return false; }
  static handle from_cpp(const headway::wire::Blob& blob, rv_policy, cleanup_list*) noexcept {
    if (!blob) return none().release();
    return PyBytes_FromStringAndSize(blob->data(), static_cast<Py_ssize_t>(blob->size()));
  }
};

/// A described enumeration is the name of its value.
template <class E>
  requires(boost::describe::has_describe_enumerators<E>::value)
struct type_caster<E, enable_if_t<std::is_enum_v<E>>> {
  NB_TYPE_CASTER(E, const_name("str"))

  bool from_python(handle, std::uint8_t, cleanup_list*) noexcept { return false; }
  static handle from_cpp(const E& value, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_FromString(boost::describe::enum_to_string(value, ""));
  }
};

}  // namespace nanobind::detail
