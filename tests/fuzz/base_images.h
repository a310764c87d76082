// SPDX-License-Identifier: BSD-3-Clause
//
// Small whole cores to be damaged: a process that died inside a kernel of an AOTInductor model.
// Every stage of the analysis has something to read in them: symbol tables, call frame information,
// runner, container, constants, tensors, the arrays of the loader, threads, signals.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace aotidbg {

struct BaseImage {
  std::string name;
  std::vector<std::byte> bytes;      // at most kLargestImage
  std::vector<std::string> tensors;  // names that the tensor command is asked for
  std::string verdict;               // what the undamaged image is found to be
  std::size_t models = 0;            // and how many models it holds
  std::size_t frames = 0;            // on the stack of the thread that stopped
};

constexpr std::size_t kLargestImage = 64U << 10;

std::vector<BaseImage> base_images();

}  // namespace aotidbg
