// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "common/arch/x86_64.h"

namespace aotidbg {
namespace {

// The order of struct user_regs_struct, <sys/user.h>.
constexpr std::array<std::string_view, Registers::kCount> kNames = {
    "r15",    "r14", "r13", "r12",     "rbp",     "rbx", "r11",      "r10", "r9",
    "r8",     "rax", "rcx", "rdx",     "rsi",     "rdi", "orig_rax", "rip", "cs",
    "eflags", "rsp", "ss",  "fs_base", "gs_base", "ds",  "es",       "fs",  "gs"};

constexpr std::size_t slot_named(std::string_view name) {
  for (std::size_t slot = 0; slot < kNames.size(); ++slot) {
    if (kNames[slot] == name) return slot;
  }
  return kNames.size();
}

constexpr std::size_t kRip = slot_named("rip");
constexpr std::size_t kRsp = slot_named("rsp");

// System V ABI, AMD64 supplement, figure 3.36 "DWARF Register Number Mapping". 16 is the return
// address column, which is where the caller's rip is.
constexpr std::array<std::string_view, 17> kDwarfNames = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                          "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                          "r12", "r13", "r14", "r15", "rip"};

}  // namespace

std::optional<std::size_t> register_slot(std::string_view name) {
  if (name == "rflags") name = "eflags";
  const std::size_t slot = slot_named(name);
  if (slot == kNames.size()) return std::nullopt;
  return slot;
}

std::string_view register_name(std::size_t slot) {
  return slot < kNames.size() ? kNames[slot] : std::string_view();
}

std::optional<std::uint64_t> program_counter(const Registers& registers) {
  return registers.get(kRip);
}

std::optional<std::uint64_t> stack_pointer(const Registers& registers) {
  return registers.get(kRsp);
}

std::optional<std::size_t> slot_of_dwarf_register(unsigned number) {
  if (number < kDwarfNames.size()) return slot_named(kDwarfNames[number]);
  switch (number) {
    case 49:
      return slot_named("eflags");
    case 50:
      return slot_named("es");
    case 51:
      return slot_named("cs");
    case 52:
      return slot_named("ss");
    case 53:
      return slot_named("ds");
    case 54:
      return slot_named("fs");
    case 55:
      return slot_named("gs");
    case 58:
      return slot_named("fs_base");
    case 59:
      return slot_named("gs_base");
    default:
      return std::nullopt;
  }
}

bool preserved_by_callee(std::size_t slot) {
  const std::string_view name = register_name(slot);
  return name == "rbx" || name == "rbp" || name == "rsp" || name == "r12" || name == "r13" ||
         name == "r14" || name == "r15";
}

bool is_canonical(Address at) {
  const std::uint64_t high = at >> 47;
  return high == 0 || high == (~std::uint64_t{0} >> 47);
}

}  // namespace aotidbg
