// SPDX-License-Identifier: BSD-3-Clause
//
// Compressed cores: what is unpacked, how far, and what is said when it cannot be. That whole cores
// give the same report is tests/cli's.
#include "common/target/packed_core.h"

#include <gtest/gtest.h>
#include <lz4frame.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "common/target/elf_core.h"
#include "tests/support/core_builder.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

using Bytes = std::vector<std::byte>;

Bytes zstd(const Bytes& plain) {
  Bytes packed(ZSTD_compressBound(plain.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
  return packed;
}

Bytes lz4(const Bytes& plain) {
  Bytes packed(LZ4F_compressFrameBound(plain.size(), nullptr));
  packed.resize(
      LZ4F_compressFrame(packed.data(), packed.size(), plain.data(), plain.size(), nullptr));
  return packed;
}

Bytes gzip(const Bytes& plain) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes packed(deflateBound(&stream, plain.size()) + 64);
  Bytes input = plain;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

class PackedCore : public testing::Test {
 protected:
  PackedCore() {
    std::mt19937 random(1);
    for (std::size_t at = 0; at < kNoise; ++at) noise_.push_back(std::byte(random()));
    Bytes memory = noise_;
    memory.resize(kNoise + kZeros);
    memory.insert(memory.end(), noise_.begin(), noise_.end());
    plain_ = CoreBuilder().thread(7).region(kStart, memory).bytes();
  }

  std::string unpack(const Bytes& packed) {
    write_file(path_, packed);
    auto core = UnpackedCore::open(path_, {});
    if (!core) return core.error().what;
    contents_ = core->contents();
    unpacked_ = contents_.empty() ? Bytes() : content(contents_);
    struct stat status{};
    if (!contents_.empty() && ::stat(contents_.c_str(), &status) == 0) blocks_ = status.st_blocks;
    return "unpacked";
  }
  static Bytes content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }

  static constexpr Address kStart = 0x10000;
  static constexpr std::size_t kNoise = 64U << 10;
  static constexpr std::size_t kZeros = 16U << 20;  // over several of the chunks
  TempFolder folder_;
  std::string path_ = folder_ / "core";
  Bytes noise_, plain_, unpacked_;
  std::string contents_;
  blkcnt_t blocks_ = 0;
};

TEST_F(PackedCore, UnpacksEachKindAndLeavesHolesWhereZerosAre) {
  for (const auto pack : {zstd, lz4, gzip}) {
    ASSERT_EQ(unpack(pack(plain_)), "unpacked");
    EXPECT_EQ(unpacked_, plain_);
    EXPECT_LT(blocks_ * 512, static_cast<blkcnt_t>(kZeros / 4));
  }
}

TEST_F(PackedCore, LeavesWhatIsNotPackedAlone) {
  EXPECT_EQ(unpack(plain_), "unpacked");
  EXPECT_EQ(contents_, "");
  path_ = folder_ / "missing/core";
  const auto core = UnpackedCore::open(path_, {});
  ASSERT_TRUE(core);
  EXPECT_EQ(core->contents(), "");
}

TEST_F(PackedCore, ServesACoreUnderItsOwnName) {
  write_file(path_, zstd(plain_));
  const auto unpacked = UnpackedCore::open(path_, {});
  ASSERT_TRUE(unpacked);
  CoreOptions options;
  options.contents = unpacked->contents();
  const auto core = open_core(path_, options);
  ASSERT_TRUE(core) << core.error().what;
  EXPECT_EQ((*core)->process().files, std::vector<std::string>{path_});
  EXPECT_EQ((*core)->read_bytes(kStart, kNoise).value(), noise_);
}

TEST_F(PackedCore, KeepsWhatCameBeforeTheEndOfACutStream) {
  for (const auto pack : {zstd, lz4, gzip}) {
    Bytes packed = pack(plain_);
    packed.resize(packed.size() - kNoise / 2);
    ASSERT_EQ(unpack(packed), "unpacked");
    ASSERT_GE(unpacked_.size(), kZeros);
    EXPECT_LT(unpacked_.size(), plain_.size());
    EXPECT_TRUE(std::equal(unpacked_.begin(), unpacked_.end(), plain_.begin()));
  }
}

TEST_F(PackedCore, StopsWhereTheProgramHeadersDo) {
  Bytes longer = plain_;
  longer.resize(plain_.size() + kZeros);
  ASSERT_EQ(unpack(zstd(longer)), "unpacked");
  EXPECT_EQ(unpacked_, plain_);
}

TEST_F(PackedCore, RefusesWhatHoldsNoCore) {
  EXPECT_EQ(unpack(gzip(bytes_of('h', 'e', 'l', 'l', 'o'))),
            "what " + path_ + " holds is no ELF file");
  EXPECT_EQ(unpack(gzip({})), path_ + " holds nothing: it is cut short, or of an empty file");
  EXPECT_NE(unpack(zstd(zstd(plain_))).find("holds is compressed with zstd"), std::string::npos);
}

// Of damaged streams some unpack to something else; none may do harm.
TEST_F(PackedCore, OutlivesDamage) {
  std::mt19937 random(7);
  std::size_t refused = 0;
  const Bytes small = CoreBuilder().thread(7).region(kStart, noise_).bytes();
  for (const auto pack : {zstd, lz4, gzip}) {
    const Bytes good = pack(small);
    for (int round = 0; round < 300; ++round) {
      Bytes bad = good;
      for (unsigned i = 0; i <= random() % 4; ++i) {
        bad[4 + random() % (random() % 2 == 0 ? 64 : bad.size() - 4)] = std::byte(random());
      }
      refused += unpack(bad) == "unpacked" ? 0 : 1;
      EXPECT_LE(unpacked_.size(), std::size_t{1} << 30);
    }
  }
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace aotidbg
