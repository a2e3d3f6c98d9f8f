#include "onnx/graph/interleaved.h"

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "onnx/graph/pieces.h"

namespace sardonyx::onnx {
namespace {

using Sizes = std::vector<std::int64_t>;

// Strides of [n, 2, m, …] over the elements of [n, 2 m, …].
Sizes by_halves(Sizes strides, std::int64_t half) {
  strides.insert(strides.begin() + 1, strides[1] * half);
  return strides;
}

// The same elements as [n, m, 2, …]: in the order of the result.
Tensor by_pairs(const Tensor& stack) {
  const std::int64_t half = stack.dims[1] / 2;
  Tensor halves = stack;
  halves.dims[1] = half;
  halves.dims.insert(halves.dims.begin() + 1, 2);
  if (!stack.strides.empty()) halves.strides = by_halves(stack.strides, half);
  if (stack.recipe != nullptr) {
    auto recipe = std::make_shared<Recipe>(*stack.recipe);
    for (Computation& each : recipe->computations) each.strides = by_halves(each.strides, half);
    halves.recipe = std::move(recipe);
  }
  Sizes axes(halves.dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[1], axes[2]);
  return permuted(halves, std::move(axes));
}

class InterleavedPieces : public Pieces {
 public:
  explicit InterleavedPieces(const Tensor& stack)
      : view_(by_pairs(stack)), pieces_(pieces_of(view_)) {}

  std::size_t count() const override { return pieces_->count(); }
  std::size_t size(std::size_t piece) const override { return pieces_->size(piece); }
  void make(std::size_t piece, std::byte* to) override { pieces_->make(piece, to); }

 private:
  Tensor view_;
  std::unique_ptr<Pieces> pieces_;
};

}  // namespace

std::unique_ptr<Pieces> Interleaved::pieces(std::size_t /*part*/, const Tensor& source) const {
  return std::make_unique<InterleavedPieces>(source);
}

void Interleaved::put(std::size_t part, const Tensor& source, const Sink& sink) const {
  put_pieces(*pieces(part, source),
             [&](std::span<const std::byte> bytes, std::size_t /*thread*/) { sink(bytes); });
}

std::optional<Tensor> interleaved(const Tensor& stack) {
  if (stack.dims.size() < 2 || stack.dims[1] % 2 != 0 || stack.element_count() == 0 ||
      stack.data == nullptr || stack.missing || base::bit_width(stack.dtype) < 8 ||
      derivation_of(stack) != nullptr)
    return std::nullopt;
  return derived(stack, {.how = std::make_shared<const Interleaved>(),
                         .part = 0,
                         .dtype = stack.dtype,
                         .dims = stack.dims});
}

}  // namespace sardonyx::onnx
