#include "precision/quantized_weight.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/cast.h"
#include "kernels/strided_copy.h"
#include "onnx/graph/pieces.h"
#include "precision/weight_reader.h"

namespace sardonyx::precision {
namespace {

using base::DType;
using kernels::BlockForm;
using kernels::CodingError;
using onnx::Tensor;

// Weights that are read, coded and let go of at a time.
constexpr std::int64_t kAtOnce = std::int64_t{1} << 18;

// Codes count from 0; those of a signed type, from the lowest number there is.
std::uint8_t flip_of(const BlockForm& form, bool is_signed) {
  return static_cast<std::uint8_t>(is_signed ? form.middle() : 0);
}

std::int64_t packed(std::int64_t codes, const BlockForm& form) {
  return (codes * form.bits + 7) / 8;
}

// What a thread works with.
struct Desk {
  explicit Desk(const Tensor& source) : reader(source) {}

  WeightReader reader;
  std::vector<float> weights;
  std::vector<std::uint8_t> codes, transposed;
  std::vector<float> scales;
  std::vector<std::uint8_t> zero_points;
  std::vector<std::byte> stored_scales;
};

// As many as there are threads at once.
class Desks {
 public:
  explicit Desks(const Tensor& source) : source_(source) {}

  std::unique_ptr<Desk> take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Desk> desk = std::move(free_.back());
        free_.pop_back();
        return desk;
      }
    }
    return std::make_unique<Desk>(source_);
  }
  void give_back(std::unique_ptr<Desk> desk) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(desk));
  }

 private:
  const Tensor& source_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Desk>> free_;
};

}  // namespace

// Pieces of the codes. Threads leave scales and zero points with the weight: a piece those of its
// own blocks.
class QuantizedWeight::CodePieces : public onnx::Pieces {
 public:
  CodePieces(const QuantizedWeight& weight, const Tensor& source)
      : weight_(weight),
        form_(weight.form_),
        rows_(weight.rows_),
        columns_(weight.columns_),
        desks_(source) {
    weight.begin(source);
    if (weight.layout_ == Layout::kTransposed) {
      const std::int64_t blocks = std::max(std::int64_t{1}, kAtOnce * 4 / rows_ / form_.size);
      step_ = std::min(blocks * form_.size, columns_);
      count_ = static_cast<std::size_t>((columns_ + step_ - 1) / step_);
    } else {
      // Two rows of an odd number of half bytes are whole bytes.
      step_ = std::max(std::int64_t{1}, kAtOnce / columns_);
      if (form_.bits == 4 && columns_ % 2 != 0) step_ += step_ % 2;
      count_ = static_cast<std::size_t>((rows_ + step_ - 1) / step_);
    }
    errors_.resize(count_);
  }
  // Where all were made, what that did to the weights is known.
  ~CodePieces() override {
    Made& made = weight_.made_;
    if (made_ < count_) return;
    for (const CodingError& error : errors_) made.error.add(error);
    made.measured = true;
  }
  CodePieces(const CodePieces&) = delete;
  CodePieces& operator=(const CodePieces&) = delete;

  // For as long as the pieces live nobody else asks the weight for a part.
  void keep(std::unique_lock<std::mutex> lock) { lock_ = std::move(lock); }

  std::size_t count() const override { return count_; }
  std::size_t size(std::size_t piece) const override {
    const auto [first, number] = run(piece);
    if (weight_.layout_ == Layout::kTransposed)
      return static_cast<std::size_t>(packed(number * rows_, form_));
    if (weight_.layout_ == Layout::kPaddedBlocks)
      return static_cast<std::size_t>(number * packed(weight_.blocks() * form_.size, form_));
    return static_cast<std::size_t>(packed(number * columns_, form_));
  }
  void make(std::size_t piece, std::byte* to) override {
    std::unique_ptr<Desk> desk = desks_.take();
    const auto [first, number] = run(piece);
    errors_[piece] = weight_.layout_ == Layout::kTransposed ? make_columns(*desk, first, number, to)
                                                            : make_rows(*desk, first, number, to);
    desks_.give_back(std::move(desk));
    ++made_;
  }

 private:
  struct Run {
    std::int64_t first, number;
  };
  Run run(std::size_t piece) const {
    const std::int64_t first = static_cast<std::int64_t>(piece) * step_;
    return {first,
            std::min(step_, (weight_.layout_ == Layout::kTransposed ? columns_ : rows_) - first)};
  }

  CodingError code(Desk& desk, std::int64_t row, std::int64_t rows, std::int64_t column,
                   std::int64_t columns) const {
    const auto size = static_cast<std::size_t>(rows * columns);
    const auto blocks = static_cast<std::size_t>(rows * blocks_of(columns));
    if (desk.weights.size() < size) desk.weights.resize(size);
    if (desk.codes.size() < size) desk.codes.resize(size);
    if (desk.scales.size() < blocks) {
      desk.scales.resize(blocks);
      desk.zero_points.resize(blocks);
    }
    desk.reader.read(row, rows, column, columns, std::span(desk.weights).first(size));
    return kernels::code_blocks(desk.weights.data(), rows, columns, form_, desk.codes.data(),
                                desk.scales.data(), desk.zero_points.data());
  }
  std::int64_t blocks_of(std::int64_t columns) const {
    return (columns + form_.size - 1) / form_.size;
  }
  // Scales and zero points of blocks [block, block + blocks) of rows [row, row + rows), as they are
  // stored.
  void keep_scales(Desk& desk, std::int64_t row, std::int64_t rows, std::int64_t block,
                   std::int64_t blocks) const {
    Made& made = weight_.made_;
    const std::size_t width = static_cast<std::size_t>(base::bit_width(form_.scale)) / 8;
    const auto count = static_cast<std::size_t>(rows * blocks);
    desk.stored_scales.resize(count * width);
    kernels::from_floats(form_.scale, std::span(desk.scales).first(count),
                         desk.stored_scales.data());
    const auto place = [&](const std::byte* from, std::size_t size, std::byte* to) {
      if (weight_.layout_ == Layout::kTransposed) {
        kernels::copy_rectangle(from, {blocks, 1}, {rows, blocks}, size,
                                to + static_cast<std::size_t>(block * rows_ + row) * size, rows_);
      } else {
        std::memcpy(to + static_cast<std::size_t>(row * blocks + block) * size, from, count * size);
      }
    };
    place(desk.stored_scales.data(), width, made.scales.data());
    if (weight_.has_zero_points())
      place(reinterpret_cast<const std::byte*>(desk.zero_points.data()), 1,
            reinterpret_cast<std::byte*>(made.zero_points.data()));
  }

  CodingError make_rows(Desk& desk, std::int64_t row, std::int64_t rows, std::byte* to) const {
    const CodingError error = code(desk, row, rows, 0, columns_);
    const std::int64_t blocks = weight_.blocks();
    keep_scales(desk, row, rows, 0, blocks);
    const std::span<const std::uint8_t> codes(desk.codes.data(),
                                              static_cast<std::size_t>(rows * columns_));
    const std::uint8_t flip = flip_of(form_, weight_.layout_ == Layout::kRows && form_.symmetric);
    const std::int64_t width = blocks * form_.size;
    if (weight_.layout_ != Layout::kPaddedBlocks || width == columns_) {
      kernels::pack_codes(codes, form_.bits, flip, to);
      return error;
    }
    desk.transposed.resize(static_cast<std::size_t>(width));
    for (std::int64_t i = 0; i < rows; ++i) {
      // What fills the last block up is zero, whatever the block's code for that.
      const auto zero = desk.zero_points[static_cast<std::size_t>((i + 1) * blocks - 1)];
      std::fill(desk.transposed.begin() + columns_, desk.transposed.end(), zero);
      std::copy_n(codes.data() + i * columns_, columns_, desk.transposed.begin());
      to = kernels::pack_codes(desk.transposed, form_.bits, flip, to);
    }
    return error;
  }

  // A run of blocks along the columns, some rows at a time.
  CodingError make_columns(Desk& desk, std::int64_t column, std::int64_t width,
                           std::byte* to) const {
    CodingError error;
    const std::int64_t few = std::max(std::int64_t{1}, kAtOnce / width), here = blocks_of(width);
    desk.transposed.resize(static_cast<std::size_t>(width * rows_));
    for (std::int64_t row = 0; row < rows_; row += few) {
      const std::int64_t count = std::min(few, rows_ - row);
      error.add(code(desk, row, count, column, width));
      keep_scales(desk, row, count, column / form_.size, here);
      kernels::copy_rectangle(reinterpret_cast<const std::byte*>(desk.codes.data()), {width, 1},
                              {count, width}, 1,
                              reinterpret_cast<std::byte*>(desk.transposed.data() + row), rows_);
    }
    kernels::pack_codes(desk.transposed, form_.bits, flip_of(form_, form_.symmetric), to);
    return error;
  }

  const QuantizedWeight& weight_;
  BlockForm form_;
  std::int64_t rows_, columns_;
  Desks desks_;
  std::int64_t step_ = 1;  // rows of a piece, or columns
  std::size_t count_ = 0;
  std::vector<CodingError> errors_;
  std::atomic<std::size_t> made_ = 0;
  std::unique_lock<std::mutex> lock_;
};

QuantizedWeight::QuantizedWeight(const Tensor& source, Layout layout, BlockForm form)
    : source_(source),
      layout_(layout),
      form_(form),
      rows_(std::accumulate(source.dims.begin(), source.dims.end() - 1, std::int64_t{1},
                            std::multiplies())),
      columns_(source.dims.back()) {}

std::vector<std::int64_t> QuantizedWeight::dims(Part part) const {
  if (layout_ == Layout::kTransposed) {
    if (part == kCodes) return {columns_, rows_};
    return {blocks(), rows_};
  }
  std::vector<std::int64_t> dims(source_.dims.begin(), source_.dims.end() - 1);
  if (part == kScales || (part == kZeroPoints && layout_ == Layout::kRows)) {
    dims.push_back(blocks());
  } else if (part == kZeroPoints) {
    dims.push_back(packed(blocks(), form_));
  } else if (layout_ == Layout::kPaddedBlocks) {
    dims.insert(dims.end(), {blocks(), packed(form_.size, form_)});
  } else {
    dims.push_back(layout_ == Layout::kRows ? columns_ : packed(columns_, form_));
  }
  return dims;
}

DType QuantizedWeight::dtype(Part part) const {
  if (part == kScales) return form_.scale;
  if (layout_ == Layout::kPaddedBlocks || layout_ == Layout::kPackedRows) return DType::kUInt8;
  if (form_.bits == 4) return form_.symmetric ? DType::kInt4 : DType::kUInt4;
  return form_.symmetric ? DType::kInt8 : DType::kUInt8;
}

Tensor QuantizedWeight::part(Part part) const {
  return onnx::derived(source_, {shared_from_this(), part, dtype(part), dims(part)});
}

std::int64_t QuantizedWeight::bytes() const {
  std::int64_t bytes = part(kCodes).byte_count() + part(kScales).byte_count();
  if (has_zero_points()) bytes += part(kZeroPoints).byte_count();
  return bytes;
}

CodingError QuantizedWeight::error() const {
  const std::scoped_lock lock(mutex_);
  if (!made_.measured) {
    if (source_.data == nullptr) {
      const double unknown = std::numeric_limits<double>::quiet_NaN();
      return {unknown, unknown, unknown};
    }
    make(source_);
    let_go();
  }
  return made_.error;
}

std::vector<float> QuantizedWeight::restored() const {
  if (source_.data == nullptr) return {};
  WeightReader reader(source_);
  std::vector<float> weights(static_cast<std::size_t>(rows_ * columns_));
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(columns_));
  std::vector<float> scales(static_cast<std::size_t>(blocks()));
  std::vector<std::uint8_t> zero_points(scales.size());
  for (std::int64_t row = 0; row < rows_; ++row) {
    const std::span<float> run(weights.data() + row * columns_, static_cast<std::size_t>(columns_));
    reader.read(row, 1, 0, columns_, run);
    kernels::code_blocks(run.data(), 1, columns_, form_, codes.data(), scales.data(),
                         zero_points.data());
    for (std::size_t i = 0; i < run.size(); ++i) {
      const std::size_t block = i / static_cast<std::size_t>(form_.size);
      run[i] = scales[block] * static_cast<float>(int{codes[i]} - int{zero_points[block]});
    }
  }
  return weights;
}

void QuantizedWeight::put(std::size_t part, const Tensor& source, const Sink& sink) const {
  if (part == kCodes) {
    const auto codes = pieces(part, source);
    onnx::put_pieces(*codes, [&](std::span<const std::byte> bytes, std::size_t) { sink(bytes); });
    return;
  }
  const std::scoped_lock lock(mutex_);
  // Scales are kept from when the codes are written until the last part is: no more than those of
  // one weight are in memory.
  if (!made_.measured || made_.from != source.data || made_.scales.empty()) make(source);
  if (part == kScales) sink(made_.scales);
  if (part == kZeroPoints) put_zero_points(sink);
  if (part == (has_zero_points() ? kZeroPoints : kScales)) let_go();
}

std::unique_ptr<onnx::Pieces> QuantizedWeight::pieces(std::size_t part,
                                                      const Tensor& source) const {
  if (part != kCodes) return nullptr;
  std::unique_lock lock(mutex_);
  auto codes = std::make_unique<CodePieces>(*this, source);
  codes->keep(std::move(lock));
  return codes;
}

// Assigning nothing would keep the memory.
void QuantizedWeight::let_go() const {
  std::vector<std::byte>().swap(made_.scales);
  std::vector<std::uint8_t>().swap(made_.zero_points);
}

void QuantizedWeight::begin(const Tensor& source) const {
  const auto count = static_cast<std::size_t>(rows_ * blocks());
  made_ = {source.data, {}, {}, {}, false};
  made_.scales.resize(count * static_cast<std::size_t>(base::bit_width(form_.scale)) / 8);
  made_.zero_points.resize(has_zero_points() ? count : 0);
}

void QuantizedWeight::make(const Tensor& source) const {
  CodePieces codes(*this, source);
  onnx::visit_pieces(codes, [](std::size_t, std::span<const std::byte>) {});
}

void QuantizedWeight::put_zero_points(const Sink& sink) const {
  const bool by_row = layout_ == Layout::kPaddedBlocks || layout_ == Layout::kPackedRows;
  const auto run = by_row ? static_cast<std::size_t>(blocks()) : made_.zero_points.size();
  std::vector<std::byte> bytes((run * static_cast<std::size_t>(form_.bits) + 7) / 8);
  for (std::size_t at = 0; at < made_.zero_points.size(); at += run) {
    kernels::pack_codes(std::span(made_.zero_points).subspan(at, run), form_.bits, 0, bytes.data());
    sink(bytes);
  }
}

}  // namespace sardonyx::precision
