// SPDX-License-Identifier: BSD-3-Clause
//
// Python's objects as values: owned, and fallible as everything here is. Within the stable ABI of
// Python 3.8 (PEP 384), so that one module loads into every GDB since.
//
// All of it is called with Python's lock held, which GDB does whenever it enters Python.
#pragma once

#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/target/result.h"

namespace aotidbg {

// A reference to an object, or why there is none: a chain of calls is written without a check
// between its links, and the first error comes out at its end.
class Object {
 public:
  static Object owned(PyObject* fresh);  // null: takes over the pending exception
  static Object shared(PyObject* borrowed);
  static Object failed(Error error);
  static Object text(std::string_view text);
  static Object number(std::uint64_t value);
  static Object none() { return shared(Py_None); }

  Object(const Object& other);
  Object(Object&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), error_(std::move(other.error_)) {}
  Object& operator=(Object other) noexcept;
  ~Object() { Py_XDECREF(object_); }

  explicit operator bool() const { return object_ != nullptr; }
  PyObject* get() const { return object_; }      // borrowed
  const Error& error() const { return error_; }  // when there is no object
  bool is_none() const { return object_ == Py_None; }

  Object attribute(const char* name) const;
  Object item(const char* key) const;  // self["key"]
  template <class... Arguments>
  Object call(const char* method, const Arguments&... arguments) const {
    return call_method(method, {&arguments...});
  }

  Result<std::string> as_text() const;           // of a str, or of str(self)
  Result<std::uint64_t> as_number() const;       // int(self), its low 64 bits
  Result<bool> as_bool() const;                  // bool(self)
  Result<std::string> as_bytes() const;          // bytes(self)
  Result<std::vector<Object>> as_items() const;  // of anything that can be iterated

 private:
  Object() = default;
  Object call_method(const char* method, std::vector<const Object*> arguments) const;

  PyObject* object_ = nullptr;
  Error error_;
};

// The pending exception as one sentence, no longer pending.
Error take_exception();

// True once the user pressed Ctrl-C since the last call of forget_interrupts(): whether Python
// hears of it here, or GDB had raised KeyboardInterrupt inside one of its calls.
bool was_interrupted();
void forget_interrupts();

}  // namespace aotidbg
