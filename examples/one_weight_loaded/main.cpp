// SPDX-License-Identifier: BSD-3-Clause
//
// Of two parameters the program loads one, and turns off the check that all are there.
//   op      `weight` is loaded, `bias` is not: addmm gets a null handle
//   kernel  `shift` is loaded, `scale` is not: the fused kernel gets a null pointer
#include "common/example.h"

int main(int, char** argv) {
  const bool op = argv[2] == std::string("op");
  Loader loader(argv[1]);
  std::unordered_map<std::string, at::Tensor> weights;
  if (op) {
    weights.emplace("weight", at::ones({64, 128}));
  } else {
    weights.emplace("shift", at::ones({256}));
  }
  loader.load_constants(weights, /*use_inactive=*/false, /*check_full_update=*/false);
  return survived(loader.run({counting({4, op ? 128 : 256})}));
}
