// What was done to a weight, as a recipe that can be followed again with other data: one for all
// passes. Axes and dims change where the bytes lie; what is computed is computed as the elements
// are read out or written, in float64 and rounded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "onnx/graph/element_source.h"
#include "onnx/graph/pieces.h"
#include "onnx/graph/tensor.h"

namespace sardonyx::onnx {

// Factors for the channels of a weight. Element i, in row-major order, is of channel
// i / inner / period / rows * period + i / inner % period: `inner` elements of one channel lie
// together, `period` channels follow one another, and so `rows` times before the next ones begin.
struct ChannelScale {
  std::vector<double> factors;
  std::int64_t inner = 1, period = 1, rows = 1;
  // How the factors are computed of other weights, as a tensor of float64; null where they are
  // constants.
  std::shared_ptr<const Tensor> origin = nullptr;

  std::size_t channel(std::int64_t element) const {
    const std::int64_t run = element / inner;
    return static_cast<std::size_t>(run / period / rows * period + run % period);
  }
};

struct Permuted {
  std::vector<std::int64_t> axes;  // axis i is axis axes[i] of what there was
};
struct Shaped {
  std::vector<std::int64_t> dims;  // differ in ones
};
struct Scaled {
  std::shared_ptr<const ChannelScale> scale;
};
// Another element type of the same meaning, all elements so much more: int8 as uint8 by 128, or a
// cast by 0.
struct CastWithOffset {
  base::DType dtype;
  std::int64_t by;
};
// What is computed of a whole tensor and has another shape: codes, scales and zero points of a
// weight in blocks are parts of one derivation. Whoever writes takes the parts in their order.
class Derivation {
 public:
  using Sink = std::function<void(std::span<const std::byte>)>;

  virtual ~Derivation() = default;
  // The bytes of the part, piece by piece.
  virtual void put(std::size_t part, const Tensor& source, const Sink& sink) const = 0;
  // The same for several threads; null where one after the other is all that put() can do. Made and
  // let go of before the next part is asked for.
  virtual std::unique_ptr<Pieces> pieces(std::size_t /*part*/, const Tensor& /*source*/) const {
    return nullptr;
  }
  // The same after one more step; nothing where it has to be computed for that.
  virtual std::optional<Tensor> permuted(std::span<const std::int64_t> /*axes*/) const {
    return std::nullopt;
  }
  virtual std::optional<Tensor> cast_with_offset(base::DType /*dtype*/, std::int64_t /*by*/) const {
    return std::nullopt;
  }
};
struct Derived {
  std::shared_ptr<const Derivation> how;
  std::size_t part;
  base::DType dtype;
  std::vector<std::int64_t> dims;
};
// The first step, of a tensor that is the program's weight of this name.
struct Named {
  std::string weight;
};
// The first step, of a tensor whose bytes were computed of weights: the formula computes them anew.
struct Formula;  // onnx/fold/formula.h
struct Computed {
  std::shared_ptr<const Formula> formula;
};
// The tensor stands for another one, too, which has the same elements.
struct Shared {
  std::shared_ptr<const Tensor> other;
};
using Step =
    std::variant<Permuted, Shaped, Scaled, CastWithOffset, Derived, Named, Computed, Shared>;

// A Scaled or CastWithOffset, and how the elements were numbered then: the number of the one at an
// index of the tensor as it is now is the sum of the index times `strides`.
struct Computation {
  std::variant<Scaled, CastWithOffset> step;
  std::vector<std::int64_t> strides;
};

struct Recipe {
  base::DType dtype;               // of the program's tensor, and of the bytes there are
  std::vector<std::int64_t> dims;  // of the program's tensor
  std::vector<Step> steps;
  std::vector<Computation> computations;  // those among the steps
  // What a derivation is made of, where that is the last step: the tensor of the steps before it.
  std::shared_ptr<const Tensor> source;
  // What makes the program's tensor, of float32, whenever it is read; null where it is in memory.
  std::shared_ptr<const ElementSource> elements = nullptr;
};

// A tensor of elements that are made as they are read.
Tensor made_on_reading(std::shared_ptr<const ElementSource> elements,
                       std::vector<std::int64_t> dims);
// What makes a tensor's elements; null where they are in memory.
const ElementSource* element_source_of(const Tensor& tensor);
// Whether nothing is computed of the elements, wherever these come from.
bool is_uncomputed(const Tensor& tensor);
// Part `number` along the first axis of a tensor with data whose elements are cast at most.
Tensor part_of_stack(const Tensor& stack, std::int64_t number);

// The tensor after one more step; it keeps its bytes.
Tensor permuted(const Tensor& tensor, std::vector<std::int64_t> axes);
// Nothing for dims that differ from the tensor's own in more than ones.
std::optional<Tensor> with_dims(const Tensor& tensor, std::vector<std::int64_t> dims);
Tensor scaled(const Tensor& tensor, ChannelScale scale);
Tensor cast_with_offset(const Tensor& tensor, base::DType dtype, std::int64_t by);
Tensor derived(const Tensor& tensor, Derived step);
// The derivation that gives the tensor; null where it is none.
const Derived* derivation_of(const Tensor& tensor);
// A derivation's elements in memory of their own.
Tensor computed(const Tensor& derived);
// Those of a tensor that is no derivation, whatever its recipe; it has data.
Tensor in_memory(const Tensor& tensor);

// Whether the elements are those that are stored, each cast at most.
bool is_cast_alone(const Tensor& tensor);

// The tensor with its origin recorded; no byte changes.
Tensor named(const Tensor& tensor, std::string weight);
Tensor computed_by(const Tensor& tensor, std::shared_ptr<const Formula> formula);
Tensor shared_with(const Tensor& tensor, const Tensor& other);
// Whether the origin is recorded: the first step is Named or Computed.
bool has_origin(const Tensor& tensor);

// The tensor that the program had: its type and dims alone.
Tensor source_type(const Tensor& tensor);
// What was done to `made`, done to another tensor of the program's type and dims.
Tensor rebuilt(const Tensor& made, Tensor source);

// The bytes from a tensor's first element to its last, whatever lies between; it has elements, of a
// byte at least.
std::span<const std::byte> extent(const Tensor& tensor);

// Lets go of the pages of files that a tensor's elements were read from, all of them.
void release_elements(const Tensor& tensor);

// Computes on elements in row-major order, of which `values` are those from number `first` on: the
// elements at `data` become the tensor's, not rounded yet.
void compute(const Tensor& tensor, std::int64_t first, std::span<double> values);

}  // namespace sardonyx::onnx
