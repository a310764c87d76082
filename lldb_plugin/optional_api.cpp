// SPDX-License-Identifier: BSD-3-Clause
#include "lldb_plugin/optional_api.h"

#include <dlfcn.h>

#include <array>

namespace aotidbg {
namespace {

// A member function under its mangled name, called as the Itanium C++ ABI calls it: `this` first,
// behind the hidden address of a result that is returned in memory.
template <class Function>
Function* find_member(const char* symbol) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, symbol));
}

}  // namespace

bool interrupt_requested(lldb::SBDebugger& debugger) {
  static auto* const requested =
      find_member<bool(lldb::SBDebugger*)>("_ZN4lldb10SBDebugger18InterruptRequestedEv");
  if (requested != nullptr) return requested(&debugger);
  return debugger.GetCommandInterpreter().WasInterrupted();
}

std::optional<std::string> core_file_of(lldb::SBProcess& process) {
  static auto* const get_core_file =
      find_member<lldb::SBFileSpec(lldb::SBProcess*)>("_ZN4lldb9SBProcess11GetCoreFileEv");
  if (get_core_file == nullptr) return std::nullopt;
  const lldb::SBFileSpec file = get_core_file(&process);
  std::array<char, 4096> path{};
  if (!file.IsValid() || file.GetPath(path.data(), path.size()) == 0) return std::nullopt;
  return std::string(path.data());
}

std::optional<lldb::SBValue> siginfo_of(lldb::SBThread& thread) {
  static auto* const get_siginfo =
      find_member<lldb::SBValue(lldb::SBThread*)>("_ZN4lldb8SBThread10GetSiginfoEv");
  if (get_siginfo == nullptr) return std::nullopt;
  return get_siginfo(&thread);
}

}  // namespace aotidbg
