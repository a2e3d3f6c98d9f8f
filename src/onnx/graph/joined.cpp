#include "onnx/graph/joined.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/mapped_file.h"
#include "onnx/graph/pieces.h"

namespace sardonyx::onnx {
namespace {

using base::DType;

// Of a piece.
constexpr std::int64_t kBytes = std::int64_t{1} << 20;
// Of the parts' pages, before they are let go of.
constexpr std::int64_t kResidentOfParts = std::int64_t{32} << 20;

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

// Rows of the whole: side by side, all parts give some; otherwise one part after the other.
class JoinedPieces : public Pieces {
 public:
  JoinedPieces(const std::vector<Tensor>& parts, std::size_t axis, DType dtype)
      : parts_(parts), dtype_(dtype) {
    const std::vector<std::int64_t> dims = dims_of(parts, axis);
    width_ = base::bit_width(dtype) / 8;
    columns_ = dims.back();
    readers_.reserve(parts.size());
    for (const Tensor& part : parts) readers_.emplace_back(part);
    const std::int64_t row_bytes = std::max(columns_ * width_, std::int64_t{1});
    const std::int64_t rows = std::max(std::int64_t{16}, kBytes / row_bytes);
    const bool side_by_side = axis + 1 == dims.size();
    for (std::size_t begin = 0; begin < parts.size(); begin += side_by_side ? parts.size() : 1) {
      const std::size_t end = side_by_side ? parts.size() : begin + 1;
      const std::int64_t all = readers_[begin].rows();
      for (std::int64_t row = 0; row < all; row += rows)
        runs_.push_back({begin, end, row, std::min(rows, all - row)});
    }
  }
  ~JoinedPieces() override {
    for (const Tensor& part : parts_)
      if (part.element_count() > 0) base::release_pages(extent(part));
  }
  JoinedPieces(const JoinedPieces&) = delete;
  JoinedPieces& operator=(const JoinedPieces&) = delete;

  std::size_t count() const override { return runs_.size(); }
  std::size_t size(std::size_t piece) const override {
    return static_cast<std::size_t>(runs_[piece].rows * columns_ * width_);
  }
  void make(std::size_t piece, std::byte* to) override {
    const Run& run = runs_[piece];
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const MatrixReader& part = readers_[i];
      part.read(run.row, run.rows, 0, part.columns(), dtype_, to, columns_);
      to += part.columns() * width_;
    }
    std::int64_t resident = (resident_ += static_cast<std::int64_t>(size(piece)));
    if (resident < kResidentOfParts) return;
    resident_ = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) base::release_pages(extent(parts_[i]));
  }

 private:
  struct Run {
    std::size_t begin, end;  // of the parts
    std::int64_t row, rows;
  };

  const std::vector<Tensor>& parts_;
  DType dtype_;
  std::int64_t width_ = 0, columns_ = 0;
  std::vector<MatrixReader> readers_;
  std::vector<Run> runs_;
  std::atomic<std::int64_t> resident_ = 0;
};

}  // namespace

std::unique_ptr<Pieces> Joined::pieces(std::size_t /*part*/, const Tensor& /*source*/) const {
  return std::make_unique<JoinedPieces>(parts_, axis_, parts_.front().dtype);
}

void Joined::put(std::size_t part, const Tensor& source, const Sink& sink) const {
  put_pieces(*pieces(part, source),
             [&](std::span<const std::byte> bytes, std::size_t /*thread*/) { sink(bytes); });
}

std::optional<Tensor> Joined::permuted(std::span<const std::int64_t> axes) const {
  std::vector<Tensor> parts;
  for (const Tensor& part : parts_)
    parts.push_back(onnx::permuted(part, std::vector<std::int64_t>(axes.begin(), axes.end())));
  const auto axis = std::ranges::find(axes, static_cast<std::int64_t>(axis_)) - axes.begin();
  return joined(std::move(parts), static_cast<std::size_t>(axis));
}

std::optional<Tensor> Joined::cast_with_offset(base::DType dtype, std::int64_t by) const {
  std::vector<Tensor> parts;
  for (const Tensor& part : parts_) parts.push_back(onnx::cast_with_offset(part, dtype, by));
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
