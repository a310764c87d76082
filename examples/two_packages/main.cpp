// SPDX-License-Identifier: BSD-3-Clause
//
// Two models are loaded and run one after the other. The first is fine; the second gets index
// 1 << 33 into a table of 500 rows.
#include "common/example.h"

int main(int, char** argv) {
  Loader first(argv[1]);
  Loader second(argv[2]);
  first.run({counting({4, 32})});
  at::Tensor idx = at::arange(8, at::kLong);
  second.run({idx});
  idx.data_ptr<int64_t>()[6] = int64_t{1} << 33;
  return survived(second.run({idx}));
}
