#include "proto/gather.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/mapped_file.h"
#include "kernels/cast.h"
#include "kernels/small_float.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::proto {
namespace {

struct Axis {
  std::int64_t size;
  std::int64_t stride;
};

// The axes without those of size 1, neighbours that lie one after the other taken as one.
std::vector<Axis> merged_axes(const onnx::Tensor& tensor) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    const Axis axis{tensor.dims[i], tensor.strides[i]};
    if (axis.size == 1) continue;
    if (!axes.empty() && axes.back().stride == axis.stride * axis.size) {
      axes.back() = {axes.back().size * axis.size, axis.stride};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

// Calls visit(offset in elements) for every index of `axes`, the last fastest.
template <typename Visit>
void for_each_offset(std::span<const Axis> axes, const Visit& visit) {
  std::vector<std::int64_t> index(axes.size(), 0);
  std::int64_t offset = 0;
  for (;;) {
    visit(offset);
    std::size_t i = axes.size();
    for (; i > 0; --i) {
      const Axis& axis = axes[i - 1];
      offset += axis.stride;
      if (++index[i - 1] < axis.size) break;
      offset -= axis.stride * axis.size;
      index[i - 1] = 0;
    }
    if (i == 0) return;
  }
}

// A tile of rows x columns, row-major in `to` (of `width` columns), by way of a small buffer: read
// along the axis that is denser in memory and written along rows, so that every cache line is
// touched once on either side. Without the buffer, strides that are powers of two would send all
// its lines to the same few places of the cache. Sizes measured: 32 x 64 is 3 to 4 times as fast as
// 32 x 32 on matrices of 2048 columns.
constexpr std::int64_t kTileRows = 32;
constexpr std::int64_t kTileColumns = 64;

template <typename Element>
void copy_tile(const std::byte* from, Axis rows, Axis columns, std::byte* to, std::int64_t width) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Element));
  alignas(64) Element tile[kTileRows * kTileColumns];  // NOLINT(modernize-avoid-c-arrays)
  for (std::int64_t column = 0; column < columns.size; ++column) {
    const std::byte* at = from + column * columns.stride * kSize;
    // What the tile below reads next: the lines lie too far apart for the processor to guess.
    const auto below = reinterpret_cast<std::intptr_t>(at) + kTileRows * rows.stride * kSize;
    __builtin_prefetch(reinterpret_cast<const void*>(below));
    __builtin_prefetch(reinterpret_cast<const void*>(below + 64));
    if (rows.size == kTileRows && rows.stride == 1) {
      Element line[kTileRows];  // NOLINT(modernize-avoid-c-arrays)
      std::memcpy(line, at, sizeof line);
      for (std::int64_t row = 0; row < kTileRows; ++row)
        tile[row * kTileColumns + column] = line[row];
      continue;
    }
    for (std::int64_t row = 0; row < rows.size; ++row) {
      std::memcpy(tile + row * kTileColumns + column, at, sizeof(Element));  // may lie unaligned
      at += rows.stride * kSize;
    }
  }
  for (std::int64_t row = 0; row < rows.size; ++row)
    std::memcpy(to + row * width * kSize, tile + row * kTileColumns,
                static_cast<std::size_t>(columns.size * kSize));
}

// A chunk of rows x columns, row-major in `to`.
template <typename Element>
void copy_chunk(const std::byte* from, Axis rows, Axis columns, std::byte* to) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Element));
  for (std::int64_t column = 0; column < columns.size; column += kTileColumns) {
    const Axis across{std::min(kTileColumns, columns.size - column), columns.stride};
    for (std::int64_t row = 0; row < rows.size; row += kTileRows) {
      const Axis down{std::min(kTileRows, rows.size - row), rows.stride};
      copy_tile<Element>(from + (row * rows.stride + column * columns.stride) * kSize, down, across,
                         to + (row * columns.size + column) * kSize, columns.size);
    }
  }
}

// Chunks of this size stay in the cache from being gathered until they are written. Where a tile's
// rows are longer than that, a chunk is as many of them as fit the larger size.
constexpr std::int64_t kChunkBytes = std::int64_t{512} << 10;
constexpr std::int64_t kLargestChunkBytes = std::int64_t{8} << 20;
// A tensor that spans more than this does not stay resident: it is let go of each time that
// kLargestChunkBytes are gathered. Each time costs a run over all its pages when it is transposed.
constexpr std::size_t kResidentBytes = std::size_t{32} << 20;

template <typename Element>
void gather(const onnx::Tensor& tensor, Stream& stream) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Element));
  std::vector<Axis> axes = merged_axes(tensor);
  while (axes.size() < 2) axes.insert(axes.begin(), Axis{1, 0});
  const Axis columns = axes.back();
  const Axis rows = axes[axes.size() - 2];
  const std::span<const Axis> outer = std::span(axes).first(axes.size() - 2);

  // Rows that lie contiguous and are long go out as they are.
  const std::int64_t row_bytes = columns.size * kSize;
  if (columns.stride == 1 && row_bytes >= 4096) {
    for_each_offset(std::span(axes).first(axes.size() - 1), [&](std::int64_t offset) {
      stream.append_borrowed({tensor.data + offset * kSize, static_cast<std::size_t>(row_bytes)});
    });
    return;
  }

  // A chunk is some whole rows, or a part of one that is longer than the buffer.
  const std::int64_t chunk_columns = std::min(columns.size, kLargestChunkBytes / kSize);
  const std::int64_t wanted = std::max(kTileRows, kChunkBytes / row_bytes);
  const std::int64_t chunk_rows =
      std::max(std::int64_t{1}, std::min({wanted, kLargestChunkBytes / row_bytes, rows.size}));
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(
      static_cast<std::size_t>(chunk_rows * chunk_columns * kSize));
  const std::span<const std::byte> source = onnx::extent(tensor);
  std::int64_t resident = 0;
  for_each_offset(outer, [&](std::int64_t offset) {
    for (std::int64_t row = 0; row < rows.size; row += chunk_rows) {
      for (std::int64_t column = 0; column < columns.size; column += chunk_columns) {
        const Axis r{std::min(chunk_rows, rows.size - row), rows.stride};
        const Axis c{std::min(chunk_columns, columns.size - column), columns.stride};
        const std::int64_t start = offset + row * rows.stride + column * columns.stride;
        const std::int64_t size = r.size * c.size * kSize;
        copy_chunk<Element>(tensor.data + start * kSize, r, c, buffer.get());
        stream.append_borrowed({buffer.get(), static_cast<std::size_t>(size)});
        resident += size;
        if (source.size() > kResidentBytes && resident >= kLargestChunkBytes) {
          base::release_pages(source);
          resident = 0;
        }
      }
    }
  });
}

// Elements of 4 or 2 bits, strided in elements.
void gather_packed(const onnx::Tensor& tensor, int bits, Stream& stream) {
  const std::vector<Axis> axes = merged_axes(tensor);
  const int in_byte = 8 / bits;
  const unsigned mask = (1U << bits) - 1;
  unsigned packed = 0;
  int filled = 0;
  const auto put = [&] {
    *stream.reserve(1) = static_cast<std::byte>(packed);
    stream.commit(1);
    packed = 0;
    filled = 0;
  };
  for_each_offset(axes, [&](std::int64_t offset) {
    const unsigned byte = std::to_integer<unsigned>(tensor.data[offset / in_byte]);
    const unsigned element = (byte >> (offset % in_byte * bits)) & mask;
    packed |= element << (filled * bits);
    if (++filled == in_byte) put();
  });
  if (filled > 0) put();
}

// Elements that are computed, chunk by chunk on their way through the stream's buffer: load(at) and
// store(value, at) are of the element types before and after.
template <typename Load, typename Store>
void put_computed(const onnx::Tensor& tensor, Stream& stream, const Load& load,
                  const Store& store) {
  constexpr std::size_t kChunk = 4096;
  const std::int64_t from = base::bit_width(tensor.stored_dtype()) / 8;
  const auto to = static_cast<std::size_t>(base::bit_width(tensor.dtype) / 8);
  const std::int64_t count = tensor.element_count();
  std::vector<double> values;
  values.reserve(kChunk);
  std::int64_t first = 0;
  const auto put = [&] {
    onnx::compute(tensor, first, values);
    std::byte* at = stream.reserve(values.size() * to);
    for (const double value : values) {
      store(value, at);
      at += to;
    }
    stream.commit(values.size() * to);
    first += static_cast<std::int64_t>(values.size());
    values.clear();
  };
  const auto take = [&](std::int64_t offset) {
    values.push_back(load(tensor.data + offset * from));
    if (values.size() == kChunk) put();
  };
  if (tensor.contiguous()) {
    while (first < count) {
      values.resize(std::min(kChunk, static_cast<std::size_t>(count - first)));
      const std::byte* const data = tensor.data + first * from;
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = load(data + static_cast<std::int64_t>(i) * from);
      put();
    }
  } else {
    for_each_offset(merged_axes(tensor), take);
  }
  base::release_pages(onnx::extent(tensor));
  if (!values.empty()) put();
}

// Takes float32 and hands it on in half precision.
class Halves : public Output {
 public:
  Halves(base::DType half, Stream& stream) : half_(half), stream_(stream) {}
  void write(std::span<const std::byte> first, std::span<const std::byte> second) override {
    put(first);
    put(second);
  }

 private:
  void put(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t count = std::min(values_.size(), bytes.size() / sizeof(float));
      std::memcpy(values_.data(), bytes.data(), count * sizeof(float));  // may lie unaligned
      kernels::from_floats(half_, std::span(values_).first(count),
                           reinterpret_cast<std::byte*>(halves_.data()));
      stream_.append(std::as_bytes(std::span(halves_).first(count)));
      bytes = bytes.subspan(count * sizeof(float));
    }
  }

  base::DType half_;
  Stream& stream_;
  std::array<float, 4096> values_;
  std::array<std::uint16_t, 4096> halves_;
};

// Whether all that is computed is float32 in half precision.
bool is_halved(const onnx::Tensor& tensor) {
  const std::vector<onnx::Computation>& all = tensor.recipe->computations;
  const auto* move = all.size() == 1 ? std::get_if<onnx::Moved>(&all[0].step) : nullptr;
  return move != nullptr && move->by == 0 && tensor.stored_dtype() == base::DType::kFloat32 &&
         (tensor.dtype == base::DType::kFloat16 || tensor.dtype == base::DType::kBFloat16);
}

void put_halves(const onnx::Tensor& tensor, Stream& stream) {
  onnx::Tensor lies = tensor;
  lies.dtype = base::DType::kFloat32;
  lies.recipe = nullptr;
  Halves halves(tensor.dtype, stream);
  Stream floats(halves, {});
  put_data(lies, floats);
  floats.flush();
}

void put_computed(const onnx::Tensor& tensor, Stream& stream) {
  using base::DType;
  if (is_halved(tensor)) return put_halves(tensor, stream);
  const DType from = tensor.stored_dtype(), to = tensor.dtype;
  if (from == DType::kFloat32 && to == DType::kFloat32) {
    const auto load = [](const std::byte* at) {
      float value;
      std::memcpy(&value, at, sizeof value);
      return static_cast<double>(value);
    };
    const auto store = [](double value, std::byte* at) {
      const auto rounded = static_cast<float>(value);
      std::memcpy(at, &rounded, sizeof rounded);
    };
    put_computed(tensor, stream, load, store);
    return;
  }
  put_computed(
      tensor, stream, [from](const std::byte* at) { return onnx::load_real(from, at); },
      [to](double value, std::byte* at) { onnx::store_real(to, value, at); });
}

struct Pair64 {  // complex128
  std::uint64_t real, imaginary;
};

}  // namespace

void put_data(const onnx::Tensor& tensor, Stream& stream) {
  if (tensor.element_count() == 0) return;
  if (const onnx::Derived* step = onnx::derivation_of(tensor)) {
    step->how->put(step->part, *tensor.recipe->source,
                   [&](std::span<const std::byte> piece) { stream.append(piece); });
    return;
  }
  const int bits = base::bit_width(tensor.dtype);
  if (!tensor.as_it_lies()) {
    put_computed(tensor, stream);
    return;
  }
  if (tensor.contiguous()) {
    stream.append_borrowed({tensor.data, static_cast<std::size_t>(tensor.byte_count())});
    return;
  }
  if (bits < 8) {
    gather_packed(tensor, bits, stream);
    return;
  }
  switch (bits) {
    case 8:
      gather<std::uint8_t>(tensor, stream);
      break;
    case 16:
      gather<std::uint16_t>(tensor, stream);
      break;
    case 32:
      gather<std::uint32_t>(tensor, stream);
      break;
    case 64:
      gather<std::uint64_t>(tensor, stream);
      break;
    default:
      gather<Pair64>(tensor, stream);
      break;
  }
  base::release_pages(onnx::extent(tensor));
}

}  // namespace sardonyx::proto
