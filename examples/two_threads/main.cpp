// SPDX-License-Identifier: BSD-3-Clause
//
// Two threads, each in a model of its own. One is busy and healthy; the other gets index 1 << 33
// into a table of 500 rows.
#include <unistd.h>

#include <atomic>
#include <thread>

#include "common/example.h"

int main(int, char** argv) {
  Loader busy(argv[1]);
  Loader lookup(argv[2]);
  std::atomic<int> runs{0};
  std::thread worker([&] {
    at::Tensor x = at::ones({1024, 1024});
    for (;;) {
      busy.run({x});
      ++runs;
    }
  });
  while (runs < 1) usleep(1000);
  usleep(20000);  // the next run takes much longer than this
  std::thread faulting([&] {
    at::Tensor idx = at::arange(8, at::kLong);
    idx.data_ptr<int64_t>()[6] = int64_t{1} << 33;
    lookup.run({idx});
  });
  faulting.join();
  return survived({});
}
