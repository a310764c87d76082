// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/python.h"

#include <algorithm>

namespace aotidbg {
namespace {

bool interrupted = false;

// Undecodable bytes of file names come as lone surrogates (PEP 383) and go back to bytes.
Result<std::string> bytes_of_text(PyObject* text) {
  const Object bytes = Object::owned(PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape"));
  if (!bytes) return tl::unexpected(bytes.error());
  return bytes.as_bytes();
}

}  // namespace

Object Object::owned(PyObject* fresh) {
  Object object;
  object.object_ = fresh;
  if (fresh == nullptr) object.error_ = take_exception();
  return object;
}

Object Object::shared(PyObject* borrowed) {
  Py_XINCREF(borrowed);
  return owned(borrowed);
}

Object Object::failed(Error error) {
  Object object;
  object.error_ = std::move(error);
  return object;
}

Object Object::text(std::string_view text) {
  return owned(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

Object Object::number(std::uint64_t value) { return owned(PyLong_FromUnsignedLongLong(value)); }

Object::Object(const Object& other) : object_(other.object_), error_(other.error_) {
  Py_XINCREF(object_);
}

Object& Object::operator=(Object other) noexcept {
  std::swap(object_, other.object_);
  std::swap(error_, other.error_);
  return *this;
}

Object Object::attribute(const char* name) const {
  if (object_ == nullptr) return *this;
  return owned(PyObject_GetAttrString(object_, name));
}

Object Object::item(const char* key) const {
  Object name = text(key);
  if (object_ == nullptr) return *this;
  if (!name) return name;
  return owned(PyObject_GetItem(object_, name.get()));
}

Object Object::call_method(const char* method, std::vector<const Object*> arguments) const {
  Object callable = attribute(method);
  if (!callable) return callable;
  Object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(arguments.size())));
  if (!tuple) return tuple;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    if (!*arguments[at]) return *arguments[at];
    Py_INCREF(arguments[at]->get());  // the tuple takes it
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(at), arguments[at]->get());
  }
  return owned(PyObject_CallObject(callable.get(), tuple.get()));
}

Result<std::string> Object::as_text() const {
  if (object_ == nullptr) return tl::unexpected(error_);
  const Object text = owned(PyObject_Str(object_));
  if (!text) return tl::unexpected(text.error());
  return bytes_of_text(text.get());
}

Result<std::uint64_t> Object::as_number() const {
  if (object_ == nullptr) return tl::unexpected(error_);
  const Object number = owned(PyNumber_Long(object_));
  if (!number) return tl::unexpected(number.error());
  const std::uint64_t value = PyLong_AsUnsignedLongLongMask(number.get());
  if (PyErr_Occurred() != nullptr) return tl::unexpected(take_exception());
  return value;
}

Result<bool> Object::as_bool() const {
  if (object_ == nullptr) return tl::unexpected(error_);
  const int truth = PyObject_IsTrue(object_);
  if (truth < 0) return tl::unexpected(take_exception());
  return truth != 0;
}

Result<std::string> Object::as_bytes() const {
  if (object_ == nullptr) return tl::unexpected(error_);
  const Object bytes = owned(PyBytes_FromObject(object_));
  if (!bytes) return tl::unexpected(bytes.error());
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.get(), &data, &size) != 0) {
    return tl::unexpected(take_exception());
  }
  return std::string(data, static_cast<std::size_t>(size));
}

Result<std::vector<Object>> Object::as_items() const {
  if (object_ == nullptr) return tl::unexpected(error_);
  const Object iterator = owned(PyObject_GetIter(object_));
  if (!iterator) return tl::unexpected(iterator.error());
  std::vector<Object> items;
  while (PyObject* item = PyIter_Next(iterator.get())) items.push_back(owned(item));
  if (PyErr_Occurred() != nullptr) return tl::unexpected(take_exception());
  return items;
}

Error take_exception() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == nullptr) return {"a call into Python gave nothing", std::nullopt, {}};
  PyErr_NormalizeException(&type, &value, &traceback);
  if (PyErr_GivenExceptionMatches(type, PyExc_KeyboardInterrupt) != 0) interrupted = true;
  Error error{"interrupted", std::nullopt, {}};
  if (PyObject* text = value == nullptr ? nullptr : PyObject_Str(value)) {
    if (auto bytes = bytes_of_text(text); bytes && !bytes->empty()) error.what = std::move(*bytes);
    Py_DECREF(text);
  }
  PyErr_Clear();
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  // One sentence: GDB's own errors may end in a full stop, and hold line breaks.
  std::replace(error.what.begin(), error.what.end(), '\n', ' ');
  while (error.what.ends_with('.') || error.what.ends_with(' ')) error.what.pop_back();
  return error;
}

bool was_interrupted() {
  if (!interrupted && PyErr_CheckSignals() != 0) take_exception();
  return interrupted;
}

void forget_interrupts() { interrupted = false; }

}  // namespace aotidbg
