// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "common/report/terminal_text.h"
#include "tests/unit/report/golden.h"
#include "tests/unit/report/sample.h"

namespace aotidbg {
namespace {

TextStyle wide(std::size_t columns = 100, bool color = false) {
  return {.columns = columns, .color = color, .prompt = "aoti"};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, display_width(line));
  return width;
}

std::string every_text(const Report& report, const TextStyle& style) {
  return inspect_text(report, style) + inspect_text(report, style, true) +
         fault_text(report, style) + inputs_text(report, style) +
         models_text(report.models, style) + constants_text(report.models, style, 1000) +
         (report.kernel ? kernels_text({*report.kernel}, style) + kernel_text(*report.kernel, style)
                        : std::string()) +
         doctor_text(report, {{"the core is cut short", 0x7f00, "raise ulimit -c"}},
                     {{"/lib/libx.so", "missing", std::nullopt, "it is gone"}}, style);
}

std::string without_escapes(std::string text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      out += text[i];
    }
  }
  return out;
}

TEST(InspectText, ShowsAnEmbeddingReadPastItsWeight) {
  expect_golden("inspect_100.txt", inspect_text(sample::embedding_crash(), wide(100)));
  expect_golden("inspect_80.txt", inspect_text(sample::embedding_crash(), wide(80)));
}

TEST(InspectText, FitsOneScreen) {
  EXPECT_LE(lines_of(inspect_text(sample::embedding_crash(), wide(100))).size(), 45U);
}

TEST(InspectText, CountsWhatDoesNotFitAndNamesTheCommandThatListsIt) {
  const std::string text = inspect_text(sample::large(), wide());
  expect_golden("inspect_large_100.txt", text);
  EXPECT_LE(lines_of(text).size(), 75U);
  EXPECT_NE(text.find("arg31_1"), std::string::npos) << "the wrong input must not be cut away";
}

TEST(InspectText, StartsWithTheVerdict) {
  const Report report = sample::embedding_crash();
  EXPECT_EQ(inspect_text(report, wide()).find("Verdict"), 0U);
  EXPECT_EQ(inspect_text(sample::not_aoti(), wide()).find("Verdict"), 0U);
}

TEST(InspectText, ShowsAllThreadsWhenAsked) {
  const Report report = sample::large();
  const std::string some = inspect_text(report, wide());
  const std::string all = inspect_text(report, wide(), true);
  EXPECT_EQ(some.find("_mm512_add_ps"), std::string::npos);
  EXPECT_NE(all.find("_mm512_add_ps [inlined]"), std::string::npos);
  EXPECT_EQ(some.find("thread 3900 (worker)"), std::string::npos);
  EXPECT_NE(some.find("62 more threads"), std::string::npos);
  EXPECT_NE(all.find("thread 3900 (worker)"), std::string::npos);
}

TEST(InspectText, SaysLittleWhenLittleIsKnown) {
  expect_golden("inspect_not_aoti_100.txt", inspect_text(sample::not_aoti(), wide()));
  const std::string empty = inspect_text(Report{}, wide());
  EXPECT_NE(empty.find("none found in this process"), std::string::npos);
  EXPECT_EQ(empty.find("Fault"), std::string::npos);
}

TEST(OtherTexts, MatchTheirGoldens) {
  const Report report = sample::embedding_crash();
  for (const std::size_t columns : {100U, 80U}) {
    const std::string suffix = "_" + std::to_string(columns) + ".txt";
    const TextStyle style = wide(columns);
    expect_golden("fault" + suffix, fault_text(report, style));
    expect_golden("inputs" + suffix, inputs_text(report, style));
    expect_golden("models" + suffix, models_text(report.models, style));
    expect_golden("constants" + suffix, constants_text(report.models, style, 100));
    expect_golden("kernels" + suffix, kernels_text({*report.kernel}, style));
    expect_golden("kernel" + suffix, kernel_text(*report.kernel, style));
    expect_golden("tensor" + suffix, tensor_text(sample::tensor(), style));
    expect_golden("doctor" + suffix,
                  doctor_text(report, {{"the core is cut short", 0x7f00, "raise ulimit -c"}},
                              {{"/opt/libused.so", "used", "ab", std::nullopt},
                               {"/lib/libx.so", "missing", std::nullopt, "it is gone"}},
                              style));
  }
}

TEST(AllTexts, FitTheirColumns) {
  for (const Report& report : {sample::embedding_crash(), sample::large(), sample::hostile(),
                               sample::not_aoti(), Report{}}) {
    for (const std::size_t columns : {40U, 60U, 80U, 100U, 200U}) {
      EXPECT_LE(widest(every_text(report, wide(columns))), columns) << report.verdict.code;
    }
  }
}

TEST(AllTexts, NeverPassOnWhatCouldSteerATerminal) {
  for (const std::size_t columns : {40U, 100U, 10000U}) {
    const std::string text = every_text(sample::hostile(), wide(columns));
    for (const char c : text) {
      EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f'));
    }
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << "right-to-left override";
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << "C1 control sequence introducer";
    EXPECT_EQ(text.find('\xff'), std::string::npos);
    EXPECT_NE(text.find("a\\x1b[31mred\\n\\xff"), std::string::npos);
  }
}

TEST(AllTexts, MoveNoColumnWhenAddressesDiffer) {
  const auto shape = [](const Report& report, std::size_t columns) {
    std::string out;
    const std::string text = every_text(report, wide(columns));
    for (std::size_t i = 0; i < text.size(); ++i) {
      out += text[i];
      if (text.compare(i, 2, "0x") != 0) continue;
      while (i + 2 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 2])) != 0)
        ++i;
      ++i;
      while (i + 1 < text.size() && text[i + 1] == ' ') ++i;  // padding that follows an address
    }
    return out;
  };
  for (const std::size_t columns : {80U, 100U, 140U}) {
    EXPECT_EQ(shape(sample::embedding_crash(0x10000), columns),
              shape(sample::embedding_crash(0x7ffe40000000), columns));
  }
}

TEST(AllTexts, SayTheSameWithoutColour) {
  for (const Report& report : {sample::embedding_crash(), sample::large()}) {
    const std::string colored = every_text(report, wide(100, true));
    EXPECT_NE(colored.find('\x1b'), std::string::npos);
    EXPECT_EQ(without_escapes(colored), every_text(report, wide(100, false)));
  }
}

TEST(ConstantsText, MarksAndKeepsThoseThatNeedAttention) {
  const Report report = sample::large();
  const std::string text = constants_text(report.models, wide(), 20);
  EXPECT_NE(text.find("300 constants: 9 missing, 291 ready"), std::string::npos) << text;
  EXPECT_NE(text.find("!  layers.271.attention.weight"), std::string::npos) << text;
  EXPECT_NE(text.find("and 280 more: aoti constants --all"), std::string::npos) << text;
}

TEST(TensorText, SaysWhenNothingCouldBeRead) {
  TensorValues values = sample::tensor();
  values.first.clear();
  values.read = 0;
  values.min.reset();
  values.max.reset();
  EXPECT_NE(tensor_text(values, wide()).find("none could be read"), std::string::npos);
  values.elements = 0;
  EXPECT_NE(tensor_text(values, wide()).find("it has no elements"), std::string::npos);
}

}  // namespace
}  // namespace aotidbg
