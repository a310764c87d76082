// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/completion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace aotidbg {
namespace {

using Words = std::vector<std::string>;

TEST(Completion, NamesCommandsFirst) {
  EXPECT_EQ(completions({}, "in"), (Words{"inputs", "inspect"}));
  EXPECT_EQ(completions({}, "zzz"), Words());
}

TEST(Completion, NamesTheOptionsOfACommand) {
  const Words inspect = {"inspect"};
  EXPECT_EQ(completions(inspect, "--a"), Words{"--all-threads"});
  const Words all = completions(inspect, "");
  EXPECT_NE(std::find(all.begin(), all.end(), "--json"), all.end());
  const Words inspect_then = {"inspect", "--json"};
  EXPECT_EQ(completions(inspect_then, "--th"), Words{"--thread"});
}

TEST(Completion, KnowsTheValuesOfAnOptionWhereTheyAreFew) {
  const Words before = {"models", "--color"};
  EXPECT_EQ(completions(before, ""), (Words{"always", "auto", "never"}));
  const Words number = {"models", "--model"};
  EXPECT_EQ(completions(number, ""), Words());
}

TEST(Completion, LeavesNamesOfTensorsToTheUser) {
  const Words before = {"tensor"};
  EXPECT_EQ(completions(before, ""), Words());
  EXPECT_EQ(completions(before, "--v"), Words{"--values"});
}

TEST(Completion, HelpWantsACommand) {
  const Words before = {"help"};
  EXPECT_EQ(completions(before, "con"), Words{"constants"});
}

TEST(Completion, OffersFilesOfACoreWhereOneIsNamed) {
  const Words before = {"inspect"};
  EXPECT_EQ(completions(before, "--ex"), Words());
  EXPECT_EQ(completions(before, "--ex", true), Words{"--exe"});
}

}  // namespace
}  // namespace aotidbg
