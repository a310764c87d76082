// SPDX-License-Identifier: BSD-3-Clause
//
// The values of a tensor, as far as they can be read: the first few as text, and minimum, maximum
// and counts of NaN and Inf over all that is readable.
#pragma once

#include <cstddef>

#include "common/report/report.h"
#include "common/torch/tensor.h"

namespace aotidbg {

inline constexpr std::uint64_t kMaxValues = 16U << 20;

// At most `most` elements are read, in the order of the tensor's index.
TensorValues read_values(Target& target, const Tensor& tensor, std::size_t first,
                         std::uint64_t most = kMaxValues);

// Where an element lies, by its number in the order of the tensor's index.
Address element_address(const Tensor& tensor, std::uint64_t number);

}  // namespace aotidbg
