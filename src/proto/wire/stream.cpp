#include "proto/wire/stream.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/mapped_file.h"
#include "onnx/graph/pieces.h"

namespace sardonyx::proto {
namespace {

// Copying less than this costs less than a call of its own.
constexpr std::size_t kWorthBorrowing = std::size_t{64} << 10;
// One write; the pages of a mapped source stay resident no longer than that.
constexpr std::size_t kLongestWrite = std::size_t{1} << 20;
// One copy from file to file, after which there is a word of progress.
constexpr std::size_t kLongestCopy = std::size_t{16} << 20;

}  // namespace

Stream::Stream(Output& output, std::function<void(std::int64_t)> on_write)
    : output_(output),
      on_write_(std::move(on_write)),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferSize)) {}

void Stream::copy_in(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;  // data() may be null
  std::memcpy(buffer_.get() + used_, bytes.data(), bytes.size());
  used_ += bytes.size();
}

void Stream::append_slowly(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (used_ == kBufferSize) flush();
    const std::size_t part = std::min(bytes.size(), kBufferSize - used_);
    copy_in(bytes.first(part));
    bytes = bytes.subspan(part);
  }
}

void Stream::append_borrowed(std::span<const std::byte> bytes) {
  if (bytes.size() < kWorthBorrowing) {
    append(bytes);
    return;
  }
  bytes = copy_in_system(bytes);
  while (!bytes.empty()) {
    const std::span<const std::byte> part = bytes.first(std::min(bytes.size(), kLongestWrite));
    send(part);
    base::release_pages(part);
    bytes = bytes.subspan(part.size());
  }
}

// From file to file, as far as that goes; what is left.
std::span<const std::byte> Stream::copy_in_system(std::span<const std::byte> bytes) {
  std::optional<base::PlaceInFile> place = base::place_in_file(bytes);
  if (!place) return bytes;
  flush();
  while (!bytes.empty()) {
    const std::size_t copied = output_.copy(*place, std::min(bytes.size(), kLongestCopy));
    if (copied == 0) break;
    bytes = bytes.subspan(copied);
    place->offset += static_cast<std::int64_t>(copied);
    written_ += static_cast<std::int64_t>(copied);
    if (on_write_) on_write_(written_);
  }
  return bytes;
}

void Stream::append_zeros(std::int64_t count) {
  constexpr std::int64_t kAtOnce = std::int64_t{64} << 10;
  while (count > 0) {
    const auto part = static_cast<std::size_t>(std::min(count, kAtOnce));
    std::memset(reserve(part), 0, part);
    commit(part);
    count -= static_cast<std::int64_t>(part);
  }
}

void Stream::append_pieces(onnx::Pieces& pieces) {
  flush();
  onnx::put_pieces(pieces, [this](std::span<const std::byte> bytes, std::size_t thread) {
    if (bytes.size() < kWorthBorrowing && bytes.size() <= kBufferSize - used_) {
      copy_in(bytes);
      return;
    }
    output_.write({buffer_.get(), used_}, bytes);
    written_ += static_cast<std::int64_t>(used_ + bytes.size());
    used_ = 0;
    if (on_write_ && thread == 0) on_write_(written_);
  });
}

void Stream::flush() {
  if (used_ > 0) send({});
}

void Stream::send(std::span<const std::byte> borrowed) {
  output_.write({buffer_.get(), used_}, borrowed);
  written_ += static_cast<std::int64_t>(used_ + borrowed.size());
  used_ = 0;
  if (on_write_) on_write_(written_);
}

}  // namespace sardonyx::proto
