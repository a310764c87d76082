// SPDX-License-Identifier: BSD-3-Clause
//
// What the C++ examples share: the includes of a program that runs an AOTInductor package, and
// tensors with known contents. Nothing here is part of a crash; each main.cpp holds its own.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using Loader = torch::inductor::AOTIModelPackageLoader;

// The numbers 0, 1, 2, ... as float32 in this shape.
inline at::Tensor counting(at::IntArrayRef shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return at::arange(count, at::kFloat).reshape(shape);
}

// A program that gets here has not crashed: say so, and fail.
inline int survived(const std::vector<at::Tensor>& outputs) {
  std::printf("no crash: %zu output(s)\n", outputs.size());
  return 3;
}
