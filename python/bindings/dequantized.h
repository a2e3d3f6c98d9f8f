// Weights that a checkpoint holds in a few bits, described by where they lie in files.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "borrowed.h"
#include "onnx/graph/dequantized.h"

namespace sardonyx::bindings {

class Dequantized {
 public:
  // A matrix of integers. `form` has its bits, packs_rows, order, width, transposed and matrices,
  // and rows and columns of a group where `numbers`, entries as of borrow_from_files(), have none.
  // Throws ValueError where they do not fit.
  Dequantized(nanobind::handle codes, const nanobind::dict& form, const nanobind::list& numbers,
              std::vector<std::int64_t> dims);
  // Blocks of ggml's type `block`.
  Dequantized(const std::string& block, nanobind::handle place, std::vector<std::int64_t> dims);

  // Whose files stay mapped while it lives.
  onnx::Tensor tensor(Files& files) const;

 private:
  struct Matrix;
  Matrix matrix(Files& files) const;

  InFile place_;
  const kernels::GgmlBlock* block_ = nullptr;
  std::vector<InFile> numbers_;
  int bits_ = 0;
  bool packs_rows_ = false;
  std::vector<std::uint8_t> order_;
  std::int64_t width_ = 0, rows_ = 1, columns_ = 1;
  onnx::Transposition form_;
  std::vector<std::int64_t> dims_;
};

}  // namespace sardonyx::bindings
