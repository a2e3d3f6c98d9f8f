// Exports modules of libtorch, with the libtorch that the program is compiled with; Sardonyx's
// library itself knows none.
//
//   torch::jit::Module module = torch::jit::load("model.pt");
//   sardonyx::Model model = sardonyx::export_module(module, {torch::randn({1, 3, 224, 224})},
//                                                   {.dynamic = {{{0, "batch"}}}});
//   sardonyx::write(model, "model.onnx");
#pragma once

#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/script.h>

#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sardonyx/sardonyx.h"

namespace sardonyx {

struct ExportOptions {
  // For each input, which of its dimensions vary, and what they are called. Dimensions of one name
  // are one.
  std::vector<std::map<std::int64_t, std::string>> dynamic = {};
  ConvertOptions convert = {};
};

namespace libtorch {

inline std::string dtype_text(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    case at::kLong:
      return "int64";
    case at::kInt:
      return "int32";
    case at::kShort:
      return "int16";
    case at::kChar:
      return "int8";
    case at::kByte:
      return "uint8";
    case at::kBool:
      return "bool";
    case at::kComplexFloat:
      return "complex64";
    case at::kComplexDouble:
      return "complex128";
    default:
      return c10::toString(type);  // which the reader refuses by name
  }
}

// How ReadOptions::inputs says what a value is: "float32[batch,3]", "(int, [float32[2]])".
inline std::string type_text(const c10::IValue& value,
                             const std::map<std::int64_t, std::string>& dynamic = {}) {
  const auto joined = [](const auto& items, char open, char close) {
    std::string text(1, open);
    for (const c10::IValue& item : items) text += (text.size() > 1 ? ", " : "") + type_text(item);
    return text + close;
  };
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    std::string text = dtype_text(tensor.scalar_type()) + "[";
    for (std::int64_t i = 0; i < tensor.dim(); ++i) {
      const auto name = dynamic.find(i);
      text += (i == 0 ? "" : ",") +
              (name == dynamic.end() ? std::to_string(tensor.size(i)) : name->second);
    }
    return text + "]";
  }
  if (value.isInt()) return "int";
  if (value.isDouble()) return "float";
  if (value.isBool()) return "bool";
  if (value.isNone()) return "None";
  if (value.isString()) return '"' + value.toStringRef() + '"';
  if (value.isTuple()) return joined(value.toTupleRef().elements(), '(', ')');
  if (value.isList()) return joined(value.toListRef(), '[', ']');
  return value.tagKind();
}

// Parameters, buffers and submodules of a module of torch::nn, the same tensors.
inline torch::jit::Module mirrored(const torch::nn::Module& module, const std::string& name) {
  torch::jit::Module made("__torch__." + name);
  for (const auto& parameter : module.named_parameters(/*recurse=*/false))
    made.register_parameter(parameter.key(), parameter.value(), /*is_buffer=*/false);
  for (const auto& buffer : module.named_buffers(/*recurse=*/false))
    made.register_buffer(buffer.key(), buffer.value());
  for (const auto& child : module.named_children())
    made.register_module(child.key(), mirrored(*child.value(), name + "_" + child.key()));
  return made;
}

// What forward() of a module of torch::nn runs through on these inputs.
template <class Forward>
torch::jit::Module traced(const torch::nn::Module& module, const torch::jit::Stack& inputs,
                          const Forward& forward) {
  const torch::NoGradGuard no_grad;
  torch::jit::Module made = mirrored(module, "Traced");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i) names.push_back("input_" + std::to_string(i));
  const auto run = [&](torch::jit::Stack given) -> torch::jit::Stack { return {forward(given)}; };
  const auto graph = torch::jit::tracer::trace(
                         inputs, run, [](const at::Tensor&) { return ""; },
                         /*strict=*/true, /*force_outplace=*/false, &made, names)
                         .first->graph;
  const c10::QualifiedName name(*made.type()->name(), "forward");
  made.type()->addMethod(made._ivalue()->compilation_unit()->create_function(name, graph));
  return made;
}

// forward() of as many tensors as there are inputs.
template <class Net, std::size_t... Places>
auto call(Net& net, const torch::jit::Stack& given, std::index_sequence<Places...>)
    -> decltype(net.forward(given[Places].toTensor()...)) {
  return net.forward(given[Places].toTensor()...);
}

template <class Net, std::size_t Count = 1>
c10::IValue forward(Net& net, const torch::jit::Stack& given) {
  constexpr std::size_t kMax = 8;
  if constexpr (requires { call(net, given, std::make_index_sequence<Count>()); }) {
    if (given.size() == Count)
      return c10::IValue(call(net, given, std::make_index_sequence<Count>()));
  }
  if constexpr (Count < kMax) return forward<Net, Count + 1>(net, given);
  throw std::invalid_argument("forward() does not take " + std::to_string(given.size()) +
                              " tensors");
}

}  // namespace libtorch

// A scripted, traced or loaded module: its branches and loops stay, and so do the sizes that
// `dynamic` names. `inputs` are examples of which only types and sizes are read.
inline Model export_module(const torch::jit::Module& module, const std::vector<c10::IValue>& inputs,
                           const ExportOptions& options = {}) {
  const auto& arguments = module.get_method("forward").function().getSchema().arguments();
  if (inputs.size() >= arguments.size())
    throw std::invalid_argument("forward() does not take " + std::to_string(inputs.size()) +
                                " inputs");
  ReadOptions read;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    static const std::map<std::int64_t, std::string> kNone;
    const auto& dynamic = i < options.dynamic.size() ? options.dynamic[i] : kNone;
    read.inputs.push_back(arguments[i + 1].name() + ":" + libtorch::type_text(inputs[i], dynamic));
  }
  std::ostringstream archive;
  module.save(archive);
  return convert(read_archive(std::move(archive).str(), read), options.convert);
}

// A module of torch::nn, whose forward() takes tensors. It is traced: branches and loops of C++ are
// as the inputs take them.
template <class Net>
  requires std::is_base_of_v<torch::nn::Module, Net>
Model export_module(Net& net, const std::vector<c10::IValue>& inputs,
                    const ExportOptions& options = {}) {
  const auto forward = [&](const torch::jit::Stack& given) {
    return libtorch::forward(net, given);
  };
  return export_module(libtorch::traced(net, inputs, forward), inputs, options);
}

// The same of a holder, as TORCH_MODULE makes them.
template <class Net>
Model export_module(torch::nn::ModuleHolder<Net>& holder, const std::vector<c10::IValue>& inputs,
                    const ExportOptions& options = {}) {
  return export_module(*holder, inputs, options);
}

}  // namespace sardonyx
