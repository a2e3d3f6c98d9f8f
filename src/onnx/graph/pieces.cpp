#include "onnx/graph/pieces.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/mapped_file.h"
#include "base/parallel_for.h"
#include "kernels/cast.h"
#include "kernels/strided_copy.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::onnx {
namespace {

using base::DType;
using kernels::Axis;

// Of a piece: it stays in the cache from being made until it is written.
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;
// Of pieces in the making, all threads together.
constexpr std::size_t kBytesAtOnce = std::size_t{48} << 20;
// Less than this is done before a thread has begun.
constexpr std::size_t kWorthThreads = std::size_t{2} << 20;
// Elements of a strided tensor that are gathered before they are computed: in the nearest caches.
constexpr std::int64_t kBlockRows = 128;
constexpr std::int64_t kBlockColumns = 256;
// Rows of a piece of a strided tensor: what is dense in memory is read by whole lines of the cache.
constexpr std::int64_t kPieceRows = 64;
// Elements of a weight in a few bits that are made at a time: in the nearest caches, too.
constexpr std::int64_t kMade = std::int64_t{64} << 10;
// Elements that are computed at a time.
constexpr std::int64_t kRun = 1024;

std::int64_t width_of(DType dtype) { return base::bit_width(dtype) / 8; }

// The number of the element at `from` among those that `elements` makes.
std::int64_t number_of(const ElementSource& elements, const std::byte* from) {
  return (from - elements.data()) / static_cast<std::int64_t>(sizeof(float));
}

// Elements from number `first` on, which stand at `from` one after the other, in memory.
void compute_in_memory(const Tensor& tensor, bool is_cast, std::int64_t first,
                       const std::byte* from, std::int64_t count, DType dtype, std::byte* to) {
  const DType stored = tensor.stored_dtype();
  if (is_uncomputed(tensor) && stored == dtype) {
    std::memcpy(to, from, static_cast<std::size_t>(count * width_of(dtype)));
    return;
  }
  if (is_cast) {
    kernels::cast(stored, from, dtype, to, static_cast<std::size_t>(count));
    return;
  }
  std::array<double, kRun> values;
  for (std::int64_t at = 0; at < count; at += kRun) {
    const std::span<double> run =
        std::span(values).first(static_cast<std::size_t>(std::min(kRun, count - at)));
    kernels::to_doubles(stored, from + at * width_of(stored), run);
    compute(tensor, first + at, run);
    kernels::from_doubles(dtype, run, to + at * width_of(dtype));
  }
}

// The same, wherever the elements come from.
void compute_run(const Tensor& tensor, bool is_cast, std::int64_t first, const std::byte* from,
                 std::int64_t count, DType dtype, std::byte* to) {
  const ElementSource* const elements = element_source_of(tensor);
  if (elements == nullptr) return compute_in_memory(tensor, is_cast, first, from, count, dtype, to);
  const std::int64_t begin = number_of(*elements, from);
  if (is_uncomputed(tensor) && dtype == DType::kFloat32)
    return elements->read_run(begin, count, reinterpret_cast<float*>(to));
  std::vector<float> values(static_cast<std::size_t>(std::min(count, kMade)));
  for (std::int64_t at = 0; at < count; at += kMade) {
    const std::int64_t here = std::min(kMade, count - at);
    elements->read_run(begin + at, here, values.data());
    compute_in_memory(tensor, is_cast, first + at,
                      reinterpret_cast<const std::byte*>(values.data()), here, dtype,
                      to + at * width_of(dtype));
  }
}

// The elements of a rectangle at `from`, close together.
void gather(const Tensor& tensor, const std::byte* from, Axis rows, Axis columns, std::byte* to) {
  if (const ElementSource* const elements = element_source_of(tensor))
    return elements->read_strided(number_of(*elements, from), rows.size, rows.stride, columns.size,
                                  columns.stride, reinterpret_cast<float*>(to));
  kernels::copy_rectangle(from, rows, columns,
                          static_cast<std::size_t>(width_of(tensor.stored_dtype())), to,
                          columns.size);
}

// A rectangle of elements that lie at strides, computed block by block. `number` is that of its
// first element, and `apart` the difference from one row to the next.
void compute_rectangle(const Tensor& tensor, bool is_cast, std::int64_t number, std::int64_t apart,
                       const std::byte* from, Axis rows, Axis columns, DType dtype, std::byte* to,
                       std::int64_t pitch) {
  const std::int64_t stored = width_of(tensor.stored_dtype()), width = width_of(dtype);
  if (columns.stride == 1 && element_source_of(tensor) == nullptr) {
    for (std::int64_t row = 0; row < rows.size; ++row)
      compute_run(tensor, is_cast, number + row * apart, from + row * rows.stride * stored,
                  columns.size, dtype, to + row * pitch * width);
    return;
  }
  const std::int64_t most_rows = std::min(kBlockRows, rows.size);
  std::vector<std::byte> block(
      static_cast<std::size_t>(most_rows * std::min(kBlockColumns, columns.size) * stored));
  for (std::int64_t top = 0; top < rows.size; top += most_rows)
    for (std::int64_t left = 0; left < columns.size; left += kBlockColumns) {
      const Axis down{std::min(most_rows, rows.size - top), rows.stride};
      const Axis across{std::min(kBlockColumns, columns.size - left), columns.stride};
      gather(tensor, from + (top * rows.stride + left * columns.stride) * stored, down, across,
             block.data());
      for (std::int64_t row = 0; row < down.size; ++row)
        compute_in_memory(tensor, is_cast, number + (top + row) * apart + left,
                          block.data() + row * across.size * stored, across.size, dtype,
                          to + ((top + row) * pitch + left) * width);
    }
}

// Lets go of a mapped tensor's pages now and then, whichever threads read them.
class Residence {
 public:
  explicit Residence(const Tensor& tensor) : tensor_(tensor), pages_(extent(tensor)) {}
  ~Residence() { release_elements(tensor_); }
  Residence(const Residence&) = delete;
  Residence& operator=(const Residence&) = delete;

  void add(std::int64_t bytes) { pages_.add(bytes); }

 private:
  const Tensor& tensor_;
  base::ResidentPages pages_;
};

// Elements that lie one after the other, whatever the axes are.
class ContiguousPieces : public Pieces {
 public:
  ContiguousPieces(const Tensor& tensor, DType dtype)
      : tensor_(tensor),
        dtype_(dtype),
        is_cast_(is_cast_alone(tensor)),
        elements_(kPieceBytes / width_of(dtype)),
        total_(tensor.element_count()) {}
  ~ContiguousPieces() override {
    if (element_source_of(tensor_) != nullptr) release_elements(tensor_);
  }
  ContiguousPieces(const ContiguousPieces&) = delete;
  ContiguousPieces& operator=(const ContiguousPieces&) = delete;

  std::size_t count() const override {
    return static_cast<std::size_t>((total_ + elements_ - 1) / elements_);
  }
  std::size_t size(std::size_t piece) const override {
    return static_cast<std::size_t>(elements(piece) * width_of(dtype_));
  }
  void make(std::size_t piece, std::byte* to) override {
    const std::int64_t first = static_cast<std::int64_t>(piece) * elements_;
    const std::int64_t width = width_of(tensor_.stored_dtype());
    const std::byte* const from = tensor_.data + first * width;
    base::expect_pages({from, static_cast<std::size_t>(elements(piece) * width)});
    compute_run(tensor_, is_cast_, first, from, elements(piece), dtype_, to);
    base::release_pages({from, static_cast<std::size_t>(elements(piece) * width)});
  }

 private:
  std::int64_t elements(std::size_t piece) const {
    return std::min(elements_, total_ - static_cast<std::int64_t>(piece) * elements_);
  }

  const Tensor& tensor_;
  DType dtype_;
  bool is_cast_;
  std::int64_t elements_, total_;
};

// Elements at strides: some rows of the innermost two axes that are left when axes which lie
// together are one.
class StridedPieces : public Pieces {
 public:
  StridedPieces(const Tensor& tensor, DType dtype)
      : tensor_(tensor),
        dtype_(dtype),
        is_cast_(is_cast_alone(tensor)),
        is_copy_(tensor.is_materialized() && dtype == tensor.dtype),
        axes_(kernels::merged_axes(tensor.dims, tensor.strides)),
        residence_(tensor) {
    while (axes_.size() < 2) axes_.insert(axes_.begin(), Axis{1, 0});
    columns_ = axes_.back();
    axes_.pop_back();
    // A piece is some whole rows, or a part of one that is longer than the largest piece.
    const std::int64_t width = width_of(dtype), row_bytes = columns_.size * width;
    rows_ = std::max(std::min(kPieceRows, kLargestPiece / row_bytes), kPieceBytes / row_bytes);
    rows_ = std::max(std::int64_t{1}, rows_ < kPieceRows ? rows_ : rows_ / kPieceRows * kPieceRows);
    part_ = std::min(columns_.size, kLargestPiece / width);
    parts_ = (columns_.size + part_ - 1) / part_;
    total_ = tensor.element_count() / columns_.size;
  }

  std::size_t count() const override {
    return static_cast<std::size_t>((total_ + rows_ - 1) / rows_ * parts_);
  }
  std::size_t size(std::size_t piece) const override {
    const Part part = part_of(piece);
    return static_cast<std::size_t>(part.rows * part.columns * width_of(dtype_));
  }
  void make(std::size_t piece, std::byte* to) override {
    const Part part = part_of(piece);
    // Of the rows, those that are one axis together.
    const std::int64_t run = axes_.back().size, end = part.row + part.rows;
    for (std::int64_t row = part.row; row < end;) {
      const std::int64_t here = std::min(end - row, run - row % run);
      make_rows({row, here, part.column, part.columns}, to);
      to += here * part.columns * width_of(dtype_);
      row += here;
    }
    residence_.add(part.rows * part.columns * width_of(tensor_.stored_dtype()));
  }

 private:
  static constexpr std::int64_t kLargestPiece = std::int64_t{8} << 20;

  struct Part {
    std::int64_t row, rows, column, columns;
  };
  Part part_of(std::size_t piece) const {
    const auto number = static_cast<std::int64_t>(piece);
    const std::int64_t row = number / parts_ * rows_, column = number % parts_ * part_;
    return {row, std::min(rows_, total_ - row), column, std::min(part_, columns_.size - column)};
  }
  void make_rows(const Part& part, std::byte* to) const {
    const std::int64_t width = width_of(tensor_.stored_dtype());
    const std::int64_t offset = kernels::offset_of(axes_, part.row) + part.column * columns_.stride;
    const std::byte* const from = tensor_.data + offset * width;
    const Axis down{part.rows, axes_.back().stride}, across{part.columns, columns_.stride};
    if (is_copy_) {
      kernels::copy_rectangle(from, down, across, static_cast<std::size_t>(width), to,
                              part.columns);
    } else {
      compute_rectangle(tensor_, is_cast_, part.row * columns_.size + part.column, columns_.size,
                        from, down, across, dtype_, to, part.columns);
    }
  }

  const Tensor& tensor_;
  DType dtype_;
  bool is_cast_, is_copy_;
  std::vector<Axis> axes_;  // all but the last
  Axis columns_{};
  std::int64_t rows_ = 1, part_ = 1, parts_ = 1, total_ = 0;
  Residence residence_;
};

// Elements of 2, 4 or 6 bits at strides.
class PackedPieces : public Pieces {
 public:
  explicit PackedPieces(const Tensor& tensor)
      : tensor_(tensor),
        bits_(base::bit_width(tensor.dtype)),
        axes_(kernels::merged_axes(tensor.dims, tensor.strides)),
        total_(tensor.element_count()) {}

  std::size_t count() const override {
    return static_cast<std::size_t>((total_ + kElements - 1) / kElements);
  }
  std::size_t size(std::size_t piece) const override {
    return static_cast<std::size_t>(base::byte_size(tensor_.dtype, elements(piece)));
  }
  void make(std::size_t piece, std::byte* to) override {
    kernels::copy_packed(tensor_.data, axes_, bits_, static_cast<std::int64_t>(piece) * kElements,
                         elements(piece), to);
  }

 private:
  static constexpr std::int64_t kElements = kPieceBytes;  // whole bytes

  std::int64_t elements(std::size_t piece) const {
    return std::min(kElements, total_ - static_cast<std::int64_t>(piece) * kElements);
  }

  const Tensor& tensor_;
  int bits_;
  std::vector<Axis> axes_;
  std::int64_t total_;
};

// What each thread makes its pieces in.
class Buffers {
 public:
  explicit Buffers(Pieces& pieces) : pieces_(pieces) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < pieces.count(); ++i) {
      largest_ = std::max(largest_, pieces.size(i));
      total += pieces.size(i);
    }
    const std::size_t threads =
        total < kWorthThreads
            ? 1
            : std::clamp(kBytesAtOnce / largest_, std::size_t{1}, base::processors());
    buffers_.resize(threads);
  }

  std::size_t threads() const { return buffers_.size(); }
  void make(std::size_t piece, std::size_t thread) {
    std::unique_ptr<std::byte[]>& buffer = buffers_[thread];
    if (buffer == nullptr) buffer = std::make_unique_for_overwrite<std::byte[]>(largest_);
    pieces_.make(piece, buffer.get());
    base::check_not_cut_short();
  }
  std::span<const std::byte> made(std::size_t piece, std::size_t thread) const {
    return {buffers_[thread].get(), pieces_.size(piece)};
  }

 private:
  Pieces& pieces_;
  std::size_t largest_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> buffers_;
};

}  // namespace

void put_pieces(Pieces& pieces, const PieceSink& sink) {
  const base::CutShortGuard guard;
  Buffers buffers(pieces);
  base::in_order(
      pieces.count(), buffers.threads(),
      [&](std::size_t piece, std::size_t thread) { buffers.make(piece, thread); },
      [&](std::size_t piece, std::size_t thread) { sink(buffers.made(piece, thread), thread); });
}

void visit_pieces(Pieces& pieces, const PieceVisit& visit) {
  const base::CutShortGuard guard;
  Buffers buffers(pieces);
  base::in_order(
      pieces.count(), buffers.threads(),
      [&](std::size_t piece, std::size_t thread) {
        buffers.make(piece, thread);
        visit(piece, buffers.made(piece, thread));
      },
      [](std::size_t, std::size_t) {});
}

std::unique_ptr<Pieces> pieces_of(const Tensor& tensor) { return pieces_of(tensor, tensor.dtype); }

std::unique_ptr<Pieces> pieces_of(const Tensor& tensor, DType dtype) {
  if (base::bit_width(dtype) < 8) return std::make_unique<PackedPieces>(tensor);
  if (tensor.contiguous()) return std::make_unique<ContiguousPieces>(tensor, dtype);
  return std::make_unique<StridedPieces>(tensor, dtype);
}

MatrixReader::MatrixReader(const Tensor& matrix)
    : tensor_(matrix),
      rows_(matrix.dims.size() == 1 ? 1 : matrix.dims[0]),
      columns_(matrix.dims.back()),
      down_(matrix.strides.empty() || matrix.dims.size() == 1 ? columns_ : matrix.strides[0]),
      across_(matrix.strides.empty() ? 1 : matrix.strides.back()) {}

void MatrixReader::read(std::int64_t row, std::int64_t rows, std::int64_t column,
                        std::int64_t columns, DType dtype, std::byte* to,
                        std::int64_t pitch) const {
  const std::int64_t width = width_of(tensor_.stored_dtype());
  const std::byte* const from = tensor_.data + (row * down_ + column * across_) * width;
  const Axis down{rows, down_}, across{columns, across_};
  if (tensor_.is_materialized() && dtype == tensor_.dtype) {
    kernels::copy_rectangle(from, down, across, static_cast<std::size_t>(width), to, pitch);
  } else {
    compute_rectangle(tensor_, is_cast_alone(tensor_), row * columns_ + column, columns_, from,
                      down, across, dtype, to, pitch);
  }
}

}  // namespace sardonyx::onnx
