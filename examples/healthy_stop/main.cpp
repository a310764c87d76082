// SPDX-License-Identifier: BSD-3-Clause
//
// Nothing is wrong: the program stops itself with SIGSTOP, as if somebody had attached to look.
//   after   the model has run once and is idle
//   during  another thread runs the model again and again while the main thread stops
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "common/example.h"

int main(int, char** argv) {
  Loader loader(argv[1]);
  const std::string when = argv[2];
  at::Tensor x = counting({512, 128});
  std::vector<at::Tensor> outputs = loader.run({x});
  if (when == "after") {
    raise(SIGSTOP);
    return 0;
  }
  std::atomic<bool> stop{false};
  std::atomic<int> runs{0};
  std::thread runner([&] {
    while (!stop) {
      loader.run({x});
      ++runs;
    }
  });
  while (runs < 3) usleep(1000);
  raise(SIGSTOP);
  stop = true;
  runner.join();
  return 0;
}
