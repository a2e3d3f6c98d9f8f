// A buffer in front of something that takes bytes: small pieces are gathered, large borrowed ones
// go out as they are, together with what stands before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace sardonyx::base {
struct PlaceInFile;
}
namespace sardonyx::onnx {
class Pieces;
}

namespace sardonyx::proto {

// Where a stream's bytes end up.
class Output {
 public:
  virtual ~Output() = default;
  // Two spans one after the other, all of both; either may be empty.
  virtual void write(std::span<const std::byte> first, std::span<const std::byte> second) = 0;
  // Bytes of a file that the system may copy by itself: how many of them it did, from the first on.
  virtual std::size_t copy(const base::PlaceInFile& /*place*/, std::size_t /*size*/) { return 0; }
};

class Stream {
 public:
  // `on_write` gets the number of bytes written, after each write.
  Stream(Output& output, std::function<void(std::int64_t)> on_write);

  void append(std::span<const std::byte> bytes) {
    if (bytes.size() <= kBufferSize - used_) {
      copy_in(bytes);
    } else {
      append_slowly(bytes);
    }
  }
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  // Bytes that are large and stay valid until the call returns. Where they are a mapped file's,
  // their pages are let go of once written.
  void append_borrowed(std::span<const std::byte> bytes);
  void append_zeros(std::int64_t count);
  // What threads make in parallel, in order. `on_write` is called on the caller's thread alone.
  void append_pieces(onnx::Pieces& pieces);
  // At least `size` (up to 64 KiB) writable bytes; commit() says how many were used.
  std::byte* reserve(std::size_t size) {
    if (size > kBufferSize - used_) flush();
    return buffer_.get() + used_;
  }
  void commit(std::size_t size) { used_ += size; }
  void flush();
  std::int64_t position() const { return written_ + static_cast<std::int64_t>(used_); }

 private:
  // Long enough to make a call's cost small, short enough to stay in the cache.
  static constexpr std::size_t kBufferSize = std::size_t{256} << 10;

  void copy_in(std::span<const std::byte> bytes);
  std::span<const std::byte> copy_in_system(std::span<const std::byte> bytes);
  void append_slowly(std::span<const std::byte> bytes);
  void send(std::span<const std::byte> borrowed);

  Output& output_;
  std::function<void(std::int64_t)> on_write_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t used_ = 0;
  std::int64_t written_ = 0;
};

}  // namespace sardonyx::proto
