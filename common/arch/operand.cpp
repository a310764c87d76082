// SPDX-License-Identifier: BSD-3-Clause
//
// Memory operands of an instruction with the values that its registers had. Zydis decodes; what
// it leaves to its caller is here: which operands are accesses at all, what push and pop do to
// rsp, and the arithmetic of an effective address.
#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "common/arch/x86_64.h"

namespace aotidbg {
namespace {

constexpr ZydisMachineMode kMode = ZYDIS_MACHINE_MODE_LONG_64;

struct Decoded {
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;

  std::span<const ZydisDecodedOperand> all() const {
    return std::span(operands).first(instruction.operand_count);
  }
  std::span<const ZydisDecodedOperand> visible() const {
    return std::span(operands).first(instruction.operand_count_visible);
  }
};

// As much of the longest possible instruction as can be read from `at`.
Result<std::size_t> read_code(Memory& memory, Address at, std::span<std::byte> code) {
  Error first_byte;
  for (std::size_t length = code.size(); length > 0; --length) {
    auto done = memory.read(at, code.first(length));
    if (done) return length;
    first_byte = std::move(done.error());
  }
  return fail(fmt::format("no instruction can be read at {:#x}: {}", at, first_byte.what), at,
              first_byte.fix);
}

std::string name_of(ZydisRegister reg) {
  return reg == ZYDIS_REGISTER_NONE ? std::string() : std::string(ZydisRegisterGetString(reg));
}

// The value of a general register or a part of it; of rip, where the next instruction begins.
std::optional<std::uint64_t> value_of(ZydisRegister reg, const Registers& registers,
                                      Address next_instruction) {
  std::optional<std::uint64_t> value;
  if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP) {
    value = next_instruction;
  } else {
    const auto slot = register_slot(name_of(ZydisRegisterGetLargestEnclosing(kMode, reg)));
    if (slot) value = registers.get(*slot);
  }
  const unsigned bits = ZydisRegisterGetWidth(kMode, reg);
  if (value && bits < 64) *value &= (std::uint64_t{1} << bits) - 1;
  return value;
}

// Hints read nothing and never fault, whatever operand is written down: Intel SDM volume 2, NOP,
// PREFETCHh, CLDEMOTE, VGATHERPF0DPS.
bool accesses_nothing(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLDEMOTE:
      return true;
    default:
      return instruction.meta.isa_set == ZYDIS_ISA_SET_AVX512PF_512;
  }
}

Access access_of(const ZydisDecodedOperand& operand) {
  const bool reads = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
  const bool writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  if (reads && writes) return Access::read_write;
  if (writes) return Access::write;
  return reads ? Access::read : Access::unknown;
}

// Each lane (or row of a tile: there the index register is the distance of rows) has an address
// of its own.
bool has_lanes(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& operand) {
  return operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB ||
         instruction.mnemonic == ZYDIS_MNEMONIC_TILELOADD ||
         instruction.mnemonic == ZYDIS_MNEMONIC_TILELOADDT1 ||
         instruction.mnemonic == ZYDIS_MNEMONIC_TILESTORED;
}

bool repeats(const ZydisDecodedInstruction& instruction) {
  return (instruction.attributes &
          (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

// With the bit's number in a register the operand is a string of bits of any length, and the
// byte accessed lies anywhere around `address` (Intel SDM volume 2, BT).
bool addresses_bit_string(const Decoded& decoded) {
  switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
      return decoded.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    default:
      return false;
  }
}

// Intel SDM volume 2, chapter 2, exception classes of SSE, AVX and AVX-512 instructions:
// class 1 demands alignment in every encoding; in the encoding without VEX so do the 16-byte
// operands of classes 2 and 4, but for the few that are made for unaligned data.
unsigned alignment_of(const ZydisDecodedInstruction& instruction, std::uint64_t size) {
  switch (instruction.meta.exception_class) {
    case ZYDIS_EXCEPTION_CLASS_SSE1:
    case ZYDIS_EXCEPTION_CLASS_AVX1:
    case ZYDIS_EXCEPTION_CLASS_E1:
    case ZYDIS_EXCEPTION_CLASS_E1NF:
      return static_cast<unsigned>(size);
    case ZYDIS_EXCEPTION_CLASS_SSE2:
    case ZYDIS_EXCEPTION_CLASS_SSE4:
      break;
    default:
      return instruction.mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B ? 16 : 1;
  }
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_LDDQU:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_PCMPESTRI:
    case ZYDIS_MNEMONIC_PCMPESTRM:
    case ZYDIS_MNEMONIC_PCMPISTRI:
    case ZYDIS_MNEMONIC_PCMPISTRM:
      return 1;
    default:
      return size == 16 ? 16 : 1;
  }
}

// What push and pop do to rsp before the operand's address is made (Intel SDM volume 2, PUSH,
// POP): a hidden store is below rsp, and a pop into memory uses the rsp after it.
std::int64_t stack_adjustment(const ZydisDecodedInstruction& instruction,
                              const ZydisDecodedOperand& operand) {
  const auto bytes = static_cast<std::int64_t>(operand.size / 8);
  const bool on_stack =
      operand.mem.base == ZYDIS_REGISTER_RSP || operand.mem.base == ZYDIS_REGISTER_ESP;
  if (!on_stack) return 0;
  const bool hidden = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
  if (hidden && access_of(operand) == Access::write) return -bytes;
  if (!hidden && instruction.meta.category == ZYDIS_CATEGORY_POP) return bytes;
  return 0;
}

std::optional<Address> effective_address(const MemoryOperand& operand, unsigned address_bits,
                                         const Registers& registers) {
  std::uint64_t sum = static_cast<std::uint64_t>(operand.displacement);
  if (!operand.base_register.empty()) {
    if (!operand.base) return std::nullopt;
    sum += *operand.base;
  }
  if (!operand.index_register.empty()) {
    if (!operand.index) return std::nullopt;
    sum += *operand.index * operand.scale;
  }
  if (address_bits == 32) sum &= 0xFFFF'FFFFU;
  if (!operand.segment_register.empty()) {
    const auto slot = register_slot(operand.segment_register + "_base");
    const auto segment_base = slot ? registers.get(*slot) : std::nullopt;
    if (!segment_base) return std::nullopt;
    sum += *segment_base;
  }
  return sum;
}

MemoryOperand memory_operand(const Decoded& decoded, const ZydisDecodedOperand& source,
                             const Registers& registers, Address next_instruction) {
  const ZydisDecodedInstruction& instruction = decoded.instruction;
  const ZydisDecodedOperandMem& mem = source.mem;
  MemoryOperand operand;
  operand.access = access_of(source);
  operand.size = source.size / 8;
  operand.element_size = static_cast<unsigned>(operand.size);
  if (repeats(instruction)) operand.size = 0;
  operand.alignment = alignment_of(instruction, operand.size);

  // In 64-bit mode the other segments have base 0 (Intel SDM volume 1, 3.4.2.1).
  if (mem.segment == ZYDIS_REGISTER_FS || mem.segment == ZYDIS_REGISTER_GS) {
    operand.segment_register = name_of(mem.segment);
  }
  if (mem.base != ZYDIS_REGISTER_NONE) {
    operand.base_register = name_of(mem.base);
    operand.base = value_of(mem.base, registers, next_instruction);
  }
  operand.displacement = mem.disp.value + stack_adjustment(instruction, source);
  if (mem.scale != 0) operand.scale = mem.scale;

  if (has_lanes(instruction, source)) {
    operand.size = 0;
    return operand;
  }
  ZydisRegister index = mem.index;
  if (instruction.mnemonic == ZYDIS_MNEMONIC_XLAT) index = ZYDIS_REGISTER_AL;
  if (index != ZYDIS_REGISTER_NONE) {
    operand.index_register = name_of(index);
    operand.index = value_of(index, registers, next_instruction);
  }
  if (!addresses_bit_string(decoded)) {
    operand.address = effective_address(operand, instruction.address_width, registers);
  }
  return operand;
}

// Where an indirect near branch goes, as an operand that is executed.
std::optional<MemoryOperand> branch_target(Memory& memory, const Decoded& decoded,
                                           std::span<const MemoryOperand> operands,
                                           const Registers& registers) {
  const ZydisInstructionCategory category = decoded.instruction.meta.category;
  const bool returns = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_RET &&
                       decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR;
  const bool branches = (category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_UNCOND_BR) &&
                        decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR;
  if (!returns && !branches) return std::nullopt;

  MemoryOperand target;
  target.access = Access::execute;
  if (branches && decoded.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
    const ZydisRegister reg = decoded.operands[0].reg.value;
    target.base_register = name_of(reg);
    target.base = value_of(reg, registers, 0);
    target.address = target.base;
    return target;
  }
  const bool through_memory = returns || decoded.operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
  if (!through_memory || operands.empty() || !operands[0].address) return std::nullopt;
  const auto pointer = memory.read_pointer(*operands[0].address);
  if (!pointer) return std::nullopt;
  target.address = *pointer;
  return target;
}

// "zmmword ptr" is noise where a register beside it has that size already.
ZydisFormatterFunc default_typecast = nullptr;

ZyanStatus print_typecast(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                          ZydisFormatterContext* context) {
  const std::span visible(context->operands, context->instruction->operand_count_visible);
  for (const ZydisDecodedOperand& operand : visible) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.size == context->operand->size) {
      return ZYAN_STATUS_SUCCESS;
    }
  }
  return default_typecast(formatter, buffer, context);
}

ZydisFormatter make_formatter() {
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
  for (const ZydisFormatterProperty padding :
       {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
        ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_FORMATTER_PROP_IMM_PADDING}) {
    ZydisFormatterSetProperty(&formatter, padding, ZYDIS_PADDING_DISABLED);
  }
  const void* callback = reinterpret_cast<const void*>(&print_typecast);
  ZydisFormatterSetHook(&formatter, ZYDIS_FORMATTER_FUNC_PRINT_TYPECAST, &callback);
  default_typecast = reinterpret_cast<ZydisFormatterFunc>(const_cast<void*>(callback));
  return formatter;
}

// Without a runtime address branches and rip-relative operands print as distances.
std::string text_of(const Decoded& decoded) {
  static const ZydisFormatter kFormatter = make_formatter();
  std::array<char, 256> text{};
  const ZyanStatus status =
      ZydisFormatterFormatInstruction(&kFormatter, &decoded.instruction, decoded.operands.data(),
                                      decoded.instruction.operand_count_visible, text.data(),
                                      text.size(), ZYDIS_RUNTIME_ADDRESS_NONE, nullptr);
  return ZYAN_SUCCESS(status) ? std::string(text.data())
                              : ZydisMnemonicGetString(decoded.instruction.mnemonic);
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", std::to_integer<unsigned>(byte));
  }
  return text;
}

Result<Decoded> decode(Memory& memory, Address at) {
  std::array<std::byte, ZYDIS_MAX_INSTRUCTION_LENGTH> code;
  const auto length = read_code(memory, at, code);
  if (!length) return tl::unexpected(length.error());

  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, kMode, ZYDIS_STACK_WIDTH_64);
  Decoded decoded;
  const ZyanStatus status = ZydisDecoderDecodeFull(&decoder, code.data(), *length,
                                                   &decoded.instruction, decoded.operands.data());
  if (ZYAN_SUCCESS(status)) return decoded;
  if (status == ZYDIS_STATUS_NO_MORE_DATA && *length < code.size()) {
    return fail(fmt::format("the instruction at {:#x} goes on at {:#x}, which cannot be read", at,
                            at + *length),
                at + *length);
  }
  return fail(fmt::format("the bytes at {:#x} are no x86-64 instruction: {}", at,
                          hex(std::span(code).first(*length))),
              at);
}

bool covers(const MemoryOperand& operand, Address at) {
  const std::uint64_t size =
      std::max<std::uint64_t>(1, operand.size != 0 ? operand.size : operand.element_size);
  return operand.address && at - *operand.address < size;
}

bool leaves_canonical(const MemoryOperand& operand) {
  if (!operand.address) return false;
  const std::uint64_t last = std::max<std::uint64_t>(operand.size, 1) - 1;
  return !is_canonical(*operand.address) || !is_canonical(*operand.address + last);
}

bool misaligned(const MemoryOperand& operand) {
  return operand.address && *operand.address % operand.alignment != 0;
}

}  // namespace

Result<Instruction> decode_instruction(Memory& memory, const Registers& registers) {
  const auto pc = program_counter(registers);
  if (!pc) return fail("the thread's program counter is not known");
  const auto decoded = decode(memory, *pc);
  if (!decoded) return tl::unexpected(decoded.error());

  Instruction instruction;
  instruction.at = *pc;
  instruction.length = decoded->instruction.length;
  instruction.text = text_of(*decoded);
  instruction.calls = decoded->instruction.meta.category == ZYDIS_CATEGORY_CALL;
  if (accesses_nothing(decoded->instruction)) return instruction;
  for (const ZydisDecodedOperand& operand : decoded->all()) {
    // AGEN: an address is made and not used (lea, bndmk).
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
      continue;
    }
    instruction.operands.push_back(
        memory_operand(*decoded, operand, registers, *pc + instruction.length));
    if (has_lanes(decoded->instruction, operand)) instruction.gathers = true;
  }
  if (auto target = branch_target(memory, *decoded, instruction.operands, registers)) {
    instruction.operands.push_back(std::move(*target));
  }
  return instruction;
}

const MemoryOperand* faulting_operand(const Instruction& instruction,
                                      std::optional<Address> fault_address) {
  const auto& operands = instruction.operands;
  const auto first = [&](auto agrees) {
    const auto found = std::find_if(operands.begin(), operands.end(), agrees);
    return found == operands.end() ? nullptr : &*found;
  };
  const MemoryOperand* found = nullptr;
  if (fault_address) {
    found = first([&](const MemoryOperand& operand) { return covers(operand, *fault_address); });
  } else {
    found = first(leaves_canonical);
    if (found == nullptr) found = first(misaligned);
  }
  if (found == nullptr && instruction.gathers) {
    found = first([](const MemoryOperand& operand) { return !operand.address; });
  }
  return found;
}

}  // namespace aotidbg
