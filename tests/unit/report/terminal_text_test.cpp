// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/terminal_text.h"

#include <gtest/gtest.h>

#include "common/report/table.h"
#include "common/report/words.h"
#include "tests/unit/report/sample.h"

namespace aotidbg {
namespace {

TEST(Printable, EscapesControlCharactersAndLeavesTextAlone) {
  EXPECT_EQ(printable("emb.weight"), "emb.weight");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable(std::string_view("\x1b[31m\0\x7f", 7)), "\\x1b[31m\\x00\\x7f");
  EXPECT_EQ(printable("gewicht_ä_権重"), "gewicht_ä_権重");
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "not the shortest form";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
  EXPECT_EQ(printable("ok\xe6\xa8"), "ok\\xe6\\xa8") << "cut inside a character";
}

TEST(Printable, EscapesCharactersThatHideOrReorder) {
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u{202e}b");
  EXPECT_EQ(printable("a\xe2\x80\x8b"
                      "b"),
            "a\\u{200b}b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u{9b}31m");
}

TEST(DisplayWidth, CountsColumnsAndNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("ä"), 1U);
  EXPECT_EQ(display_width("a\xcc\x88"), 1U) << "a combining diaeresis";
  EXPECT_EQ(display_width("権重"), 4U);
}

TEST(CutMiddle, KeepsBothEnds) {
  EXPECT_EQ(cut_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(cut_middle("abcdefghij", 9), "abc...hij");
  EXPECT_EQ(cut_middle("abcdefghij", 8), "abc...ij");
  EXPECT_EQ(cut_middle("abcdefghij", 2), "..");
  EXPECT_EQ(cut_middle("abcdefghij", 0), "");
}

TEST(CutMiddle, NeverCutsACharacterInTwo) {
  const std::string wide = "権重権重権重";
  for (std::size_t width = 0; width <= 12; ++width) {
    const std::string cut = cut_middle(wide, width);
    EXPECT_LE(display_width(cut), width);
    EXPECT_EQ(printable(cut), cut);
  }
}

TEST(CutEnd, MarksWhereItCut) {
  EXPECT_EQ(cut_end("a sentence", 10), "a sentence");
  EXPECT_EQ(cut_end("a sentence", 6), "a s...");
}

TEST(Wrap, BreaksAtSpacesAndLongWordsAnywhere) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrap("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("abcdefgh", 3), (Lines{"abc", "def", "gh"}));
  EXPECT_EQ(wrap("ab abcdef", 4), (Lines{"ab", "abcd", "ef"}));
  EXPECT_EQ(wrap("", 4), (Lines{""}));
  EXPECT_EQ(wrap("権重権", 3), (Lines{"権", "重", "権"}));
}

TEST(Table, DropsTheLeastImportantColumnsWhenRoomIsShort) {
  Table table({{.title = "A"}, {.title = "B", .priority = 1}, {.title = "C", .priority = 2}});
  table.add({std::string(30, 'a'), std::string(8, 'b'), std::string(8, 'c')});
  const std::string all = table.render({.columns = 60}, 0);
  EXPECT_NE(all.find("cccccccc"), std::string::npos);
  const std::string two = table.render({.columns = 42}, 0);
  EXPECT_EQ(two.find("cccccccc"), std::string::npos);
  EXPECT_NE(two.find("bbbbbbbb"), std::string::npos);
}

TEST(Table, CutsTheWidestColumnBeforeItDropsOne) {
  Table table({{.title = "A", .narrowest = 10}, {.title = "B", .priority = 1}});
  table.add({std::string(60, 'a'), "kept"});
  EXPECT_NE(table.render({.columns = 40}, 0).find("aaa...aaa"), std::string::npos);
  EXPECT_NE(table.render({.columns = 40}, 0).find("kept"), std::string::npos);
}

TEST(Table, LeavesOutColumnsWithoutContentAndPadsNumbersOnTheLeft) {
  Table table({{.title = "N", .right = true}, {.title = "EMPTY"}, {.title = "S"}});
  table.add({"1", "", "x"});
  table.add({"10", "", "y"});
  EXPECT_EQ(table.render({}, 0), " N  S\n 1  x\n10  y\n");
}

TEST(Table, WritesColourOutsideOfTheWidths) {
  Table table({{.title = "A"}, {.title = "B"}});
  table.add({Cell("bad", Emphasis::bad), "x"});
  EXPECT_EQ(table.render({.color = true}, 0),
            "\x1b[2mA\x1b[0m    \x1b[2mB\x1b[0m\n\x1b[1;31mbad\x1b[0m  x\n");
}

TEST(Words, SayDistancesAndOwnersInASentence) {
  EXPECT_EQ(bytes_text(1), "1 byte");
  EXPECT_EQ(bytes_text(256000), "256000 bytes");
  EXPECT_EQ(bytes_text(2199022999552), "2199022999552 bytes (2.0 TiB)");
  EXPECT_EQ(bytes_text(UINT64_MAX), "18446744073709551615 bytes (16.0 EiB)");
  const TensorName weight{"constant", "emb_weight", "emb.weight"};
  EXPECT_EQ(owner_text(sample::owner(weight, "past_end", 256, {{1001, 0}})),
            "256 bytes past the end of constant emb.weight (emb_weight), element [1001, 0]");
  EXPECT_EQ(owner_text(sample::owner(weight, "past_end", 0)),
            "the first byte past the end of constant emb.weight (emb_weight)");
  EXPECT_EQ(owner_text(sample::owner({"input", "arg0_1", {}}, "before_start", 4)),
            "4 bytes before the start of input arg0_1");
  EXPECT_EQ(owner_text(sample::owner(weight, "null", 8)),
            "a null pointer stands where constant emb.weight (emb_weight) should be, read at +8");
  EXPECT_EQ(owner_text(sample::owner({"buffer", "buf0", {}}, "inside", 12)),
            "inside buffer buf0, 12 bytes from its start");
  OwnerReport one_of_two = sample::owner({"constant", "", {}}, "null", 0);
  one_of_two.candidates = {"scale", "shift"};
  EXPECT_EQ(owner_text(one_of_two),
            "a null pointer stands where one of 2 constants (scale, shift) should be");
}

}  // namespace
}  // namespace aotidbg
