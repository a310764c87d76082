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
  static auto* const kRequested =
      find_member<bool(lldb::SBDebugger*)>("_ZN4lldb10SBDebugger18InterruptRequestedEv");
  if (kRequested != nullptr) return kRequested(&debugger);
  return debugger.GetCommandInterpreter().WasInterrupted();
}

std::optional<std::string> core_file_of(lldb::SBProcess& process) {
  static auto* const kGetCoreFile =
      find_member<lldb::SBFileSpec(lldb::SBProcess*)>("_ZN4lldb9SBProcess11GetCoreFileEv");
  if (kGetCoreFile == nullptr) return std::nullopt;
  const lldb::SBFileSpec file = kGetCoreFile(&process);
  std::array<char, 4096> path{};
  if (!file.IsValid() || file.GetPath(path.data(), path.size()) == 0) return std::nullopt;
  return std::string(path.data());
}

std::optional<lldb::SBValue> siginfo_of(lldb::SBThread& thread) {
  static auto* const kGetSiginfo =
      find_member<lldb::SBValue(lldb::SBThread*)>("_ZN4lldb8SBThread10GetSiginfoEv");
  if (kGetSiginfo == nullptr) return std::nullopt;
  return kGetSiginfo(&thread);
}

}  // namespace aotidbg
