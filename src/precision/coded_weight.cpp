#include "precision/coded_weight.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "precision/coded_pieces.h"
#include "precision/weight_reader.h"

namespace sardonyx::precision {
namespace {

using base::DType;
using onnx::Tensor;

// Weights that are read, coded and let go of at a time.
constexpr std::int64_t kAtOnce = std::int64_t{1} << 18;

// Codes one after the other, the first in the lowest bits.
class Packer {
 public:
  Packer(int bits, const onnx::Derivation::Sink& sink) : bits_(bits), sink_(sink) {}
  ~Packer() { flush(); }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  void put(std::span<const std::uint8_t> codes) {
    if (!sink_) return;
    if (bits_ == 8) return sink_(std::as_bytes(codes));
    bytes_.reserve(codes.size() / 2 + 1);
    std::size_t i = 0;
    if (half_filled_ && !codes.empty()) put_high(codes[i++]);
    for (; i + 1 < codes.size(); i += 2)
      bytes_.push_back(static_cast<std::uint8_t>(codes[i] | (codes[i + 1] << 4)));
    if (i < codes.size()) {
      bytes_.push_back(codes[i]);
      half_filled_ = true;
    }
    if (!half_filled_) flush();
  }
  // To the end of the byte.
  void flush() {
    if (sink_ && !bytes_.empty()) sink_(std::as_bytes(std::span(bytes_)));
    bytes_.clear();
    half_filled_ = false;
  }

 private:
  void put_high(std::uint8_t code) {
    bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | (code << 4));
    half_filled_ = false;
  }

  int bits_;
  const onnx::Derivation::Sink& sink_;
  std::vector<std::uint8_t> bytes_;
  bool half_filled_ = false;
};

// Codes count from 0; of a signed type, from the lowest number there is.
void make_signed(std::span<std::uint8_t> codes, const BlockForm& form) {
  const auto middle = static_cast<std::uint8_t>(form.middle());
  const auto mask = static_cast<std::uint8_t>(form.highest());
  for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>((code - middle) & mask);
}

std::int64_t packed(std::int64_t codes, const BlockForm& form) {
  return (codes * form.bits + 7) / 8;
}

}  // namespace

CodedWeight::CodedWeight(const Tensor& source, Layout layout, BlockForm form)
    : source_(source),
      layout_(layout),
      form_(form),
      rows_(source.dims[0]),
      columns_(source.dims[1]) {}

std::vector<std::int64_t> CodedWeight::dims(Part part) const {
  if (layout_ == Layout::kTurned) {
    if (part == kCodes) return {columns_, rows_};
    return {blocks(), rows_};
  }
  if (part == kScales) return {rows_, blocks()};
  if (layout_ == Layout::kRows) return {rows_, part == kCodes ? columns_ : blocks()};
  if (part == kZeroPoints) return {rows_, packed(blocks(), form_)};
  if (layout_ == Layout::kPackedRows) return {rows_, packed(columns_, form_)};
  return {rows_, blocks(), packed(form_.size, form_)};
}

DType CodedWeight::dtype(Part part) const {
  if (part == kScales) return form_.scale;
  if (layout_ == Layout::kFilledBlocks || layout_ == Layout::kPackedRows) return DType::kUInt8;
  if (form_.bits == 4) return form_.symmetric ? DType::kInt4 : DType::kUInt4;
  return form_.symmetric ? DType::kInt8 : DType::kUInt8;
}

Tensor CodedWeight::part(Part part) const {
  return onnx::derived(source_, {shared_from_this(), part, dtype(part), dims(part)});
}

std::int64_t CodedWeight::bytes() const {
  std::int64_t bytes = part(kCodes).byte_count() + part(kScales).byte_count();
  if (has_zero_points()) bytes += part(kZeroPoints).byte_count();
  return bytes;
}

CodingError CodedWeight::error() const {
  const std::scoped_lock lock(mutex_);
  if (!made_.measured) {
    if (source_.data == nullptr) {
      const double unknown = std::numeric_limits<double>::quiet_NaN();
      return {unknown, unknown, unknown};
    }
    make(source_, {});
    let_go();
  }
  return made_.error;
}

std::vector<float> CodedWeight::restored() const {
  if (source_.data == nullptr) return {};
  WeightReader reader(source_);
  std::vector<float> weights(static_cast<std::size_t>(rows_ * columns_));
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(columns_));
  std::vector<BlockScale> scales(static_cast<std::size_t>(blocks()));
  for (std::int64_t row = 0; row < rows_; ++row) {
    const std::span<float> run(weights.data() + row * columns_, static_cast<std::size_t>(columns_));
    reader.read(row, 1, 0, columns_, run);
    code_blocks(run.data(), 1, columns_, form_, codes.data(), scales.data());
    for (std::size_t i = 0; i < run.size(); ++i) {
      const BlockScale& by = scales[i / static_cast<std::size_t>(form_.size)];
      run[i] = by.scale * static_cast<float>(int{codes[i]} - int{by.zero_point});
    }
  }
  return weights;
}

void CodedWeight::put(std::size_t part, const Tensor& source, const Sink& sink) const {
  const std::scoped_lock lock(mutex_);
  // Scales are kept from when the codes are written until the last part is: no more than those of
  // one weight are in memory.
  if (part == kCodes || made_.from != source.data || made_.scales.empty())
    make(source, part == kCodes ? sink : Sink());
  if (part == kScales) put_scales(sink);
  if (part == kZeroPoints) put_zero_points(sink);
  if (part == (has_zero_points() ? kZeroPoints : kScales)) let_go();
}

// Assigning nothing would keep the memory.
void CodedWeight::let_go() const { std::vector<BlockScale>().swap(made_.scales); }

void CodedWeight::make(const Tensor& source, const Sink& codes) const {
  made_ = {
      source.data, std::vector<BlockScale>(static_cast<std::size_t>(rows_ * blocks())), {}, true};
  if (layout_ == Layout::kTurned) {
    make_turned(source, codes);
  } else {
    make_by_rows(source, codes);
  }
}

void CodedWeight::make_by_rows(const Tensor& source, const Sink& sink) const {
  const bool fills = layout_ == Layout::kFilledBlocks;
  const bool is_signed = layout_ == Layout::kRows && form_.symmetric;
  const std::int64_t width = fills ? blocks() * form_.size : columns_;
  const std::int64_t wanted = std::max(std::int64_t{1}, kAtOnce / columns_);
  std::vector<std::uint8_t> filled(static_cast<std::size_t>(fills ? width : 0),
                                   static_cast<std::uint8_t>(form_.middle()));
  Packer packer(form_.bits, sink);
  const auto pack = [&](const Piece& piece) {
    made_.error.add(piece.error);
    if (!sink) return;
    const std::span<std::uint8_t> coded = piece.coded();
    if (is_signed) make_signed(coded, form_);
    if (width == columns_) return packer.put(coded);
    for (std::int64_t i = 0; i < piece.count; ++i) {
      // What fills the last block up is zero, whatever the block's code for that.
      const auto zero = piece.scales[(i + 1) * blocks() - 1].zero_point;
      std::fill(filled.begin() + columns_, filled.end(), zero);
      std::copy_n(coded.data() + i * columns_, columns_, filled.begin());
      packer.put(filled);
    }
  };
  Pieces pieces(source, form_, wanted, columns_);
  const auto scales = [&](std::int64_t row) { return made_.scales.data() + row * blocks(); };
  pieces.code(0, columns_, scales, pack);
}

void CodedWeight::make_turned(const Tensor& source, const Sink& sink) const {
  // A run of blocks along the columns, for some rows at a time.
  const std::int64_t at_once = std::max(form_.size, kAtOnce * 4 / rows_ / form_.size * form_.size);
  const std::int64_t most = std::min(at_once, columns_);
  const std::int64_t few = std::max(std::int64_t{1}, kAtOnce / most);
  std::vector<std::uint8_t> turned(static_cast<std::size_t>(most * rows_));
  std::vector<BlockScale> scales(
      static_cast<std::size_t>(rows_ * ((most + form_.size - 1) / form_.size)));
  Packer packer(form_.bits, sink);
  Pieces pieces(source, form_, few, most);
  for (std::int64_t column = 0; column < columns_; column += at_once) {
    const std::int64_t width = std::min(at_once, columns_ - column);
    const std::int64_t here = (width + form_.size - 1) / form_.size;
    const auto turn = [&](const Piece& piece) {
      made_.error.add(piece.error);
      for (std::int64_t i = 0; i < piece.count; ++i)
        for (std::int64_t block = 0; block < here; ++block)
          made_.scales[static_cast<std::size_t>((column / form_.size + block) * rows_ + piece.row +
                                                i)] = piece.scales[i * here + block];
      const std::span<std::uint8_t> coded = piece.coded();
      for (std::int64_t k = 0; k < width; ++k)
        for (std::int64_t i = 0; i < piece.count; ++i)
          turned[static_cast<std::size_t>(k * rows_ + piece.row + i)] =
              coded[static_cast<std::size_t>(i * width + k)];
    };
    pieces.code(column, width, [&](std::int64_t row) { return scales.data() + row * here; }, turn);
    const std::span<std::uint8_t> coded(turned.data(), static_cast<std::size_t>(width * rows_));
    if (form_.symmetric) make_signed(coded, form_);
    packer.put(coded);
  }
}

void CodedWeight::put_scales(const Sink& sink) const {
  const auto width = static_cast<std::size_t>(base::bit_width(form_.scale) / 8);
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < made_.scales.size();) {
    const std::size_t end = std::min(made_.scales.size(), i + 8192);
    bytes.resize((end - i) * width);
    for (std::byte* at = bytes.data(); i < end; ++i, at += width)
      onnx::store_real(form_.scale, static_cast<double>(made_.scales[i].scale), at);
    sink(bytes);
  }
}

void CodedWeight::put_zero_points(const Sink& sink) const {
  std::vector<std::uint8_t> codes;
  codes.reserve(made_.scales.size());
  for (const BlockScale& scale : made_.scales) codes.push_back(scale.zero_point);
  Packer packer(form_.bits, sink);
  const bool by_row = layout_ == Layout::kFilledBlocks || layout_ == Layout::kPackedRows;
  const auto run = by_row ? static_cast<std::size_t>(blocks()) : codes.size();
  for (std::size_t at = 0; at < codes.size(); at += run) {
    packer.put(std::span(codes).subspan(at, run));
    packer.flush();
  }
}

}  // namespace sardonyx::precision
