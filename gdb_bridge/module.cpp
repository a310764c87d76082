// SPDX-License-Identifier: BSD-3-Clause
//
// `_aotidbg`, which aotidbg.py imports inside GDB. It knows nothing of how GDB's commands are made:
// it takes words and gives text, and raises gdb.GdbError with one sentence. No C++ exception leaves
// it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/commands/command.h"
#include "common/commands/completion.h"
#include "gdb_bridge/evaluate.h"
#include "gdb_bridge/gdb_session.h"
#include "gdb_bridge/selected_target.h"

namespace aotidbg {
namespace {

// Lives until the process ends: what it holds of Python must not be released after Python's end.
SelectedTarget& selected() {
  static SelectedTarget* const kOnly = std::make_unique<SelectedTarget>().release();
  return *kOnly;
}

// As wide as GDB's own lines on a terminal.
int columns() {
  constexpr int kComfortable = 100;
  if (::isatty(STDOUT_FILENO) != 1) return kComfortable;
  const auto width = gdb_module().call("parameter", Object::text("width"));
  const auto number = width && !width.is_none() ? width.as_number() : fail("unlimited");
  return number && *number > 0 && *number < 10000 ? static_cast<int>(*number) : kComfortable;
}

void print_progress(std::string_view sentence) {
  const Object gdb = gdb_module();
  gdb.call("write", Object::text(fmt::format("{}\n", sentence)), gdb.attribute("STDERR"));
  gdb.call("flush", gdb.attribute("STDERR"));
}

HostContext context() {
  HostContext host;
  host.host = gdb_name();
  host.prompt = "aoti";
  host.terminal_colors =
      ::isatty(STDOUT_FILENO) == 1 &&
      gdb_module().call("parameter", Object::text("style enabled")).as_bool().value_or(false);
  host.columns = columns();
  host.evaluate = evaluate;
  if (::isatty(STDERR_FILENO) == 1) host.progress = print_progress;
  return host;
}

bool asks_for_json(const std::vector<std::string>& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
}

// What run() of the module answers; the error is what GDB prints.
Result<std::string> answer(const std::vector<std::string>& arguments) {
  forget_interrupts();
  HostContext host = context();
  bool looked = false;
  host.target = [&host, &looked]() -> Result<Target*> {
    auto target = selected().open();
    if (!target) return target;
    looked = true;
    host.selected_thread = selected().users_thread();
    return target;
  };
  CommandOutput output = run_command(host, arguments);
  if (output.status == Status::failed) {
    while (output.text.ends_with('\n')) output.text.pop_back();
    return fail(std::move(output.text));
  }
  if (!looked || asks_for_json(arguments)) return std::move(output.text);
  const std::string which = selected().which();
  return which.empty() ? std::move(output.text) : which + "\n" + output.text;
}

PyObject* raise(const std::string& sentence) {
  const Object error = gdb_module().attribute("GdbError");
  const Object text = Object::text(sentence);
  PyErr_SetObject(error ? error.get() : PyExc_RuntimeError, text.get());
  return nullptr;
}

// Runs `work`, which gives a new reference or null with an exception set.
template <class Work>
PyObject* guarded(const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    return raise(fmt::format("aoti failed inside: {}; please report it", error.what()));
  } catch (...) {
    return raise("aoti failed inside; please report it");
  }
}

PyObject* handed_over(const Object& object) {
  if (!object) return raise(object.error().what);
  Py_INCREF(object.get());
  return object.get();
}

Result<std::vector<std::string>> words_of(PyObject* list) {
  const auto items = Object::shared(list).as_items();
  if (!items) return tl::unexpected(items.error());
  std::vector<std::string> words;
  for (const Object& item : *items) {
    auto text = item.as_text();
    if (!text) return tl::unexpected(text.error());
    words.push_back(std::move(*text));
  }
  return words;
}

Object list_of(const std::vector<std::string>& words) {
  Object list = Object::owned(PyList_New(0));
  for (const std::string& word : words) {
    const Object text = Object::text(word);
    if (text && list) PyList_Append(list.get(), text.get());
  }
  return list;
}

PyObject* run(PyObject* /*module*/, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    const auto words = words_of(arguments);
    if (!words) return raise(words.error().what);
    const auto text = answer(*words);
    if (!text) return raise(text.error().what);
    return handed_over(Object::text(*text));
  });
}

PyObject* complete(PyObject* /*module*/, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    auto words = words_of(arguments);
    if (!words || words->empty()) return raise("complete() wants the words typed so far");
    const std::string last = std::move(words->back());
    words->pop_back();
    return handed_over(list_of(completions(*words, last)));
  });
}

PyObject* summaries(PyObject* /*module*/, PyObject* /*unused*/) {
  return guarded([]() -> PyObject* {
    const Object summaries = Object::owned(PyDict_New());
    if (!summaries) return raise(summaries.error().what);
    for (const CommandInfo& info : commands()) {
      const Object summary = Object::text(info.summary);
      PyDict_SetItemString(summaries.get(), std::string(info.name).c_str(), summary.get());
    }
    return handed_over(summaries);
  });
}

PyObject* tensor_summary(PyObject* /*module*/, PyObject* argument) {
  return guarded([&]() -> PyObject* {
    forget_interrupts();
    const auto at = Object::shared(argument).as_number();
    if (!at) return raise(at.error().what);
    const auto text = selected().tensor_summary(*at);
    return handed_over(Object::text(text ? *text : "not shown as a tensor: " + text.error().what));
  });
}

PyObject* note_stop(PyObject* /*module*/, PyObject* /*unused*/) {
  return guarded([]() -> PyObject* {
    selected().note_stop();
    return handed_over(Object::none());
  });
}

PyObject* forget(PyObject* /*module*/, PyObject* /*unused*/) {
  return guarded([]() -> PyObject* {
    selected().forget();
    return handed_over(Object::none());
  });
}

PyMethodDef methods[] = {
    {"run", run, METH_O, "run(words): the answer of an `aoti` command, as text"},
    {"complete", complete, METH_O, "complete(words): what the last of them may become"},
    {"summaries", summaries, METH_NOARGS, "summaries(): what each command answers, in one line"},
    {"tensor_summary", tensor_summary, METH_O, "tensor_summary(address): a tensor in one line"},
    {"note_stop", note_stop, METH_NOARGS, "note_stop(): the selected thread has just stopped"},
    {"forget", forget, METH_NOARGS, "forget(): what was read of the process is no longer so"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_aotidbg",
                          "aotidbg inside GDB; see aotidbg.py",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace aotidbg

// The one name that this module exports: Python looks for it.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) PyObject* PyInit__aotidbg();

PyObject* PyInit__aotidbg() {
  PyObject* module = PyModule_Create(&aotidbg::definition);
  if (module != nullptr) PyModule_AddStringConstant(module, "version", AOTIDBG_VERSION);
  return module;
}
