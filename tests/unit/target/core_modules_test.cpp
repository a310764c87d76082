// SPDX-License-Identifier: BSD-3-Clause
//
// Which mapped files are modules, which files on this machine are the same ones, and which pages
// they may stand for.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "common/target/elf_core.h"
#include "tests/support/core_builder.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr Address kBase = 0x7f0000000000;
constexpr std::byte kCode{0x90};

class CoreModules : public testing::Test {
 protected:
  // The core of a process that mapped `library` at `base`: first page and data dumped, code not.
  void map(CoreBuilder& core, const std::vector<std::byte>& library, const std::string& path,
           Address base = kBase, bool first_page = true) {
    const std::span<const std::byte> bytes(library);
    core.region(base, bytes.first(first_page ? 0x1000 : 0), "r--", 0x1000);
    core.region(base + 0x1000, {}, "r-x", 0x1000);
    core.region(base + 0x2000, bytes.subspan(0x2000), "rw-");
    core.file_mapping(base, base + 0x1000, 0, path);
    core.file_mapping(base + 0x1000, base + 0x2000, 0x1000, path);
    core.file_mapping(base + 0x2000, base + 0x3000, 0x2000, path);
  }
  Target& open(const CoreBuilder& core) {
    core.write(folder_ / "core");
    auto target = open_core(folder_ / "core", options_);
    EXPECT_TRUE(target);
    target_ = std::move(*target);
    return *target_;
  }
  TempFolder folder_;
  std::string path_ = folder_ / "lib.so";
  CoreOptions options_;
  std::unique_ptr<Target> target_;
  CoreBuilder core_;
};

TEST_F(CoreModules, FillsCodeFromAFileWithTheSameBuildId) {
  const auto library = small_library("c0ffee", kCode);
  write_file(path_, library);
  map(core_, library, path_);
  Target& core = open(core_);
  ASSERT_EQ(core.modules().size(), 1U);
  const Module& module = core.modules()[0];
  EXPECT_EQ(module.build_id, "c0ffee");
  EXPECT_EQ(module.bias, kBase);
  EXPECT_EQ(module.start, kBase);
  EXPECT_EQ(module.end, kBase + 0x3000);
  ASSERT_TRUE(module.file);
  EXPECT_FALSE(module.file_assumed);
  EXPECT_EQ(module.file_problem, "");
  EXPECT_EQ(core.read_value<std::byte>(kBase + 0x1234).value(), kCode);
  const auto all = core.read_bytes(kBase, 0x3000);  // core, file, core in one read
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, library);
}

TEST_F(CoreModules, RefusesAFileWithAnotherBuildId) {
  write_file(path_, small_library("0ddba11e", kCode));
  map(core_, small_library("c0ffee", kCode), path_);
  Target& core = open(core_);
  const Module& module = core.modules()[0];
  EXPECT_FALSE(module.file);
  EXPECT_EQ(module.file_problem,
            path_ + " is another file now: build id 0ddba11e, the process had c0ffee");
  const auto code = core.read_value<int>(kBase + 0x1000);
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().what.find(module.file_problem), std::string::npos);
  EXPECT_NE(code.error().fix.find("put the lib.so with build id c0ffee back at " + path_),
            std::string::npos);
}

TEST_F(CoreModules, FindsAFileThatMovedByItsBuildIdInFoldersBelow) {
  const auto library = small_library("c0ffee", kCode);
  std::filesystem::create_directories(folder_ / "moved/deep");
  write_file(folder_ / "moved/deep/renamed", library);
  write_file(folder_ / "moved/lib.so", small_library("0ddba11e", std::byte{0xcc}));
  map(core_, library, path_);
  options_.search = {folder_ / "moved"};
  EXPECT_EQ(open(core_).modules()[0].file->path(), folder_ / "moved/deep/renamed");
  options_.search.clear();
  options_.packages = {{"model.pt2", folder_ / "moved/deep"}};
  options_.options_must_serve = true;
  Target& core = open(core_);
  EXPECT_EQ(core.modules()[0].file->path(), folder_ / "moved/deep/renamed");
  EXPECT_EQ(core.read_value<std::byte>(kBase + 0x1234).value(), kCode);
}

TEST_F(CoreModules, RefusesOptionsThatServeNothingWhenTheyMust) {
  const auto library = small_library("c0ffee", kCode);
  write_file(path_, library);
  write_file(folder_ / "other", small_library("0ddba11e", kCode));
  map(core_, library, path_);
  core_.auxiliary({{AT_ENTRY, kBase + 0x1000}});
  core_.write(folder_ / "core");
  const auto refusal = [&](const CoreOptions& options) {
    const auto core = open_core(folder_ / "core", options);
    return core ? std::string("opened") : core.error().what;
  };
  CoreOptions options;
  options.executable = folder_ / "other";
  EXPECT_EQ(refusal(options), "opened") << "a debugger's guess is not a user's word";
  options.options_must_serve = true;
  EXPECT_EQ(refusal(options), "--exe is not the program that died: " + (folder_ / "other") +
                                  " is another file: build id 0ddba11e, the process had c0ffee");
  options.executable = path_;
  EXPECT_EQ(refusal(options), "opened");
  options.sysroot = folder_ / "root";
  EXPECT_EQ(refusal(options), "--sysroot " + options.sysroot + " does not exist");
  options.sysroot = path_;
  EXPECT_EQ(refusal(options), "--sysroot " + path_ + " is no folder");
  options.executable.clear();
  options.sysroot = folder_.path();
  EXPECT_EQ(refusal(options), "--sysroot " + folder_.path() +
                                  " has none of this process's files: " + folder_.path() + path_ +
                                  " does not exist");
  options.sysroot = "/";
  EXPECT_EQ(refusal(options), "opened");
  options.packages = {{"p.pt2", folder_ / "empty"}};
  EXPECT_EQ(refusal(options), "--package " + (folder_ / "empty") + " does not exist");
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_EQ(refusal(options), "--package p.pt2 holds no compiled library");
  write_file(folder_ / "empty/model.so", small_library("0ddba11e", kCode));
  EXPECT_EQ(refusal(options),
            "--package p.pt2 is not of this process: model.so (build id 0ddba11e) was not loaded");
}

TEST_F(CoreModules, SaysThatAFileIsGone) {
  map(core_, small_library("c0ffee", kCode), path_ + " (deleted)");
  Target& core = open(core_);
  const Module& module = core.modules()[0];
  EXPECT_TRUE(module.deleted);
  EXPECT_EQ(module.path, path_);
  EXPECT_EQ(module.file_problem, path_ + " does not exist");
  EXPECT_FALSE(core.read_value<int>(kBase + 0x1000));
  EXPECT_EQ(core.read_value<std::uint8_t>(kBase + 0x2000).value(), 0xda);
}

TEST_F(CoreModules, AssumesAFileWhoseFirstPageIsMissingAndReadsNothingFromIt) {
  const auto library = small_library("c0ffee", kCode);
  write_file(path_, library);
  map(core_, library, path_, kBase, false);
  Target& core = open(core_);
  ASSERT_EQ(core.modules().size(), 1U);
  EXPECT_TRUE(core.modules()[0].file);
  EXPECT_TRUE(core.modules()[0].file_assumed);
  EXPECT_EQ(core.modules()[0].build_id, "");
  EXPECT_FALSE(core.read_value<int>(kBase + 0x1000));
}

TEST_F(CoreModules, AssumesAFileWithoutBuildIdWhoseFirstPageIsTheSame) {
  const auto library = small_library("", kCode);
  write_file(path_, library);
  map(core_, library, path_);
  Target& core = open(core_);
  EXPECT_TRUE(core.modules()[0].file_assumed);
  EXPECT_NE(core.modules()[0].file_problem.find("only its first page is the same"),
            std::string::npos);
  EXPECT_EQ(core.read_value<std::byte>(kBase + 0x1000).value(), kCode);
}

TEST_F(CoreModules, RefusesAFileWithoutBuildIdWhoseFirstPageDiffers) {
  auto library = small_library("", kCode);
  map(core_, library, path_);
  library[0x800] = std::byte{7};
  write_file(path_, library);
  Target& core = open(core_);
  EXPECT_FALSE(core.modules()[0].file);
  EXPECT_FALSE(core.read_value<int>(kBase + 0x1000));
}

TEST_F(CoreModules, NeverFillsWhatTheLoaderWrites) {
  const auto library = small_library("c0ffee", kCode);
  write_file(path_, library);
  const std::span<const std::byte> bytes(library);
  // The data page is read-only now (relocated, then protected) and was not dumped.
  core_.region(kBase, bytes.first(0x1000), "r--");
  core_.region(kBase + 0x1000, {}, "r-x", 0x1000);
  core_.region(kBase + 0x2000, {}, "r--", 0x1000);
  core_.file_mapping(kBase, kBase + 0x1000, 0, path_);
  core_.file_mapping(kBase + 0x1000, kBase + 0x2000, 0x1000, path_);
  core_.file_mapping(kBase + 0x2000, kBase + 0x3000, 0x2000, path_);
  Target& core = open(core_);
  EXPECT_TRUE(core.read_value<int>(kBase + 0x1000));
  const auto data = core.read_value<int>(kBase + 0x2000);
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().what.find("the loader writes to this part"), std::string::npos);
}

TEST_F(CoreModules, SaysThatAFileShrankWhileItIsRead) {
  const auto library = small_library("c0ffee", kCode);
  write_file(path_, library);
  map(core_, library, path_);
  Target& core = open(core_);
  ASSERT_EQ(::truncate(path_.c_str(), 0x1100), 0);
  const auto code = core.read_value<int>(kBase + 0x1800);
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().what.find(path_ + " shrank from 12288 to 4352 bytes while it was read"),
            std::string::npos);
}

TEST_F(CoreModules, TellsTwoMappingsOfOneFileApart) {
  const auto library = small_library("c0ffee", kCode);
  write_file(path_, library);
  map(core_, library, path_, kBase);
  map(core_, library, path_, kBase + 0x3000);
  Target& core = open(core_);
  ASSERT_EQ(core.modules().size(), 2U);
  EXPECT_EQ(core.modules()[0].end, kBase + 0x3000);
  EXPECT_EQ(core.modules()[1].bias, kBase + 0x3000);
  EXPECT_EQ(core.module_at(kBase + 0x3000), &core.modules()[1]);
}

TEST_F(CoreModules, LeavesOutFilesThatAreMappedAsData) {
  const auto library = small_library("c0ffee", kCode);
  write_file(path_, library);
  write_file(folder_ / "weights", std::vector<std::byte>(0x1000, std::byte{5}));
  core_.region(0x10000, std::vector<std::byte>(0x1000, std::byte{5}), "r--");
  core_.file_mapping(0x10000, 0x11000, 0, folder_ / "weights");
  core_.region(0x20000, library, "r--");  // somebody reads the library as a whole
  core_.file_mapping(0x20000, 0x23000, 0, path_);
  core_.region(0x30000, {}, "rw-", 0x1000);
  core_.file_mapping(0x30000, 0x31000, 0, "/dev/zero (deleted)");
  EXPECT_TRUE(open(core_).modules().empty());
}

TEST_F(CoreModules, FindsModulesWhoseCodeTheCoreLeavesOut) {
  // As gcore does: no program header for pages that it does not write.
  const auto library = small_library("c0ffee", kCode);
  write_file(path_, library);
  core_.region(kBase, std::span(library).first(0x1000), "r--");
  core_.region(kBase + 0x2000, std::span(library).subspan(0x2000), "rw-");
  for (const std::uint64_t at : {0, 0x1000, 0x2000}) {
    core_.file_mapping(kBase + at, kBase + at + 0x1000, at, path_);
  }
  Target& core = open(core_);
  ASSERT_EQ(core.modules().size(), 1U);
  EXPECT_TRUE(core.region_at(kBase + 0x1000)->executable);
  EXPECT_FALSE(core.region_at(kBase + 0x1000)->writable);
  EXPECT_EQ(core.read_value<std::byte>(kBase + 0x1fff).value(), kCode);
}

TEST_F(CoreModules, PrefersTheSysrootAndSearchesByBuildId) {
  const auto library = small_library("c0ffee", kCode);
  map(core_, library, path_);
  write_file(path_, small_library("0ddba11e", kCode));
  options_.sysroot = folder_ / "root";
  std::filesystem::create_directories(options_.sysroot + folder_.path());
  write_file(options_.sysroot + path_, library);
  EXPECT_EQ(open(core_).modules()[0].file->path(), options_.sysroot + path_);
  options_.sysroot.clear();
  options_.search = {folder_ / "moved"};
  std::filesystem::create_directories(folder_ / "moved");
  write_file(folder_ / "moved/renamed", library);
  EXPECT_EQ(open(core_).modules()[0].file->path(), folder_ / "moved/renamed");
}

TEST_F(CoreModules, FindsTheVdsoInMemory) {
  core_.thread(7).auxiliary({{AT_SYSINFO_EHDR, 0x50000}});
  core_.region(0x50000, small_library("d50", kCode), "r-x");
  Target& core = open(core_);
  ASSERT_EQ(core.modules().size(), 1U);
  EXPECT_EQ(core.modules()[0].path, "[vdso]");
  EXPECT_FALSE(core.modules()[0].file);
  EXPECT_EQ(core.region_at(0x50000)->path, "[vdso]");
}

TEST_F(CoreModules, SurvivesImpossibleProgramHeaders) {
  auto library = small_library("c0ffee", kCode);
  write_file(path_, library);
  Elf64_Phdr segment;
  std::memcpy(&segment, library.data() + sizeof(Elf64_Ehdr), sizeof(segment));
  segment.p_memsz = ~std::uint64_t{0} - 4096;
  std::memcpy(library.data() + sizeof(Elf64_Ehdr), &segment, sizeof(segment));
  map(core_, library, path_);
  Target& huge = open(core_);
  ASSERT_EQ(huge.modules().size(), 1U);
  EXPECT_EQ(huge.modules()[0].end, kBase + 0x3000);  // no further than what is mapped
}

}  // namespace
}  // namespace aotidbg
