// SPDX-License-Identifier: BSD-3-Clause
//
// idx[3] is 1 << 45, so the address is no address at all (not canonical): the kernel reports
// SI_KERNEL and address 0, which looks like a null pointer and is none.
#include "common/example.h"

int main(int, char** argv) {
  Loader loader(argv[1]);
  at::Tensor x = at::ones({8, 64});
  at::Tensor idx = at::arange(8, at::kLong);
  idx.data_ptr<int64_t>()[3] = int64_t{1} << 45;
  return survived(loader.run({x, idx}));
}
