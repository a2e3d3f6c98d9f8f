#include "onnx/graph/dequantized.h"

#include <algorithm>
#include <utility>

#include "base/mapped_file.h"

namespace sardonyx::onnx {
namespace {

// Elements that bytes of a file stand for.
class OfFile : public ElementSource {
 public:
  OfFile(std::int64_t rows, std::int64_t columns, std::span<const std::byte> bytes, Owners owners)
      : ElementSource(rows, columns), pages_(bytes), owners_(std::move(owners)) {}

  void release() const override { pages_.release(); }

 protected:
  void count_read(std::int64_t bytes) const { pages_.add(bytes); }

 private:
  mutable base::ResidentPages pages_;
  Owners owners_;
};

std::int64_t words_of(const kernels::CodeMatrix& codes) {
  const std::int64_t in_word = codes.codes_in_word();
  return codes.packs_rows ? codes.rows / in_word * codes.columns
                          : codes.rows * ((codes.columns + in_word - 1) / in_word);
}

std::span<const std::byte> bytes_of(const kernels::CodeMatrix& codes) {
  return {codes.words, static_cast<std::size_t>(words_of(codes) * codes.word_bytes)};
}

class OfCodes : public OfFile {
 public:
  OfCodes(const kernels::CodeMatrix& codes, const kernels::GroupScales& scales, Transposition form,
          Owners owners)
      : OfFile(form.transposed ? codes.columns * form.matrices : codes.rows,
               form.transposed ? codes.rows / form.matrices : codes.columns, bytes_of(codes),
               std::move(owners)),
        codes_(codes),
        scales_(scales),
        transposed_(form.transposed) {
    if (!transposed_) return;
    codes_.rows /= form.matrices;
    scales_.row_groups /= form.matrices;
  }

  void read(const Box& box, float* to, std::int64_t pitch) const override {
    if (transposed_) {
      each_matrix(box, [&](std::int64_t number, const Box& own, std::int64_t row) {
        kernels::dequantize_transposed(codes_of(number), scales_of(number),
                                       {own.row, own.rows, own.column, own.columns},
                                       to + row * pitch, pitch);
      });
    } else {
      kernels::dequantize(codes_, scales_, {box.row, box.rows, box.column, box.columns}, to, pitch);
    }
    count(box);
  }

  void read_transposed(const Box& box, float* to, std::int64_t pitch) const override {
    if (transposed_) {
      each_matrix(box, [&](std::int64_t number, const Box& own, std::int64_t row) {
        kernels::dequantize(codes_of(number), scales_of(number),
                            {own.column, own.columns, own.row, own.rows}, to + row, pitch);
      });
    } else {
      kernels::dequantize_transposed(codes_, scales_, {box.column, box.columns, box.row, box.rows},
                                     to, pitch);
    }
    count(box);
  }

 private:
  void count(const Box& box) const {
    count_read(box.rows * box.columns * codes_.word_bytes / codes_.codes_in_word());
  }

  // Calls visit(number, box, row) for the part of the box in each matrix, which begins at a row of
  // the box.
  template <typename Visit>
  void each_matrix(const Box& box, const Visit& visit) const {
    for (std::int64_t done = 0; done < box.rows;) {
      const std::int64_t number = (box.row + done) / codes_.columns;
      const std::int64_t row = (box.row + done) % codes_.columns;
      const std::int64_t rows = std::min(box.rows - done, codes_.columns - row);
      visit(number, Box{row, rows, box.column, box.columns}, done);
      done += rows;
    }
  }
  kernels::CodeMatrix codes_of(std::int64_t number) const {
    kernels::CodeMatrix codes = codes_;
    codes.words += number * words_of(codes_) * codes_.word_bytes;
    return codes;
  }
  kernels::GroupScales scales_of(std::int64_t number) const {
    kernels::GroupScales scales = scales_;
    const std::int64_t step = number * scales.row_groups * scales.column_groups;
    scales.scales += step;
    if (scales.zeros) scales.zeros += step;
    if (scales.offsets) scales.offsets += step;
    return scales;
  }

  // Of the first matrix, where there are several.
  kernels::CodeMatrix codes_;
  kernels::GroupScales scales_;
  bool transposed_;
};

class OfBlocks : public OfFile {
 public:
  OfBlocks(const kernels::GgmlBlock& block, std::span<const std::byte> blocks, std::int64_t columns,
           Owners owners)
      : OfFile(static_cast<std::int64_t>(blocks.size()) / block.bytes * block.elements /
                   std::max(columns, std::int64_t{1}),
               columns, blocks, std::move(owners)),
        block_(block),
        blocks_(blocks.data()),
        in_row_(columns / block.elements) {}

  void read(const Box& box, float* to, std::int64_t pitch) const override {
    const bool is_whole = box.column == 0 && box.columns == columns() && pitch == box.columns;
    if (is_whole) {
      kernels::dequantize_blocks(block_, at(box.row, 0), box.rows * in_row_, to);
    } else {
      for (std::int64_t i = 0; i < box.rows; ++i, to += pitch)
        read_part(box.row + i, box.column, box.columns, to);
    }
    count_read(box.rows * box.columns / block_.elements * block_.bytes);
  }

 private:
  const std::byte* at(std::int64_t row, std::int64_t block) const {
    return blocks_ + (row * in_row_ + block) * block_.bytes;
  }
  // Whole blocks where they are wanted, and what is wanted of the first and the last one.
  void read_part(std::int64_t row, std::int64_t first, std::int64_t count, float* to) const {
    std::array<float, kMaxElements> values;
    while (count > 0) {
      const std::int64_t block = first / block_.elements, begin = first % block_.elements;
      const std::int64_t whole = begin == 0 ? count / block_.elements : 0;
      std::int64_t done = whole * block_.elements;
      if (whole > 0) {
        kernels::dequantize_blocks(block_, at(row, block), whole, to);
      } else {
        done = std::min(count, block_.elements - begin);
        kernels::dequantize_blocks(block_, at(row, block), 1, values.data());
        std::copy_n(values.data() + begin, done, to);
      }
      first += done;
      to += done;
      count -= done;
    }
  }

  static constexpr std::size_t kMaxElements = 256;  // of a block

  const kernels::GgmlBlock& block_;
  const std::byte* blocks_;
  std::int64_t in_row_;
};

}  // namespace

std::shared_ptr<const ElementSource> dequantized(const kernels::CodeMatrix& codes,
                                                 const kernels::GroupScales& scales,
                                                 Transposition form, Owners owners) {
  return std::make_shared<const OfCodes>(codes, scales, form, std::move(owners));
}

std::shared_ptr<const ElementSource> dequantized(const kernels::GgmlBlock& block,
                                                 std::span<const std::byte> blocks,
                                                 std::int64_t columns, Owners owners) {
  return std::make_shared<const OfBlocks>(block, blocks, columns, std::move(owners));
}

}  // namespace sardonyx::onnx
