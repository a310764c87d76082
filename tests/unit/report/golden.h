// SPDX-License-Identifier: BSD-3-Clause
//
// Texts that tests compare with files under the test's data folder. AOTIDBG_UPDATE_GOLDEN=1 writes
// them anew, for a diff to review.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace aotidbg {

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(AOTIDBG_TEST_DATA) + "/" + name;
  if (std::getenv("AOTIDBG_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing: set AOTIDBG_UPDATE_GOLDEN=1 to write it";
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(file), {})) << path;
}

}  // namespace aotidbg
