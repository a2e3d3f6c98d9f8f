// The inputs and weights of the model.
#include <utility>

#include "aten/translation/translation.h"
#include "program/ir/naming.h"

namespace sardonyx::aten {
namespace {

// Complex tensors are stored as reals with a trailing pair.
template <class Dims>
Dims with_pair(Dims dims, bool complex) {
  if (complex) dims.emplace_back(2);
  return dims;
}

onnx::Tensor borrow(const program::Weight& weight) {
  const bool complex = base::is_complex(weight.dtype);
  onnx::Tensor tensor;
  tensor.dtype = base::real_of(weight.dtype);
  tensor.dims = with_pair(weight.shape, complex);
  tensor.strides = weight.strides;
  if (complex) {
    for (std::int64_t& stride : tensor.strides) stride *= 2;
    tensor.strides.push_back(1);
  }
  if (weight.storage && weight.storage->data) {
    tensor.data = weight.storage->data + base::byte_size(weight.dtype, weight.offset);
    tensor.owner = weight.storage->owner;
  }
  tensor.missing = !tensor.data && tensor.element_count() != 0;
  return tensor;
}

bool same_data(const program::Weight& a, const program::Weight& b) {
  return a.storage == b.storage && a.offset == b.offset && a.dtype == b.dtype &&
         a.shape == b.shape && a.strides == b.strides;
}

}  // namespace

void Translation::add_inputs() {
  const std::vector<std::string> names = program::input_names(program_, options_.input_names);
  std::size_t user_input = 0;
  // Before the weights: where an input and a weight have the same name, the input keeps it.
  for (const program::InputSpec& spec : program_.inputs) {
    if (spec.kind != program::InputKind::kUser) continue;
    const std::size_t position = user_input++;
    if (spec.value) add_user_input(spec, names.at(position));
  }
  for (const program::InputSpec& spec : program_.inputs) {
    if (spec.kind == program::InputKind::kUser) continue;
    if (spec.value && spec.value->weight) add_weight(spec);
  }
  // A dim that is a symbol alone says what the symbol is; compound dims are solved for afterwards.
  for (const bool plain : {true, false}) {
    for (const program::InputSpec& spec : program_.inputs) {
      if (spec.kind != program::InputKind::kUser || !spec.value) continue;
      if (spec.value->kind != program::ValueKind::kTensor) continue;
      const Value input = environment_.at(spec.value);
      for (std::size_t axis = 0; axis < spec.value->shape.size(); ++axis) {
        const Expr dim = spec.value->shape[axis];
        if (dim.known() && !dim.is_constant() && dim.is_symbol() == plain) {
          emit_.add_size_source(input, static_cast<std::int64_t>(axis), dim);
        }
      }
    }
  }
}

void Translation::add_user_input(const program::InputSpec& spec, const std::string& name) {
  const program::Value& captured = *spec.value;
  Value input = model_->add_input(model_->graph, name);
  switch (captured.kind) {
    case program::ValueKind::kTensor: {
      const bool complex = base::is_complex(captured.dtype);
      input->is_complex = complex;
      emit_.set_type(input, base::real_of(captured.dtype), with_pair(captured.shape, complex));
      break;
    }
    case program::ValueKind::kFloat:
      emit_.set_type(input, DType::kFloat32, {});
      emit_.add_size_source(input, captured.expr);
      break;
    case program::ValueKind::kBool:
      emit_.set_type(input, DType::kBool, {});
      emit_.add_size_source(input, captured.expr);
      break;
    default:
      emit_.set_type(input, DType::kInt64, {});
      emit_.add_size_source(input, captured.expr);
      break;
  }
  environment_[&captured] = input;
}

void Translation::add_weight(const program::InputSpec& spec) {
  const program::Weight& weight = *spec.value->weight;
  // Tied weights are one initializer, under the name that comes first. Weights without data are
  // told apart by name.
  if (weight.storage && weight.storage->data) {
    std::vector<const program::Value*>& sharing = weights_by_storage_[weight.storage];
    for (const program::Value* earlier : sharing) {
      if (!same_data(*earlier->weight, weight)) continue;
      environment_[spec.value] = environment_.at(earlier);
      return;
    }
    sharing.push_back(spec.value);
  }
  Value value = model_->add_weight(spec.target, borrow(weight));
  value->is_complex = base::is_complex(weight.dtype);
  environment_[spec.value] = value;
}

}  // namespace sardonyx::aten
