// SPDX-License-Identifier: BSD-3-Clause
//
// What a torch include folder says about itself without being compiled.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/target/result.h"
#include "layout_table.h"

namespace aotidbg::layoutgen {

// "2.13.0": from torch/version.py beside the include folder, else from the version header. A build
// suffix ("+cpu") is dropped: it does not change a layout.
Result<std::string> torch_version(const std::filesystem::path& torch_include);

// CPU and CUDA, each also with the ways to map weights that this version's headers know.
std::vector<Variant> variants(const std::filesystem::path& torch_include);

}  // namespace aotidbg::layoutgen
