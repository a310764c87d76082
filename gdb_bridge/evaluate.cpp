// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/evaluate.h"

#include <fmt/format.h>

#include "gdb_bridge/gdb_session.h"
#include "gdb_bridge/variable_path.h"

namespace aotidbg {
namespace {

bool has_code(const Object& type, const char* code) {
  const auto wanted = gdb_module().attribute(code).as_number();
  const auto is = type.attribute("code").as_number();
  return wanted && is && *wanted == *is;
}

}  // namespace

Result<Address> evaluate(const std::string& name) {
  const Object gdb = gdb_module();
  const Object frame = gdb.call("selected_frame");
  if (!frame) return fail("no frame is selected");
  const bool marked = name.starts_with('$');
  const auto in_register =
      frame.call("read_register", Object::text(name.substr(marked ? 1 : 0))).as_number();
  if (in_register) return *in_register;
  if (marked) return fail(fmt::format("there is no register {}", name));
  if (!is_variable_path(name)) return fail(fmt::format("{} is no register or variable", name));

  const NoCalls no_calls;
  Object value = gdb.call("parse_and_eval", Object::text(name));
  if (!value) return fail(fmt::format("the selected frame has no register or variable {}", name));
  const Object type = value.attribute("type").call("strip_typedefs");
  if (has_code(type, "TYPE_CODE_PTR")) {
    const auto pointer = value.as_number();
    if (pointer) return *pointer;
    return fail(fmt::format("the value of {} cannot be read", name));
  }
  if (has_code(type, "TYPE_CODE_REF") || has_code(type, "TYPE_CODE_RVALUE_REF")) {
    value = value.call("referenced_value");
  }
  const Object address = value.attribute("address");
  if (!address || address.is_none()) return fail(fmt::format("{} has no address", name));
  const auto at = address.as_number();
  if (!at) return fail(fmt::format("{} has no address", name));
  return *at;
}

}  // namespace aotidbg
