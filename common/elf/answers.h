// SPDX-License-Identifier: BSD-3-Clause
//
// How answers about ELF files are written into a snapshot and read from one.
#pragma once

#include "common/elf/source_line.h"
#include "common/elf/symbols.h"
#include "common/elf/unwind.h"
#include "common/target/answers.h"

namespace aotidbg {

template <>
struct Codec<Symbol> {
  static nlohmann::json write(const Symbol& symbol);
  static std::optional<Symbol> read(const nlohmann::json& json);
};

template <>
struct Codec<SourceFrame> {
  static nlohmann::json write(const SourceFrame& frame);
  static std::optional<SourceFrame> read(const nlohmann::json& json);
};

template <>
struct Codec<Stack> {
  static nlohmann::json write(const Stack& stack);
  static std::optional<Stack> read(const nlohmann::json& json);
};

}  // namespace aotidbg
