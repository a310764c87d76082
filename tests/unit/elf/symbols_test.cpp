// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/symbols.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/elf/mapped_file.h"

namespace aotidbg {
namespace {

constexpr Address kBias = 0x7f0000000000;

Address address_of(void* symbol) { return reinterpret_cast<Address>(symbol); }

class DynamicSymbols : public testing::TestWithParam<const char*> {};

TEST_P(DynamicSymbols, AreFoundWhereTheLoaderFindsThem) {
  void* handle = load(GetParam());
  const auto target = examine_this_process();
  const Module* module = module_named(*target, GetParam());
  ASSERT_NE(module, nullptr);
  for (const char* name : {"fixture_run", "fixture_run_local", "fixture_data"}) {
    const auto found = find_dynamic_symbol(*target, *module, name);
    ASSERT_TRUE(found.has_value()) << found.error().what;
    ASSERT_TRUE(found->has_value()) << name;
    EXPECT_EQ((*found)->address, address_of(dlsym(handle, name)));
    EXPECT_EQ((*found)->name, name);
  }
}

TEST_P(DynamicSymbols, AreFoundBeforeTheLoaderRelocatedTheSection) {
  FakeTarget target;
  const Module& module = map_file(target, GetParam(), kBias);
  const auto found = find_dynamic_symbol(target, module, "fixture_data");
  ASSERT_TRUE(found.has_value()) << found.error().what;
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->size, 16 * sizeof(int));
  EXPECT_EQ(target.read_value<int>((*found)->address).value_or(0), 1);
}

TEST_P(DynamicSymbols, ThatAreAbsentOrUndefinedAreNoError) {
  FakeTarget target;
  const Module& module = map_file(target, GetParam(), kBias);
  // __cxa_finalize is imported: in the table, and not defined here.
  for (const char* name : {"fixture_ru", "fixture_run2", "", "__cxa_finalize"}) {
    const auto found = find_dynamic_symbol(target, module, name);
    ASSERT_TRUE(found.has_value()) << found.error().what;
    EXPECT_FALSE(found->has_value()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(BothHashStyles, DynamicSymbols,
                         testing::Values(ELF_FIXTURE_GNU, ELF_FIXTURE_SYSV));

TEST(DynamicSymbolsOfLibc, AreTheDefaultVersions) {
  const auto target = examine_this_process();
  const Module* libc = module_named(*target, "/libc.so.6");
  ASSERT_NE(libc, nullptr);
  // pthread_cond_signal has two versions, of which only one is bound by new programs.
  for (const char* name : {"malloc", "qsort", "pthread_cond_signal"}) {
    const auto found = find_dynamic_symbol(*target, *libc, name);
    ASSERT_TRUE(found && *found) << name;
    EXPECT_EQ((*found)->address, address_of(dlsym(dlopen("libc.so.6", RTLD_NOW), name))) << name;
  }
}

class DamagedGnuHash : public testing::Test {
 protected:
  FakeTarget target_;
  const Module& module_ = map_file(target_, ELF_FIXTURE_GNU, kBias);
  const Address hash_ = dynamic_pointer(target_, module_, DT_GNU_HASH);
  std::uint32_t word(int index) {
    return target_.read_value<std::uint32_t>(hash_ + 4 * static_cast<Address>(index)).value();
  }
  // The first bucket comes after the header and the filter.
  Address buckets() { return hash_ + 16 + 8 * std::uint64_t{word(2)}; }
};

TEST_F(DamagedGnuHash, HugeCountsAreRefused) {
  for (const int index : {0, 2}) {
    const std::uint32_t before = word(index);
    for (const std::uint32_t count : {0U, 0x7fffffffU, 0xffffffffU}) {
      target_.poke(hash_ + 4 * static_cast<Address>(index), count);
      EXPECT_FALSE(find_dynamic_symbol(target_, module_, "fixture_run").has_value());
      EXPECT_TRUE(symbols_with_prefix(target_, module_, "fixture_").empty());
    }
    target_.poke(hash_ + 4 * static_cast<Address>(index), before);
  }
  EXPECT_TRUE(find_dynamic_symbol(target_, module_, "fixture_run").has_value());
}

TEST_F(DamagedGnuHash, ChainsWithoutAnEndStopAtTheEndOfTheModule) {
  const std::uint32_t bucket_count = word(0);
  const Address chains = buckets() + 4 * std::uint64_t{bucket_count};
  for (Address at = chains; at + 4 <= module_.end && target_.read_value<std::uint32_t>(at);
       at += 4) {
    target_.poke(at, std::uint32_t{0});
  }
  const std::size_t before = target_.reads();
  EXPECT_FALSE(find_dynamic_symbol(target_, module_, "fixture_run").has_value());
  EXPECT_LT(target_.reads() - before, (module_.end - module_.start) / 4 + 100);
}

TEST_F(DamagedGnuHash, BucketsThatLeadOutOfTheModuleAreErrors) {
  for (std::uint32_t i = 0; i < word(0); ++i) target_.poke(buckets() + 4 * i, 0xfffffff0U);
  EXPECT_FALSE(find_dynamic_symbol(target_, module_, "fixture_run").has_value());
}

TEST(DamagedSysvHash, CyclesEnd) {
  FakeTarget target;
  const Module& module = map_file(target, ELF_FIXTURE_SYSV, kBias);
  const Address hash = dynamic_pointer(target, module, DT_HASH);
  const auto buckets = target.read_value<std::uint32_t>(hash).value();
  const auto chains = target.read_value<std::uint32_t>(hash + 4).value();
  // Every bucket starts at symbol 1, whose successor is itself.
  for (std::uint32_t i = 0; i < buckets + chains; ++i) {
    target.poke(hash + 8 + 4 * std::uint64_t{i}, std::uint32_t{1});
  }
  EXPECT_FALSE(find_dynamic_symbol(target, module, "no_such_name").has_value());
  target.poke(hash + 4, std::uint32_t{0xffffffffU});
  EXPECT_FALSE(find_dynamic_symbol(target, module, "fixture_run").has_value());
}

TEST(SymbolsAt, NamesLocalFunctionsFromTheFile) {
  load(ELF_FIXTURE_GNU);
  const auto target = examine_this_process();
  const Module* module = module_named(*target, ELF_FIXTURE_GNU);
  ASSERT_NE(module, nullptr);
  const auto local =
      symbols_with_prefix(*target, *module, "_ZN7fixture12_GLOBAL__N_114local_function");
  ASSERT_EQ(local.size(), 1U);
  const auto data = find_file_symbol(*target, *module, "fixture_data");
  ASSERT_TRUE(data.has_value());
  const std::vector<Address> addresses = {data->address + data->size - 1,
                                          local[0].address + local[0].size - 1, local[0].address,
                                          module->start, 1};
  const auto found = symbols_at(*target, *module, addresses);
  ASSERT_EQ(found.size(), 5U);
  ASSERT_TRUE(found[0] && found[1] && found[2]);
  EXPECT_EQ(found[0]->name, "fixture_data");
  EXPECT_EQ(demangle(found[1]->name, true), "fixture::(anonymous namespace)::local_function");
  EXPECT_EQ(found[2]->address, local[0].address);
  EXPECT_FALSE(found[3].has_value());
  EXPECT_FALSE(found[4].has_value());
}

TEST(SymbolsAt, NamesExportsFromMemoryWhenTheFileIsGone) {
  FakeTarget target;
  const Module& module = map_file(target, ELF_FIXTURE_GNU, kBias);
  const auto run = find_dynamic_symbol(target, module, "fixture_run");
  ASSERT_TRUE(run && *run);
  const std::vector<Address> addresses = {(*run)->address + 1};
  const auto found = symbols_at(target, module, addresses);
  ASSERT_TRUE(found[0].has_value());
  EXPECT_EQ(found[0]->name, "fixture_run");
  EXPECT_EQ(symbols_with_prefix(target, module, "fixture_").size(), 3U);
  EXPECT_FALSE(find_file_symbol(target, module, "fixture_run").has_value());
}

TEST(FileSymbols, AbsentOnesAreNotFound) {
  FakeTarget target;
  Module module;
  module.file = ModuleFile::open(ELF_FIXTURE_GNU).value();
  EXPECT_TRUE(find_file_symbol(target, module, "fixture_run").has_value());
  EXPECT_FALSE(find_file_symbol(target, module, "fixture_ru").has_value());
  // The end of "fixture_run" is in the string table too, and no symbol's name.
  EXPECT_FALSE(find_file_symbol(target, module, "ture_run").has_value());
}

TEST(Modules, WithoutAnElfHeaderAreErrors) {
  FakeTarget target;
  target.map(0x10000, 0x1000);
  Module module;
  module.path = "/gone.so";
  module.bias = module.start = 0x10000;
  module.end = 0x11000;
  const auto found = find_dynamic_symbol(target, module, "x");
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().what.find("gone.so"), std::string::npos);
}

}  // namespace
}  // namespace aotidbg
