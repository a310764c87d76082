// SPDX-License-Identifier: BSD-3-Clause
//
// The input lives in a mapping of the caller's, which is gone when the model runs. A guard on
// either side keeps neighbours away, so the first load faults at the input's own address.
#include <sys/mman.h>

#include "common/example.h"

int main(int, char** argv) {
  constexpr size_t kBytes = 4096 * sizeof(float);
  Loader loader(argv[1]);
  char* guarded =
      static_cast<char*>(mmap(nullptr, 3 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (guarded == MAP_FAILED) return 1;
  char* middle = guarded + kBytes;
  mprotect(middle, kBytes, PROT_READ | PROT_WRITE);
  at::Tensor x = at::from_blob(middle, {4096}, at::kFloat);
  x.fill_(1);
  munmap(middle, kBytes);
  return survived(loader.run({x}));
}
