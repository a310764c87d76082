// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/snapshot_note.h"

#include <gtest/gtest.h>

#include <functional>

namespace aotidbg {
namespace {

using Json = nlohmann::json;

SnapshotNote sample() {
  SnapshotNote note;
  note.tool = "0.1.0";
  note.with_values = true;
  note.process.saved_from = TargetKind::live;
  note.process.pid = 42;
  note.process.executable = "/bin/server";
  Region text{0x1000, 0x3000, true, false, true, "/bin/server", 0x1000, 0x2000};
  Region heap{0x8000, 0x9000, true, true, false, {}, 0, 0x800};
  note.regions = {text, heap};
  Module module;
  module.path = "/bin/server";
  module.start = 0x1000;
  module.end = 0x3000;
  module.build_id = "abcd";
  module.file_was_read = true;
  module.file_assumed = true;
  module.file_problem = "only its first page is the same";
  note.modules = {module};
  note.gaps = {{"1 MiB were not dumped", 0x8800, "set coredump_filter"}};
  note.stopped = 43;
  note.unknown_registers[43] = {21, 22};
  note.known[Purpose::object] = RangeSet({{0x8000, 0x8010}, {0x8100, 0x8108}});
  note.known[Purpose::quoted] = RangeSet({{0x8020, 0x8028}});
  note.stacks = RangeSet({{0x8400, 0x8500}});
  note.quoted = {{"input arg0[3]", "99", {0x8020, 0x8028}}};
  note.answers["symbol at 1000"] = Json::array({"main", 0x1000, 16});
  return note;
}

TEST(SnapshotNote, IsReadAsItWasWritten) {
  const auto note = read_snapshot_note(write_snapshot_note(sample()));
  ASSERT_TRUE(note.has_value()) << note.error().what;
  EXPECT_EQ(note->tool, "0.1.0");
  EXPECT_TRUE(note->with_values);
  EXPECT_EQ(note->process.kind, TargetKind::snapshot);
  EXPECT_EQ(note->process.saved_from, TargetKind::live);
  EXPECT_EQ(note->process.pid, 42);
  EXPECT_EQ(note->process.executable, "/bin/server");
  ASSERT_EQ(note->regions.size(), 2U);
  EXPECT_EQ(note->regions[0].path, "/bin/server");
  EXPECT_EQ(note->regions[0].file_offset, 0x1000U);
  EXPECT_TRUE(note->regions[0].executable);
  EXPECT_FALSE(note->regions[0].writable);
  EXPECT_EQ(note->regions[1].start, 0x8000U);
  EXPECT_EQ(note->regions[1].dumped, 0x800U);
  EXPECT_TRUE(note->regions[1].path.empty());
  ASSERT_EQ(note->modules.size(), 1U);
  EXPECT_TRUE(note->modules[0].has_file());
  EXPECT_TRUE(note->modules[0].file_assumed);
  EXPECT_EQ(note->modules[0].file_problem, "only its first page is the same");
  ASSERT_EQ(note->gaps.size(), 1U);
  EXPECT_EQ(note->gaps[0].at, 0x8800U);
  EXPECT_EQ(note->stopped, 43);
  EXPECT_EQ(note->unknown_registers.at(43), (std::vector<std::size_t>{21, 22}));
  EXPECT_EQ(note->all_known().ranges(),
            (std::vector<AddressRange>{{0x8000, 0x8010}, {0x8020, 0x8028}, {0x8100, 0x8108}}));
  EXPECT_EQ(note->stacks.bytes(), 0x100U);
  ASSERT_EQ(note->quoted.size(), 1U);
  EXPECT_EQ(note->quoted[0].range, (AddressRange{0x8020, 0x8028}));
  EXPECT_EQ(note->answers.at("symbol at 1000")[0], "main");
}

// Each damage is one change of a note that is good; the refusal must say what it was about.
struct Damage {
  const char* name;
  std::function<void(Json&)> change;
  const char* said;
};

class DamagedNote : public testing::TestWithParam<Damage> {};

TEST_P(DamagedNote, IsRefused) {
  Json json = Json::parse(write_snapshot_note(sample()));
  GetParam().change(json);
  const auto note = read_snapshot_note(json.dump());
  ASSERT_FALSE(note.has_value());
  EXPECT_NE(note.error().what.find(GetParam().said), std::string::npos) << note.error().what;
}

constexpr std::uint64_t kHuge = ~std::uint64_t{0};

const Damage kDamages[] = {
    {"NoSchema", [](Json& j) { j.erase("schema"); }, "names no schema"},
    {"OtherSchema", [](Json& j) { j["schema"] = "somebody.else/1"; }, "names no schema"},
    {"NewerVersion", [](Json& j) { j["schema"] = "aotidbg.snapshot/2"; },
     "reads aotidbg.snapshot/1"},
    {"ToolIsNumber", [](Json& j) { j["tool"] = 1; }, "the version of the tool is no text"},
    {"NoProcess", [](Json& j) { j.erase("process"); }, "neither a process nor a core"},
    {"NegativePid", [](Json& j) { j["process"]["pid"] = -1; }, "the process's id is no number"},
    {"HugePid", [](Json& j) { j["process"]["pid"] = kHuge; }, "the process's id is too large"},
    {"RegionsAreText", [](Json& j) { j["regions"] = "all"; }, "the list of mappings is no list"},
    {"ShortRegion", [](Json& j) { j["regions"][0] = {1, 2}; }, "six numbers"},
    {"EmptyRegion", [](Json& j) { j["regions"][0][1] = 0; }, "empty or goes round"},
    {"RegionGoesRound", [](Json& j) { j["regions"][1][1] = kHuge; }, "empty or goes round"},
    {"RegionPathOutside", [](Json& j) { j["regions"][0][3] = 7; }, "not in the list of paths"},
    {"RegionPathNegative", [](Json& j) { j["regions"][0][3] = -2; }, "no number"},
    {"RegionDumpsTooMuch", [](Json& j) { j["regions"][0][5] = kHuge; },
     "more bytes than it is long"},
    {"ModuleWithoutStart", [](Json& j) { j["modules"][0].erase("start"); }, "start is no number"},
    {"ModuleEndsEarly", [](Json& j) { j["modules"][0]["end"] = 1; }, "ends before it starts"},
    {"ModuleFileState", [](Json& j) { j["modules"][0]["file"] = "maybe"; }, "no known state"},
    {"ModulesOutOfOrder",
     [](Json& j) {
       j["modules"].push_back(j["modules"][0]);
       j["modules"][1]["start"] = 1;
     },
     "not in order"},
    {"GapAtText", [](Json& j) { j["gaps"][0]["at"] = "here"; }, "gap's address is no number"},
    {"StoppedThreadHuge", [](Json& j) { j["stopped_thread"] = kHuge; }, "id is too large"},
    {"RegistersNoList", [](Json& j) { j["unknown_registers"][0] = 5; }, "are no list"},
    {"RegisterIsText", [](Json& j) { j["unknown_registers"][0][1] = "rip"; }, "is no number"},
    {"TooManyRegisters", [](Json& j) { j["unknown_registers"][0] = std::vector<int>(40, 1); },
     "are no list"},
    {"HalfARange", [](Json& j) { j["known"]["objects"].push_back(1); }, "half a range"},
    {"EmptyKnownRange", [](Json& j) { j["known"]["quoted"] = {5, 0}; }, "empty or goes round"},
    {"KnownGoesRound", [](Json& j) { j["known"]["objects"] = {kHuge, 9}; }, "empty or goes round"},
    {"StacksAreNumbers", [](Json& j) { j["stacks"] = 5; }, "stacks is no list"},
    {"QuotedWithoutBytes", [](Json& j) { j["quoted"][0].erase("bytes"); }, "no number"},
    {"NoAnswers", [](Json& j) { j["answers"] = Json::array(); }, "no answers"},
};

INSTANTIATE_TEST_SUITE_P(Damages, DamagedNote, testing::ValuesIn(kDamages),
                         [](const auto& damage) { return std::string(damage.param.name); });

TEST(SnapshotNote, RefusesWhatIsNoJson) {
  for (const std::string text : {"", "{", "[]", "null", "\x01\x02"}) {
    EXPECT_FALSE(read_snapshot_note(text).has_value()) << text;
  }
}

// A copy of a value calls itself for each level: a million levels would end the debugger.
TEST(SnapshotNote, RefusesDeepNesting) {
  const std::string deep(1U << 20, '[');
  const auto note = read_snapshot_note("{\"answers\": " + deep);
  ASSERT_FALSE(note.has_value());
  EXPECT_NE(note.error().what.find("nested"), std::string::npos);
  // Brackets in a text are none.
  SnapshotNote sound = sample();
  sound.tool = std::string(100, '[') + "\"" + std::string(100, '{');
  EXPECT_TRUE(read_snapshot_note(write_snapshot_note(sound)).has_value());
}

TEST(Ranges, AreSortedJoinedAndCut) {
  const RangeSet set({{0x20, 0x30}, {0x10, 0x20}, {0x40, 0x40}, {0x50, 0x60}});
  EXPECT_EQ(set.ranges(), (std::vector<AddressRange>{{0x10, 0x30}, {0x50, 0x60}}));
  EXPECT_EQ(set.bytes(), 0x30U);
  EXPECT_EQ(set.first_outside(0x10, 0x30), 0x30U);
  EXPECT_EQ(set.first_outside(0x10, 0x31), 0x30U);
  EXPECT_EQ(set.first_outside(0x30, 0x31), 0x30U);
  EXPECT_EQ(set.without(RangeSet({{0x18, 0x20}, {0x28, 0x58}})).ranges(),
            (std::vector<AddressRange>{{0x10, 0x18}, {0x20, 0x28}, {0x58, 0x60}}));
  EXPECT_EQ(set.within({0x18, 0x58}).ranges(),
            (std::vector<AddressRange>{{0x18, 0x30}, {0x50, 0x58}}));
}

}  // namespace
}  // namespace aotidbg
