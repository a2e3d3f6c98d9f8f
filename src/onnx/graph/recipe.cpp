#include "onnx/graph/recipe.h"

#include <algorithm>
#include <utility>

#include "base/mapped_file.h"

namespace sardonyx::onnx {
namespace {

using Sizes = std::vector<std::int64_t>;

Sizes row_major(const Sizes& dims) {
  Sizes strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Sizes reordered(const Sizes& list, const Sizes& axes) {
  Sizes result = list;
  for (std::size_t i = 0; i < axes.size(); ++i) result[i] = list[static_cast<std::size_t>(axes[i])];
  return result;
}

// Strides of the same elements under dims that differ in ones.
Sizes without_ones(const Sizes& dims, const Sizes& strides, const Sizes& to) {
  Sizes kept, result;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1) kept.push_back(strides[i]);
  std::size_t next = 0;
  for (const std::int64_t dim : to) result.push_back(dim == 1 ? 1 : kept[next++]);
  return result;
}

Sizes sizes(const Sizes& dims) {
  Sizes kept;
  for (const std::int64_t dim : dims)
    if (dim != 1) kept.push_back(dim);
  return kept;
}

// A recipe of one step more, to be changed.
std::shared_ptr<Recipe> extended(const Tensor& tensor, Step step) {
  auto recipe = tensor.recipe != nullptr
                    ? std::make_shared<Recipe>(*tensor.recipe)
                    : std::make_shared<Recipe>(Recipe{tensor.dtype, tensor.dims, {}, {}, nullptr});
  recipe->steps.push_back(std::move(step));
  return recipe;
}

bool row_major_strides(const Sizes& dims, const Sizes& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1 && strides[i] != expected) return false;
    expected *= dims[i];
  }
  return true;
}

// The numbers, under `strides`, of the elements from `first` on in row-major order.
class Numbering {
 public:
  Numbering(const Sizes& dims, const Sizes& strides, std::int64_t first)
      : dims_(dims), strides_(strides), index_(dims.size(), 0) {
    move_to(first);
  }

  void move_to(std::int64_t first) {
    number_ = 0;
    for (std::size_t axis = dims_.size(); axis-- > 0;) {
      index_[axis] = first % dims_[axis];
      first /= dims_[axis];
      number_ += index_[axis] * strides_[axis];
    }
  }

  std::int64_t number() const { return number_; }
  std::int64_t next() {
    const std::int64_t number = number_;
    for (std::size_t axis = index_.size(); axis-- > 0;) {
      number_ += strides_[axis];
      if (++index_[axis] < dims_[axis]) break;
      number_ -= strides_[axis] * dims_[axis];
      index_[axis] = 0;
    }
    return number;
  }

 private:
  const Sizes& dims_;
  const Sizes& strides_;
  Sizes index_;
  std::int64_t number_ = 0;
};

// By runs, of which compilers make vectors: elements of one channel, or one each of those that
// follow one another. `values` are numbered as they lie.
void scale_in_order(const ChannelScale& scale, std::int64_t first, std::span<double> values) {
  while (!values.empty()) {
    const std::int64_t run = scale.inner > 1 ? scale.inner : scale.period;
    const auto count = std::min(values.size(), static_cast<std::size_t>(run - first % run));
    const double* const factors = &scale.factors[scale.channel(first)];
    if (scale.inner > 1) {
      for (std::size_t i = 0; i < count; ++i) values[i] *= *factors;
    } else {
      for (std::size_t i = 0; i < count; ++i) values[i] *= factors[i];
    }
    values = values.subspan(count);
    first += static_cast<std::int64_t>(count);
  }
}

// By how many channels elements are apart that are `stride` apart, of `size` of them; nothing where
// that is not the same for all.
std::optional<std::int64_t> channel_stride(const ChannelScale& scale, std::int64_t stride,
                                           std::int64_t size) {
  const std::int64_t group = scale.inner * scale.period, all = group * scale.rows;
  const std::int64_t reach = stride * size;
  if (size == 1 || reach <= scale.inner) return 0;
  if (stride % scale.inner == 0 && reach <= group) return stride / scale.inner;
  if (stride % group == 0 && reach <= all) return 0;
  if (stride % all == 0) return stride / all * scale.period;
  return std::nullopt;
}

// Where axes were moved since: row by row of the last axis, along which channels are as far apart
// as they are. False where they are not.
bool scale_by_rows(const ChannelScale& scale, const Sizes& dims, const Sizes& strides,
                   std::int64_t first, std::span<double> values) {
  Sizes channels(dims.size(), 0);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const auto apart = channel_stride(scale, strides[axis], dims[axis]);
    if (!apart) return false;
    channels[axis] = *apart;
  }
  Numbering numbering(dims, channels, first);
  const std::int64_t length = dims.back(), apart = channels.back();
  while (!values.empty()) {
    const auto count = std::min(values.size(), static_cast<std::size_t>(length - first % length));
    const double* const factors = &scale.factors[static_cast<std::size_t>(numbering.number())];
    for (std::size_t i = 0; i < count; ++i)
      values[i] *= factors[static_cast<std::int64_t>(i) * apart];
    values = values.subspan(count);
    first += static_cast<std::int64_t>(count);
    numbering.move_to(first);
  }
  return true;
}

}  // namespace

bool Tensor::is_materialized() const {
  return is_uncomputed(*this) && element_source_of(*this) == nullptr;
}

base::DType Tensor::stored_dtype() const { return is_materialized() ? dtype : recipe->dtype; }

bool is_cast_alone(const Tensor& tensor) {
  if (tensor.is_materialized()) return true;
  if (derivation_of(tensor) != nullptr) return false;
  return std::ranges::all_of(tensor.recipe->computations, [](const Computation& each) {
    const auto* move = std::get_if<CastWithOffset>(&each.step);
    return move != nullptr && move->by == 0;
  });
}

Tensor made_on_reading(std::shared_ptr<const ElementSource> elements, Sizes dims) {
  Tensor tensor;
  tensor.dtype = base::DType::kFloat32;
  tensor.dims = std::move(dims);
  tensor.data = tensor.element_count() == 0 ? nullptr : elements->data();
  tensor.owner = elements;
  tensor.recipe = std::make_shared<const Recipe>(
      Recipe{tensor.dtype, tensor.dims, {}, {}, nullptr, std::move(elements)});
  return tensor;
}

const ElementSource* element_source_of(const Tensor& tensor) {
  return tensor.recipe == nullptr ? nullptr : tensor.recipe->elements.get();
}

bool is_uncomputed(const Tensor& tensor) {
  return tensor.recipe == nullptr ||
         (tensor.recipe->computations.empty() && tensor.recipe->source == nullptr);
}

Tensor part_of_stack(const Tensor& stack, std::int64_t number) {
  Tensor part = stack;
  part.dtype = stack.stored_dtype();
  const std::int64_t count = stack.dims.empty() ? 1 : stack.dims[0];
  const std::int64_t apart =
      stack.strides.empty() ? stack.element_count() / count : stack.strides[0];
  part.data += number * apart * (base::bit_width(part.dtype) / 8);
  part.dims.erase(part.dims.begin());
  if (!part.strides.empty()) part.strides.erase(part.strides.begin());
  part.recipe = nullptr;
  if (element_source_of(stack) != nullptr)
    part.recipe = std::make_shared<const Recipe>(
        Recipe{part.dtype, part.dims, {}, {}, nullptr, stack.recipe->elements});
  if (stack.recipe == nullptr) return part;
  for (const Computation& each : stack.recipe->computations)
    part = cast_with_offset(part, std::get<CastWithOffset>(each.step).dtype, 0);
  return part;
}

Tensor permuted(const Tensor& tensor, Sizes axes) {
  if (const Derived* step = derivation_of(tensor)) {
    if (auto result = step->how->permuted(axes)) return *std::move(result);
    return permuted(computed(tensor), std::move(axes));
  }
  Tensor result = tensor;
  if (result.strides.empty()) result.strides = row_major(result.dims);
  result.dims = reordered(tensor.dims, axes);
  result.strides = reordered(result.strides, axes);
  const auto recipe = extended(tensor, Permuted{axes});
  for (Computation& each : recipe->computations) each.strides = reordered(each.strides, axes);
  result.recipe = recipe;
  return result;
}

std::optional<Tensor> with_dims(const Tensor& tensor, Sizes dims) {
  if (sizes(tensor.dims) != sizes(dims)) return std::nullopt;
  if (derivation_of(tensor) != nullptr) return with_dims(computed(tensor), std::move(dims));
  Tensor result = tensor;
  if (!tensor.strides.empty()) result.strides = without_ones(tensor.dims, tensor.strides, dims);
  const auto recipe = extended(tensor, Shaped{dims});
  for (Computation& each : recipe->computations)
    each.strides = without_ones(tensor.dims, each.strides, dims);
  result.recipe = recipe;
  result.dims = std::move(dims);
  return result;
}

Tensor scaled(const Tensor& tensor, ChannelScale scale) {
  if (derivation_of(tensor) != nullptr) return scaled(computed(tensor), std::move(scale));
  Tensor result = tensor;
  const Scaled step{std::make_shared<const ChannelScale>(std::move(scale))};
  const auto recipe = extended(tensor, step);
  recipe->computations.push_back({step, row_major(tensor.dims)});
  result.recipe = recipe;
  return result;
}

Tensor cast_with_offset(const Tensor& tensor, base::DType dtype, std::int64_t by) {
  if (const Derived* step = derivation_of(tensor)) {
    if (auto result = step->how->cast_with_offset(dtype, by)) return *std::move(result);
    return cast_with_offset(computed(tensor), dtype, by);
  }
  Tensor result = tensor;
  const CastWithOffset step{dtype, by};
  const auto recipe = extended(tensor, step);
  recipe->computations.push_back({step, row_major(tensor.dims)});
  result.recipe = recipe;
  result.dtype = dtype;
  return result;
}

Tensor derived(const Tensor& tensor, Derived step) {
  Tensor result = tensor;
  result.dtype = step.dtype;
  result.dims = step.dims;
  result.strides.clear();
  const auto recipe = extended(tensor, std::move(step));
  recipe->source = std::make_shared<const Tensor>(tensor);
  result.recipe = recipe;
  return result;
}

const Derived* derivation_of(const Tensor& tensor) {
  if (tensor.recipe == nullptr || tensor.recipe->source == nullptr) return nullptr;
  return &std::get<Derived>(tensor.recipe->steps.back());
}

Tensor computed(const Tensor& derived) {
  const Derived& step = *derivation_of(derived);
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(derived.byte_count()));
  step.how->put(step.part, *derived.recipe->source, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return Tensor::of_bytes(derived.dtype, derived.dims, bytes);
}

Tensor in_memory(const Tensor& tensor) {
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(tensor.byte_count()));
  put_pieces(*pieces_of(tensor), [&](std::span<const std::byte> piece, std::size_t) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return Tensor::of_bytes(tensor.dtype, tensor.dims, bytes);
}

namespace {

Tensor with_first_step(const Tensor& tensor, Step step) {
  Tensor result = tensor;
  auto recipe = tensor.recipe != nullptr
                    ? std::make_shared<Recipe>(*tensor.recipe)
                    : std::make_shared<Recipe>(Recipe{tensor.dtype, tensor.dims, {}, {}, nullptr});
  recipe->steps.insert(recipe->steps.begin(), std::move(step));
  result.recipe = std::move(recipe);
  return result;
}

}  // namespace

Tensor named(const Tensor& tensor, std::string weight) {
  return with_first_step(tensor, Named{std::move(weight)});
}

Tensor computed_by(const Tensor& tensor, std::shared_ptr<const Formula> formula) {
  return with_first_step(tensor, Computed{std::move(formula)});
}

Tensor shared_with(const Tensor& tensor, const Tensor& other) {
  Tensor result = tensor;
  result.recipe = extended(tensor, Shared{std::make_shared<const Tensor>(other)});
  return result;
}

bool has_origin(const Tensor& tensor) {
  if (tensor.recipe == nullptr || tensor.recipe->steps.empty()) return false;
  const Step& first = tensor.recipe->steps.front();
  return std::holds_alternative<Named>(first) || std::holds_alternative<Computed>(first);
}

Tensor source_type(const Tensor& tensor) {
  Tensor source;
  source.dtype = tensor.recipe != nullptr ? tensor.recipe->dtype : tensor.dtype;
  source.dims = tensor.recipe != nullptr ? tensor.recipe->dims : tensor.dims;
  return source;
}

Tensor rebuilt(const Tensor& made, Tensor source) {
  if (made.recipe == nullptr) return source;
  struct Follow {
    Tensor& tensor;
    void operator()(const Permuted& step) const { tensor = permuted(tensor, step.axes); }
    void operator()(const Shaped& step) const { tensor = with_dims(tensor, step.dims).value(); }
    void operator()(const Scaled& step) const { tensor = scaled(tensor, *step.scale); }
    void operator()(const CastWithOffset& step) const {
      tensor = cast_with_offset(tensor, step.dtype, step.by);
    }
    void operator()(const Derived& step) const { tensor = derived(tensor, step); }
    void operator()(const Named& step) const { tensor = named(tensor, step.weight); }
    // Of the old data alone.
    void operator()(const Computed&) const {}
    void operator()(const Shared&) const {}
  };
  for (const Step& step : made.recipe->steps) std::visit(Follow{source}, step);
  return source;
}

std::span<const std::byte> extent(const Tensor& tensor) {
  const std::int64_t width = base::bit_width(tensor.stored_dtype()) / 8;
  if (tensor.strides.empty())
    return {tensor.data, static_cast<std::size_t>(tensor.element_count() * width)};
  std::int64_t low = 0, high = 0;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    const std::int64_t reach = (tensor.dims[i] - 1) * tensor.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  return {tensor.data + low * width, static_cast<std::size_t>((high - low + 1) * width)};
}

void release_elements(const Tensor& tensor) {
  if (const ElementSource* const elements = element_source_of(tensor)) return elements->release();
  base::release_pages(extent(tensor));
}

void compute(const Tensor& tensor, std::int64_t first, std::span<double> values) {
  if (tensor.is_materialized()) return;
  for (const Computation& each : tensor.recipe->computations) {
    if (const auto* move = std::get_if<CastWithOffset>(&each.step)) {
      for (double& value : values) value += static_cast<double>(move->by);
      continue;
    }
    const ChannelScale& scale = *std::get<Scaled>(each.step).scale;
    if (row_major_strides(tensor.dims, each.strides)) {
      scale_in_order(scale, first, values);
      continue;
    }
    if (!tensor.dims.empty() && scale_by_rows(scale, tensor.dims, each.strides, first, values))
      continue;
    Numbering numbering(tensor.dims, each.strides, first);
    for (double& value : values) value *= scale.factors[scale.channel(numbering.next())];
  }
}

}  // namespace sardonyx::onnx
