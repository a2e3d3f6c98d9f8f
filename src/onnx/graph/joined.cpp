#include "onnx/graph/joined.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "base/mapped_file.h"

namespace sardonyx::onnx {
namespace {

// Of the result, which are in memory at a time.
constexpr std::int64_t kBytes = std::int64_t{4} << 20;

struct Steps {
  std::int64_t down, across;
};

Steps steps_of(const Tensor& tensor) {
  const bool is_vector = tensor.dims.size() == 1;
  if (tensor.strides.empty()) return {is_vector ? 0 : tensor.dims[1], 1};
  return {is_vector ? 0 : tensor.strides[0], tensor.strides.back()};
}

// A matrix, or a vector as its only row.
class Part {
 public:
  explicit Part(const Tensor& tensor)
      : tensor_(tensor),
        steps_(steps_of(tensor)),
        width_(base::bit_width(tensor.dtype) / 8),
        stored_(base::bit_width(tensor.stored_dtype()) / 8) {}
  ~Part() {
    if (tensor_.element_count() > 0) base::release_pages(extent(tensor_));
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  std::int64_t rows() const { return tensor_.dims.size() == 1 ? 1 : tensor_.dims[0]; }
  std::int64_t columns() const { return tensor_.dims.back(); }

  // Rows [first, first + count), `pitch` bytes from one to the next.
  void read(std::int64_t first, std::int64_t count, std::byte* to, std::int64_t pitch) {
    if (!tensor_.as_it_lies()) {
      for (std::int64_t i = 0; i < count; ++i) compute(first + i, to + i * pitch);
    } else if (steps_.across == 1) {
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * pitch, at(first + i, 0), static_cast<std::size_t>(columns() * width_));
    } else {
      // Columns lie row by row: of each, what a line of the cache holds.
      for (std::int64_t k = 0; k < columns(); ++k)
        for (std::int64_t i = 0; i < count; ++i)
          std::memcpy(to + i * pitch + k * width_, at(first + i, k),
                      static_cast<std::size_t>(width_));
    }
  }

 private:
  const std::byte* at(std::int64_t row, std::int64_t column) const {
    return tensor_.data + (row * steps_.down + column * steps_.across) * stored_;
  }

  void compute(std::int64_t row, std::byte* to) {
    values_.resize(static_cast<std::size_t>(columns()));
    for (std::int64_t k = 0; k < columns(); ++k)
      values_[static_cast<std::size_t>(k)] = load_real(tensor_.stored_dtype(), at(row, k));
    onnx::compute(tensor_, row * columns(), values_);
    for (std::int64_t k = 0; k < columns(); ++k)
      store_real(tensor_.dtype, values_[static_cast<std::size_t>(k)], to + k * width_);
  }

  const Tensor& tensor_;
  Steps steps_;
  std::int64_t width_, stored_;  // bytes of an element
  std::vector<double> values_;
};

bool go_together(const Tensor& tensor, const Tensor& first, std::size_t axis) {
  if (tensor.data == nullptr || tensor.missing || derivation_of(tensor) != nullptr ||
      tensor.dtype != first.dtype || tensor.dims.size() != first.dims.size())
    return false;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i)
    if (i != axis && tensor.dims[i] != first.dims[i]) return false;
  return true;
}

std::vector<std::int64_t> dims_of(const std::vector<Tensor>& parts, std::size_t axis) {
  std::vector<std::int64_t> dims = parts.front().dims;
  dims[axis] = 0;
  for (const Tensor& part : parts) dims[axis] += part.dims[axis];
  return dims;
}

}  // namespace

void Joined::put(std::size_t /*part*/, const Tensor& /*source*/, const Sink& sink) const {
  const std::vector<std::int64_t> dims = dims_of(parts_, axis_);
  const std::int64_t pitch = dims.back() * base::bit_width(parts_.front().dtype) / 8;
  const std::int64_t at_once =
      std::max(std::int64_t{16}, kBytes / std::max(pitch, std::int64_t{1}));
  const bool side_by_side = axis_ + 1 == dims.size();
  std::vector<std::byte> bytes;
  // Side by side, all parts give some rows at a time; otherwise one part after the other.
  for (std::size_t begin = 0; begin < parts_.size(); begin += side_by_side ? parts_.size() : 1) {
    const std::size_t end = side_by_side ? parts_.size() : begin + 1;
    const std::int64_t rows = Part(parts_[begin]).rows();
    for (std::int64_t row = 0; row < rows; row += at_once) {
      const std::int64_t count = std::min(at_once, rows - row);
      bytes.resize(static_cast<std::size_t>(count * pitch));
      std::byte* to = bytes.data();
      for (std::size_t i = begin; i < end; ++i) {
        Part part(parts_[i]);
        part.read(row, count, to, pitch);
        to += part.columns() * base::bit_width(parts_[i].dtype) / 8;
      }
      sink(bytes);
    }
  }
}

std::optional<Tensor> Joined::turned(std::span<const std::int64_t> axes) const {
  std::vector<Tensor> parts;
  for (const Tensor& part : parts_)
    parts.push_back(onnx::turned(part, std::vector<std::int64_t>(axes.begin(), axes.end())));
  const auto axis = std::ranges::find(axes, static_cast<std::int64_t>(axis_)) - axes.begin();
  return joined(std::move(parts), static_cast<std::size_t>(axis));
}

std::optional<Tensor> Joined::moved(base::DType dtype, std::int64_t by) const {
  std::vector<Tensor> parts;
  for (const Tensor& part : parts_) parts.push_back(onnx::moved(part, dtype, by));
  return joined(std::move(parts), axis_);
}

std::optional<Tensor> joined(std::vector<Tensor> parts, std::size_t axis) {
  const Tensor& first = parts.front();
  if (first.dims.empty() || first.dims.size() > 2 || axis >= first.dims.size() ||
      base::bit_width(first.dtype) < 8)
    return std::nullopt;
  for (const Tensor& part : parts)
    if (!go_together(part, first, axis)) return std::nullopt;
  std::vector<std::int64_t> dims = dims_of(parts, axis);
  const Tensor source = first;
  const base::DType dtype = source.dtype;
  return derived(source, {.how = std::make_shared<const Joined>(std::move(parts), axis),
                          .part = 0,
                          .dtype = dtype,
                          .dims = std::move(dims)});
}

const Joined* joined_of(const Tensor& tensor) {
  const Derived* step = derivation_of(tensor);
  return step == nullptr ? nullptr : dynamic_cast<const Joined*>(step->how.get());
}

}  // namespace sardonyx::onnx
