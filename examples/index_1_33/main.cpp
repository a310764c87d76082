// SPDX-License-Identifier: BSD-3-Clause
//
// idx[3] is 1 << 33 where the embedding has 1000 rows: the kernel reads 2 TiB past the weight. With
// "negative" it is -(1 << 33), and the kernel reads 2 TiB before it.
#include "common/example.h"

int main(int argc, char** argv) {
  Loader loader(argv[1]);
  const int64_t far = int64_t{1} << 33;
  at::Tensor x = at::ones({8, 64});
  at::Tensor idx = at::arange(8, at::kLong);
  idx.data_ptr<int64_t>()[3] = argc > 2 && argv[2] == std::string("negative") ? -far : far;
  return survived(loader.run({x, idx}));
}
