// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/json.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include "tests/unit/report/golden.h"
#include "tests/unit/report/sample.h"

namespace aotidbg {
namespace {

// The published schema accepts `document`: as a whole report, or as the answer of another command.
void expect_valid(const Json& document, const std::string& name, const std::string& options = {}) {
  const std::string path = testing::TempDir() + "aotidbg_" + name + ".json";
  std::ofstream(path) << json_text(document);
  const std::string command = std::string(AOTIDBG_TEST_PYTHON) + " " + AOTIDBG_TEST_SOURCE +
                              "/tests/support/json_schema.py " + options + " " +
                              AOTIDBG_TEST_SOURCE + "/docs/report.schema.json " + path;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST(ReportJson, MatchesItsGolden) {
  expect_golden("inspect.json", json_text(to_json(sample::embedding_crash())));
}

TEST(ReportJson, SatisfiesThePublishedSchema) {
  expect_valid(to_json(sample::embedding_crash()), "embedding");
  expect_valid(to_json(sample::not_aoti()), "not_aoti");
  expect_valid(to_json(sample::large()), "large");
  expect_valid(to_json(sample::hostile()), "hostile");
}

TEST(ReportJson, PartsSatisfyTheDefinitionOfAnAnswer) {
  const Report report = sample::embedding_crash();
  Json answer = answer_head(report);
  answer["models"] = to_json(report.models);
  answer["kernels"] = to_json(std::vector<KernelReport>{*report.kernel});
  answer["tensor"] = to_json(sample::tensor());
  answer["files"] = to_json(std::vector<FileReport>{{"/a", "missing", std::nullopt, "gone"}});
  answer["gaps"] = to_json(std::vector<GapReport>{{"cut short", 0x10, ""}});
  expect_valid(answer, "answer", "--definition answer");
}

TEST(ReportJson, KeepsTheKeysOfTheContractInOrder) {
  const Json report = to_json(sample::embedding_crash());
  std::vector<std::string> keys;
  for (const auto& [key, value] : report.items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"schema", "tool", "target", "verdict", "fault", "kernel",
                                      "inputs", "models", "threads", "gpu", "unknowns"}));
}

TEST(ReportJson, WritesAddressesAsHexAndUnknownAsNull) {
  const Json report = to_json(sample::embedding_crash());
  EXPECT_EQ(report["fault"]["address"], "0x582640000000");
  EXPECT_EQ(report["models"][0]["constants"][0]["data"], "0x562640000000");
  EXPECT_EQ(report["fault"]["thread"], 3863);
  EXPECT_TRUE(report["gpu"].is_null());
  EXPECT_TRUE(report["inputs"][0]["expected"].is_null());
  const Json nothing = to_json(sample::not_aoti());
  EXPECT_TRUE(nothing["fault"].is_null());
  EXPECT_TRUE(nothing["kernel"].is_null());
  EXPECT_TRUE(nothing["target"]["pid"].is_null());
  EXPECT_EQ(nothing["models"], Json::array());
}

TEST(ReportJson, WritesCountsBeyondADoubleAsDecimalStrings) {
  Report report = sample::embedding_crash();
  OwnerReport& owner = *report.fault->owner;
  owner.bytes = 1ULL << 53;
  owner.index = {{std::int64_t{1} << 53, -(std::int64_t{1} << 53)}};
  Json written = to_json(report)["fault"]["owner"];
  EXPECT_EQ(written["bytes"], 9007199254740992);
  EXPECT_EQ(written["index"], Json::parse("[9007199254740992, -9007199254740992]"));
  owner.bytes = (1ULL << 53) + 1;
  owner.index = {
      {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}};
  written = to_json(report)["fault"]["owner"];
  EXPECT_EQ(written["bytes"], "9007199254740993");
  EXPECT_EQ(written["index"], Json::parse(R"(["9223372036854775807", "-9223372036854775808"])"));
  expect_valid(to_json(report), "huge");
}

TEST(ReportJson, WritesExpectedDimensionsAsStrings) {
  Report report = sample::embedding_crash();
  report.inputs[0].expected = TensorReport{};
  report.inputs[0].expected->shape = {{8}};
  EXPECT_EQ(to_json(report)["inputs"][0]["expected"]["shape"], Json::parse(R"(["8"])"));
  expect_valid(to_json(report), "expected");
}

TEST(ReportJson, ReplacesWhatIsNoUtf8AndStaysAscii) {
  Report report = sample::not_aoti();
  report.verdict.text =
      "a\xff"
      "b\xe2\x80\xae";
  const std::string text = json_text(to_json(report));
  for (const char c : text) EXPECT_GE(static_cast<unsigned char>(c), 0x0a);
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  EXPECT_EQ(Json::parse(text)["verdict"]["text"],
            "a\xef\xbf\xbd"
            "b\xe2\x80\xae");
}

}  // namespace
}  // namespace aotidbg
