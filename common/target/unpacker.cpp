// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/unpacker.h"

#include <fmt/format.h>
#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/target/file_bytes.h"

namespace aotidbg {

namespace {

constexpr std::size_t kInput = 256U << 10;

class Input {
 public:
  explicit Input(int descriptor) : descriptor_(descriptor), buffer_(kInput) {}

  // What was read and not yet used; empty at the end of the file.
  Result<std::span<const std::byte>> left() {
    if (used_ == filled_) {
      const ReadBytes got = read_fully(descriptor_, offset_, buffer_);
      if (got.error != 0) {
        return fail(fmt::format("it cannot be read at byte {}: {}", offset_ + got.bytes,
                                std::strerror(got.error)));
      }
      offset_ += got.bytes;
      filled_ = got.bytes;
      used_ = 0;
    }
    return std::span<const std::byte>(buffer_).subspan(used_, filled_ - used_);
  }
  void use(std::size_t bytes) { used_ += bytes; }
  std::uint64_t position() const { return offset_ - (filled_ - used_); }

  tl::unexpected<Error> damaged(std::string_view why) const {
    return fail(fmt::format("it is damaged at about byte {}: {}", position(), why));
  }

 private:
  int descriptor_;
  std::vector<std::byte> buffer_;
  std::uint64_t offset_ = 0;
  std::size_t filled_ = 0;
  std::size_t used_ = 0;
};

// Each step of a stream: takes from `input`, gives to the front of `out`. At the end of the file
// steps go on until they give nothing: libraries hold some back.
template <class Step>
Result<std::size_t> drive(Input& input, std::span<std::byte> out, const Step& step) {
  std::size_t made = 0;
  while (made < out.size()) {
    const auto left = input.left();
    if (!left) return tl::unexpected(left.error());
    const std::uint64_t before = input.position();
    const Result<std::size_t> got = step(*left, out.subspan(made));
    if (!got) return tl::unexpected(got.error());
    made += *got;
    if (*got != 0 || input.position() != before) continue;
    if (!left->empty()) return input.damaged("its stream does not go on");
    break;
  }
  return made;
}

class ZstdUnpacker : public Unpacker {
 public:
  explicit ZstdUnpacker(int descriptor) : input_(descriptor) {}
  ~ZstdUnpacker() override { ZSTD_freeDCtx(context_); }

  Result<std::size_t> next(std::span<std::byte> out) override {
    return drive(input_, out, [this](auto in, auto room) -> Result<std::size_t> {
      ZSTD_inBuffer from{in.data(), in.size(), 0};
      ZSTD_outBuffer to{room.data(), room.size(), 0};
      const std::size_t status = ZSTD_decompressStream(context_, &to, &from);
      input_.use(from.pos);
      if (ZSTD_isError(status) != 0) return input_.damaged(ZSTD_getErrorName(status));
      return to.pos;
    });
  }

 private:
  Input input_;
  ZSTD_DCtx* context_ = ZSTD_createDCtx();
};

class GzipUnpacker : public Unpacker {
 public:
  explicit GzipUnpacker(int descriptor) : input_(descriptor) {
    constexpr int kGzipAlone = 16 + MAX_WBITS;  // zlib.h, inflateInit2
    ready_ = ::inflateInit2(&stream_, kGzipAlone) == Z_OK;
  }
  ~GzipUnpacker() override { ::inflateEnd(&stream_); }

  Result<std::size_t> next(std::span<std::byte> out) override {
    if (!ready_) return fail("zlib does not start");
    return drive(input_, out, [this](auto in, auto room) -> Result<std::size_t> {
      // zlib takes no const input, and does not write to it.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
      stream_.avail_in = static_cast<uInt>(in.size());
      stream_.next_out = reinterpret_cast<Bytef*>(room.data());
      const auto given = static_cast<uInt>(std::min<std::size_t>(room.size(), kInput));
      stream_.avail_out = given;
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      input_.use(in.size() - stream_.avail_in);
      if (status == Z_STREAM_END) {
        ::inflateReset(&stream_);
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return input_.damaged(stream_.msg == nullptr ? "no gzip stream" : stream_.msg);
      }
      return std::size_t{given} - stream_.avail_out;
    });
  }

 private:
  Input input_;
  z_stream stream_{};
  bool ready_ = false;
};

class Lz4Unpacker : public Unpacker {
 public:
  explicit Lz4Unpacker(int descriptor) : input_(descriptor) {
    LZ4F_createDecompressionContext(&context_, LZ4F_VERSION);
  }
  ~Lz4Unpacker() override { LZ4F_freeDecompressionContext(context_); }

  Result<std::size_t> next(std::span<std::byte> out) override {
    if (context_ == nullptr) return fail("lz4 does not start");
    return drive(input_, out, [this](auto in, auto room) -> Result<std::size_t> {
      std::size_t used = in.size();
      std::size_t made = room.size();
      const std::size_t status =
          LZ4F_decompress(context_, room.data(), &made, in.data(), &used, nullptr);
      input_.use(used);
      if (LZ4F_isError(status) != 0) return input_.damaged(LZ4F_getErrorName(status));
      return made;
    });
  }

 private:
  Input input_;
  LZ4F_dctx* context_ = nullptr;
};

}  // namespace

std::unique_ptr<Unpacker> Unpacker::make(Packing packing, int descriptor) {
  switch (packing) {
    case Packing::zstd:
      return std::make_unique<ZstdUnpacker>(descriptor);
    case Packing::gzip:
      return std::make_unique<GzipUnpacker>(descriptor);
    case Packing::lz4:
      return std::make_unique<Lz4Unpacker>(descriptor);
    case Packing::none:
      break;
  }
  return nullptr;
}

}  // namespace aotidbg
