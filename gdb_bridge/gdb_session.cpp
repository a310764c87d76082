// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/gdb_session.h"

#include <fmt/format.h>

#include "gdb_bridge/gdb_text.h"

namespace aotidbg {

Object gdb_module() { return Object::owned(PyImport_ImportModule("gdb")); }

Result<std::string> gdb_output(const char* command) {
  // from_tty, to_string.
  return gdb_module()
      .call("execute", Object::text(command), Object::shared(Py_False), Object::shared(Py_True))
      .as_text();
}

std::string gdb_name() {
  const Object gdb = gdb_module();
  const std::string version = gdb.attribute("VERSION").as_text().value_or("of unknown version");
  return fmt::format("{} {}", gdb.attribute("cuda") ? "cuda-gdb" : "gdb", version);
}

std::optional<std::string> gdb_setting(const char* name) {
  const Object value = gdb_module().call("parameter", Object::text(name));
  if (!value || value.is_none()) return std::nullopt;
  auto text = value.as_text();
  if (!text || text->empty()) return std::nullopt;
  return *text;
}

Result<ThreadId> thread_id(const Object& thread) {
  const auto parts = thread.attribute("ptid").as_items();  // process, LWP, thread
  if (!parts) return tl::unexpected(parts.error());
  if (parts->size() != 3) return fail("GDB does not tell the thread's id");
  const auto lwp = (*parts)[1].as_number();
  if (!lwp) return tl::unexpected(lwp.error());
  // A process of one thread may be known by its process id alone.
  const auto id = *lwp != 0 ? lwp : (*parts)[0].as_number();
  if (!id) return tl::unexpected(id.error());
  return static_cast<ThreadId>(*id);
}

KeepSelection::KeepSelection()
    : thread_(gdb_module().call("selected_thread")), frame_(gdb_module().call("selected_frame")) {}

KeepSelection::~KeepSelection() {
  if (thread_ && !thread_.is_none()) thread_.call("switch");
  if (frame_) frame_.call("select");
}

HostFocus::HostFocus() {
  if (!gdb_module().attribute("cuda")) return;
  const auto focus = gdb_output("cuda kernel block thread");
  if (focus) kernel_ = focus_command_in(*focus);
  if (!kernel_) return;
  gdb_module().call("selected_thread").call("switch");
}

HostFocus::~HostFocus() {
  if (kernel_) gdb_output(kernel_->c_str());
}

NoCalls::NoCalls()
    : were_allowed_(gdb_module()
                        .call("parameter", Object::text("may-call-functions"))
                        .as_bool()
                        .value_or(false)) {
  if (were_allowed_) gdb_output("set may-call-functions off");
}

NoCalls::~NoCalls() {
  if (were_allowed_) gdb_output("set may-call-functions on");
}

}  // namespace aotidbg
