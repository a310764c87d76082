// SPDX-License-Identifier: BSD-3-Clause
//
// The package holds no weights and the program forgets load_constants: the fused kernel gets a
// null pointer for `scale`.
#include "common/example.h"

int main(int, char** argv) {
  Loader loader(argv[1]);
  return survived(loader.run({at::ones({4, 256})}));
}
