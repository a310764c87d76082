// SPDX-License-Identifier: BSD-3-Clause
#include "common/arch/code_constants.h"

#include <Zydis/Zydis.h>

#include <algorithm>

namespace aotidbg {
namespace {

// Calls `visit(instruction, operands)` for each instruction until it answers false.
template <class Visit>
void walk_code(Memory& memory, Address function, std::uint64_t size, Visit visit) {
  const auto code = memory.read_bytes(function, std::min<std::uint64_t>(size, 64U << 10));
  if (!code) return;
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  for (std::size_t at = 0; at < code->size();) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code->data() + at, code->size() - at,
                                           &instruction, operands))) {
      return;
    }
    if (!visit(instruction, operands)) return;
    at += instruction.length;
  }
}

bool moves_immediate(const ZydisDecodedInstruction& instruction,
                     const ZydisDecodedOperand* operands) {
  return instruction.mnemonic == ZYDIS_MNEMONIC_MOV && instruction.operand_count == 2 &&
         operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

}  // namespace

std::optional<std::uint64_t> returned_constant(Memory& memory, Address function) {
  constexpr std::uint64_t kLongest = 32;  // endbr64, frame set-up, mov, frame removal, ret
  std::optional<std::uint64_t> value;
  std::optional<std::uint64_t> returned;
  walk_code(memory, function, kLongest,
            [&](const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
              switch (instruction.mnemonic) {
                case ZYDIS_MNEMONIC_RET:
                  returned = value;
                  return false;
                case ZYDIS_MNEMONIC_ENDBR64:
                case ZYDIS_MNEMONIC_PUSH:
                case ZYDIS_MNEMONIC_POP:
                case ZYDIS_MNEMONIC_LEAVE:
                  return true;
                case ZYDIS_MNEMONIC_XOR:
                  value = 0;
                  return operands[0].reg.value == operands[1].reg.value;
                default:
                  break;
              }
              if (instruction.mnemonic != ZYDIS_MNEMONIC_MOV) return false;
              if (!moves_immediate(instruction, operands)) return true;  // mov rbp, rsp
              const ZydisRegister target = operands[0].reg.value;
              if (target != ZYDIS_REGISTER_RAX && target != ZYDIS_REGISTER_EAX) return false;
              value = operands[1].imm.value.u;
              return true;
            });
  return returned;
}

std::vector<std::uint64_t> moved_immediates(Memory& memory, Address function, std::uint64_t size) {
  std::vector<std::uint64_t> values;
  walk_code(memory, function, size,
            [&](const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
              if (moves_immediate(instruction, operands)) {
                values.push_back(operands[1].imm.value.u);
              }
              return true;
            });
  return values;
}

}  // namespace aotidbg
