#include "dequantized.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "bindings.h"
#include "frontends/checkpoints/tensor_in_file.h"
#include "onnx/graph/pieces.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

// What the files hold.
struct Dequantized::Matrix {
  kernels::CodeMatrix codes;
  kernels::GroupScales scales;
  onnx::Owners owners;

  // Numbers of a type; nothing where there are none of this name.
  template <typename T>
  std::pair<std::vector<std::int64_t>, std::span<const T>> numbers(const std::vector<InFile>& all,
                                                                   const std::string& name,
                                                                   base::DType dtype,
                                                                   Files& files) {
    const auto found = std::ranges::find(all, name, &InFile::name);
    if (found == all.end()) return {};
    const onnx::Tensor tensor = borrow(*found, files);
    if (tensor.dtype != dtype || tensor.data == nullptr)
      throw nb::value_error((name + " are no numbers of the type that they should be").c_str());
    owners.push_back(tensor.owner);
    return {tensor.dims, std::span(reinterpret_cast<const T*>(tensor.data),
                                   static_cast<std::size_t>(tensor.element_count()))};
  }

  void take_codes(const Dequantized& own, Files& files) {
    const onnx::Tensor words = borrow(own.place_, files);
    if (words.dims.size() != 2 || base::bit_width(words.dtype) < 8 || own.bits_ < 1)
      throw nb::value_error("codes are no matrix of bytes or integers");
    owners.push_back(words.owner);
    codes.words = words.data;
    codes.dtype = words.dtype;
    codes.word_bytes = base::bit_width(words.dtype) / 8;
    codes.bits = own.bits_;
    codes.packs_rows = own.packs_rows_;
    if (own.order_.size() > codes.order.size()) throw nb::value_error("codes of no such form");
    std::ranges::copy(own.order_, codes.order.begin());
    const std::int64_t each = codes.codes_in_word();
    codes.rows = words.dims[0] * (codes.packs_rows ? each : 1);
    codes.columns = words.dims[1] * (codes.packs_rows ? 1 : each);
    codes.table = numbers<float>(own.numbers_, "table", base::DType::kFloat32, files).second;
    if (own.width_ == 0) return;
    if (own.width_ > codes.columns || codes.columns - own.width_ >= each)
      throw nb::value_error("the codes are not those of the weight");
    codes.columns = own.width_;
  }

  void take_scales(const Dequantized& own, Files& files) {
    const auto all = [&](const char* name) {
      return numbers<float>(own.numbers_, name, base::DType::kFloat32, files);
    };
    const auto [dims, values] = all("scales");
    if (dims.size() != 2) throw nb::value_error("scales are no matrix");
    scales.scales = values.data();
    scales.row_groups = dims[0];
    scales.column_groups = dims[1];
    const auto same = [&, &wanted = dims](const char* name) -> const float* {
      const auto [found, numbers] = all(name);
      if (numbers.data() != nullptr && found != wanted)
        throw nb::value_error("zero points are not those of the scales");
      return numbers.data();
    };
    scales.zeros = same("zeros");
    scales.offsets = same("offsets");
    const auto index = [&](const char* name) {
      return numbers<std::int32_t>(own.numbers_, name, base::DType::kInt32, files).second;
    };
    scales.rows = {own.rows_, index("rows")};
    scales.columns = {own.columns_, index("columns")};
  }

  void check(const Dequantized& own) const {
    if (!kernels::is_valid(codes)) throw nb::value_error("codes of no such form");
    if (!kernels::is_valid(scales, codes))
      throw nb::value_error("the scales are not those of the weight");
    const std::int64_t each = codes.packs_rows ? codes.codes_in_word() : 1;
    const std::int64_t matrices = own.form_.matrices;
    const bool divides =
        matrices > 0 && codes.rows % (matrices * each) == 0 && scales.row_groups % matrices == 0;
    if (!divides || (matrices > 1 && !scales.rows.index.empty()))
      throw nb::value_error("the codes are not those of several matrices");
    if (codes.rows * codes.columns != checkpoints::element_count(own.dims_))
      throw nb::value_error("the codes are not as many as the weight has elements");
  }
};

Dequantized::Dequantized(nb::handle codes, const nb::dict& form, const nb::list& numbers,
                         std::vector<std::int64_t> dims)
    : place_(in_file(codes)), dims_(std::move(dims)) {
  for (const nb::handle each : numbers) numbers_.push_back(in_file(each));
  bits_ = nb::cast<int>(form["bits"]);
  packs_rows_ = nb::cast<bool>(form["packs_rows"]);
  order_ = nb::cast<std::vector<std::uint8_t>>(form["order"]);
  width_ = nb::cast<std::int64_t>(form["width"]);
  form_ = {nb::cast<bool>(form["transposed"]), nb::cast<std::int64_t>(form["matrices"])};
  if (form.contains("rows")) rows_ = nb::cast<std::int64_t>(form["rows"]);
  if (form.contains("columns")) columns_ = nb::cast<std::int64_t>(form["columns"]);
  Files files;
  matrix(files);
}

Dequantized::Dequantized(const std::string& block, nb::handle place, std::vector<std::int64_t> dims)
    : place_(in_file(place)), block_(kernels::ggml_block(block)), dims_(std::move(dims)) {
  if (block_ == nullptr) throw nb::value_error(("unknown blocks: " + block).c_str());
  const std::int64_t columns = dims_.empty() ? 1 : dims_.back();
  const bool fits =
      columns % block_->elements == 0 && place_.length % block_->bytes == 0 &&
      place_.length / block_->bytes * block_->elements == checkpoints::element_count(dims_);
  if (!fits) throw nb::value_error("the blocks are not those of the weight");
}

Dequantized::Matrix Dequantized::matrix(Files& files) const {
  Matrix matrix;
  matrix.take_codes(*this, files);
  matrix.take_scales(*this, files);
  matrix.check(*this);
  return matrix;
}

onnx::Tensor Dequantized::tensor(Files& files) const {
  if (block_ == nullptr) {
    Matrix held = matrix(files);
    return onnx::made_on_reading(
        onnx::dequantized(held.codes, held.scales, form_, std::move(held.owners)), dims_);
  }
  const onnx::Tensor bytes = borrow(place_, files);
  const std::span blocks(bytes.data, static_cast<std::size_t>(place_.length));
  const std::int64_t columns = dims_.empty() ? 1 : dims_.back();
  return onnx::made_on_reading(onnx::dequantized(*block_, blocks, columns, {bytes.owner}), dims_);
}

namespace {

// The values, in memory.
nb::object values_of(const Dequantized& own) {
  using Values = std::vector<float>;
  auto values = std::make_unique<Values>();
  std::vector<std::size_t> shape;
  {
    Files files;
    const onnx::Tensor tensor = own.tensor(files);
    const nb::gil_scoped_release without;
    shape.assign(tensor.dims.begin(), tensor.dims.end());
    values->resize(static_cast<std::size_t>(tensor.element_count()));
    auto* to = reinterpret_cast<std::byte*>(values->data());
    if (!values->empty())
      onnx::put_pieces(*onnx::pieces_of(tensor),
                       [&](std::span<const std::byte> piece, std::size_t) {
                         to = std::ranges::copy(piece, to).out;
                       });
  }
  Values* const held = values.release();
  const nb::capsule owner(held,
                          [](void* pointer) noexcept { delete static_cast<Values*>(pointer); });
  return nb::cast(nb::ndarray<nb::numpy, float>(held->data(), shape.size(), shape.data(), owner));
}

}  // namespace

void bind_dequantized(nb::module_& module) {
  nb::class_<Dequantized>(module, "Dequantized",
                          "A weight of float32 that lies in files in a few bits.")
      .def(nb::init<nb::handle, const nb::dict&, const nb::list&, std::vector<std::int64_t>>(),
           "codes"_a, "form"_a, "numbers"_a, "dims"_a)
      .def(nb::init<const std::string&, nb::handle, std::vector<std::int64_t>>(), "block"_a,
           "place"_a, "dims"_a)
      .def("values", &values_of, "The values in memory, as an array of NumPy.");
}

}  // namespace sardonyx::bindings
