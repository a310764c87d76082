// SPDX-License-Identifier: BSD-3-Clause
//
// The words and numbers that text and JSON share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/report.h"

namespace aotidbg {

std::string_view word(Confidence confidence);
std::string_view word(Residency residency);
std::string_view word(How how);

std::string hex(std::uint64_t value);                        // "0x1f"
std::string list(const std::vector<std::int64_t>& numbers);  // "[1000, 64]"
std::string joined(const std::vector<std::string>& words);   // "a, b"

// "1 byte", "256000 bytes", "2199022999552 bytes (2.0 TiB)".
std::string bytes_text(std::uint64_t bytes);

// "1 constant", "2 constants".
std::string counted(std::uint64_t count, std::string_view noun);

// "constant emb.weight (emb_weight)": the user's name, then the generated code's where it differs.
std::string tensor_text(const TensorName& name);

// "2199022999552 bytes (2.0 TiB) past the end of constant emb.weight (emb_weight)".
std::string owner_text(const OwnerReport& owner);

std::string location_text(const SourceLocation& location);  // "file.cpp:24"

// The name of a generated file without the middle of its hash: "cb3iqlmpxe4w...3ljz.wrapper.cpp".
std::string short_name(std::string_view file);
std::string short_location_text(const SourceLocation& location);

// "host (heap)".
std::string memory_text(Residency residency, const std::optional<std::string>& where);

}  // namespace aotidbg
