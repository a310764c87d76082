// SPDX-License-Identifier: BSD-3-Clause
#include "lldb_plugin/evaluate.h"

#include <fmt/format.h>

namespace aotidbg {

Result<Address> evaluate(lldb::SBProcess& process, const std::string& name) {
  lldb::SBFrame frame = process.GetSelectedThread().GetSelectedFrame();
  if (!frame.IsValid()) return fail("no frame is selected");
  lldb::SBError error;
  const bool marked = name.starts_with('$');
  lldb::SBValue in_register = frame.FindRegister(name.c_str() + (marked ? 1 : 0));
  if (in_register.IsValid()) {
    const std::uint64_t value = in_register.GetValueAsUnsigned(error);
    if (error.Success()) return value;
    return fail(fmt::format("the value of register {} is not known in this frame", name));
  }
  if (marked) return fail(fmt::format("there is no register {}", name));

  // Without dynamic types, and without the formatters that a user may have loaded.
  lldb::SBValue value = frame.GetValueForVariablePath(name.c_str(), lldb::eNoDynamicValues);
  if (!value.IsValid() || value.GetError().Fail()) {
    return fail(fmt::format("the selected frame has no register or variable {}", name));
  }
  value.SetPreferSyntheticValue(false);
  lldb::SBType type = value.GetType();
  if (type.IsPointerType() || type.IsReferenceType()) {
    const std::uint64_t pointer = value.GetValueAsUnsigned(error);
    if (error.Success()) return pointer;
    return fail(fmt::format("the value of {} cannot be read", name));
  }
  const lldb::addr_t at = value.GetLoadAddress();
  if (at == LLDB_INVALID_ADDRESS) return fail(fmt::format("{} has no address", name));
  return at;
}

}  // namespace aotidbg
