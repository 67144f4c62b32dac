#include "bindings/described.hpp"

namespace headway::bindings {

namespace nb = nanobind;

namespace {

PyObject* text_to_python(std::string_view text) noexcept {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

PyObject* list_to_python(const JsonArray& array) noexcept {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(array.size()));
  for (std::size_t i = 0; list != nullptr && i < array.size(); ++i) {
    PyObject* item = to_python(array[i]);
    if (item == nullptr) {
      Py_CLEAR(list);
    } else {
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), item);
    }
  }
  return list;
}

}  // namespace

PyObject* to_python(const Json& json) noexcept {
  switch (json.kind()) {
    case boost::json::kind::null: Py_RETURN_NONE;
    case boost::json::kind::bool_: return PyBool_FromLong(json.get_bool() ? 1 : 0);
    case boost::json::kind::int64: return PyLong_FromLongLong(json.get_int64());
    case boost::json::kind::uint64: return PyLong_FromUnsignedLongLong(json.get_uint64());
    case boost::json::kind::double_: return PyFloat_FromDouble(json.get_double());
    case boost::json::kind::string: return text_to_python(json.get_string());
    case boost::json::kind::array: return list_to_python(json.get_array());
    case boost::json::kind::object: return to_python(json.get_object());
  }
  Py_RETURN_NONE;
}

PyObject* to_python(const JsonObject& object) noexcept {
  PyObject* dict = PyDict_New();
  for (const auto& entry : object) {
    if (dict == nullptr) break;
    PyObject* key = text_to_python(entry.key());
    PyObject* value = key != nullptr ? to_python(entry.value()) : nullptr;
    if (value == nullptr || PyDict_SetItem(dict, key, value) != 0) Py_CLEAR(dict);
    Py_XDECREF(key);
    Py_XDECREF(value);
  }
  return dict;
}

std::string representation(nb::handle self, const std::vector<const char*>& fields) {
  std::string text = nb::cast<std::string>(self.type().attr("__name__")) + "(";
  for (const char* field : fields) {
    if (text.back() != '(') text += ", ";
    text += std::string(field) + "=" + nb::repr(self.attr(field)).c_str();
  }
  return text + ")";
}

}  // namespace headway::bindings
