// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/answers.h"

#include <utility>

namespace aotidbg {

namespace {

using Json = nlohmann::json;
using SlotNumbers = std::vector<std::uint64_t>;  // slot, value, slot, value, ...

constexpr std::size_t kMostFrames = 4096;

SlotNumbers known_slots(const Registers& registers) {
  SlotNumbers slots;
  for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
    if (const auto value = registers.get(slot)) slots.insert(slots.end(), {slot, *value});
  }
  return slots;
}

Registers registers_of(const SlotNumbers& slots) {
  Registers registers;
  for (std::size_t i = 0; i + 1 < slots.size(); i += 2) registers.set(slots[i], slots[i + 1]);
  return registers;
}

Json frame_json(const Frame& frame) {
  return Json::array({frame.pc, frame.activation, static_cast<std::uint64_t>(frame.how),
                      frame.assumed,
                      Codec<std::optional<std::uint64_t>>::write(frame.stack_pointer),
                      known_slots(frame.registers)});
}

std::optional<Frame> read_frame(const Json& json) {
  AnswerList list(json, 6);
  Frame frame;
  frame.pc = list.next<std::uint64_t>();
  frame.activation = list.next<bool>();
  const auto how = list.next<std::uint64_t>();
  frame.assumed = list.next<bool>();
  frame.stack_pointer = list.next<std::optional<std::uint64_t>>();
  frame.registers = registers_of(list.next<SlotNumbers>());
  if (!list.good() || how > static_cast<std::uint64_t>(FrameHow::scan)) return std::nullopt;
  frame.how = static_cast<FrameHow>(how);
  return frame;
}

}  // namespace

Json Codec<Symbol>::write(const Symbol& symbol) {
  return Json::array({symbol.name, symbol.address, symbol.size});
}

std::optional<Symbol> Codec<Symbol>::read(const Json& json) {
  AnswerList list(json, 3);
  Symbol symbol;
  symbol.name = list.next<std::string>();
  symbol.address = list.next<std::uint64_t>();
  symbol.size = list.next<std::uint64_t>();
  return list.good() ? std::optional(std::move(symbol)) : std::nullopt;
}

Json Codec<SourceFrame>::write(const SourceFrame& frame) {
  return Json::array(
      {frame.function, frame.file, static_cast<std::int64_t>(frame.line), frame.inlined});
}

std::optional<SourceFrame> Codec<SourceFrame>::read(const Json& json) {
  AnswerList list(json, 4);
  SourceFrame frame;
  frame.function = list.next<std::string>();
  frame.file = list.next<std::string>();
  const auto line = list.next<std::int64_t>();
  frame.inlined = list.next<bool>();
  if (!list.good() || line < 0 || line > INT32_MAX) return std::nullopt;
  frame.line = static_cast<int>(line);
  return frame;
}

Json Codec<Stack>::write(const Stack& stack) {
  Json frames = Json::array();
  for (const Frame& frame : stack.frames) frames.push_back(frame_json(frame));
  return Json::array({std::move(frames), stack.stopped});
}

std::optional<Stack> Codec<Stack>::read(const Json& json) {
  if (!json.is_array() || json.size() != 2 || !json[0].is_array() || !json[1].is_string() ||
      json[0].size() > kMostFrames) {
    return std::nullopt;
  }
  Stack stack;
  for (const Json& element : json[0]) {
    auto frame = read_frame(element);
    if (!frame) return std::nullopt;
    stack.frames.push_back(*frame);
  }
  stack.stopped = json[1].get<std::string>();
  return stack;
}

}  // namespace aotidbg
