#include "functionalize/writes.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace sardonyx::functionalize {
namespace {

using program::Call;
using program::Parameter;
using program::Schema;
using program::Value;

struct Special {
  WriteKind kind;
  std::string_view form;  // where the name does not follow from dropping the underscore
};

const std::unordered_map<std::string_view, Special>& specials() {
  using enum WriteKind;
  static const std::unordered_map<std::string_view, Special> kTable = {
      {"aten::fill_.Scalar", {kFill, ""}},
      {"aten::fill_.Tensor", {kFill, ""}},
      {"aten::zero_", {kFill, ""}},
      {"aten::_no_grad_fill_", {kFill, ""}},
      {"aten::_no_grad_zero_", {kFill, ""}},
      {"aten::copy_", {kCopy, ""}},
      {"aten::copy_.Tensor", {kCopy, ""}},
      {"aten::copy_.int", {kFill, ""}},
      {"aten::copy_.float", {kFill, ""}},
      {"prims::copy_to", {kCopy, ""}},
      {"aten::fill_diagonal_", {kFillDiagonal, ""}},
      {"aten::requires_grad_", {kNothing, ""}},
      {"aten::detach_", {kNothing, ""}},
      {"aten::retain_grad", {kNothing, ""}},
      {"aten::resize_", {kResize, ""}},
      {"aten::resize_as_", {kResize, ""}},
      {"aten::set_.source_Tensor", {kReplace, ""}},
      {"aten::set_data", {kReplace, ""}},
      {"aten::t_", {kMetadata, "aten::t"}},
      {"aten::transpose_", {kMetadata, "aten::transpose.int"}},
      {"aten::swapaxes_", {kMetadata, "aten::swapaxes"}},
      {"aten::swapdims_", {kMetadata, "aten::swapdims"}},
      {"aten::squeeze_", {kMetadata, "aten::squeeze"}},
      {"aten::squeeze_.dim", {kMetadata, "aten::squeeze.dim"}},
      {"aten::squeeze_.dims", {kMetadata, "aten::squeeze.dims"}},
      {"aten::unsqueeze_", {kMetadata, "aten::unsqueeze"}},
      {"aten::as_strided_", {kMetadata, "aten::as_strided"}},
      {"aten::__iand__.Scalar", {kInPlace, "aten::__and__.Scalar"}},
      {"aten::__iand__.Tensor", {kInPlace, "aten::__and__.Tensor"}},
      {"aten::__ior__.Scalar", {kInPlace, "aten::__or__.Scalar"}},
      {"aten::__ior__.Tensor", {kInPlace, "aten::__or__.Tensor"}},
      {"aten::__ixor__.Scalar", {kInPlace, "aten::__xor__.Scalar"}},
      {"aten::__ixor__.Tensor", {kInPlace, "aten::__xor__.Tensor"}},
      {"aten::__ilshift__.Scalar", {kInPlace, "aten::__lshift__.Scalar"}},
      {"aten::__ilshift__.Tensor", {kInPlace, "aten::__lshift__.Tensor"}},
      {"aten::__irshift__.Scalar", {kInPlace, "aten::__rshift__.Scalar"}},
      {"aten::__irshift__.Tensor", {kInPlace, "aten::__rshift__.Tensor"}},
      {"aten::pow_.Scalar", {kInPlace, "aten::pow.Tensor_Scalar"}},
      {"aten::pow_.Tensor", {kInPlace, "aten::pow.Tensor_Tensor"}},
      {"aten::float_power_.Scalar", {kInPlace, "aten::float_power.Tensor_Scalar"}},
      {"aten::float_power_.Tensor", {kInPlace, "aten::float_power.Tensor_Tensor"}},
      {"aten::floor_divide_.Tensor", {kInPlace, "aten::floor_divide"}},
      {"aten::ldexp_", {kInPlace, "aten::ldexp.Tensor"}},
      {"aten::bernoulli_.float", {kInPlace, "aten::bernoulli.p"}},
      {"aten::normal_", {kInPlace, "aten::normal_functional"}},
      {"aten::_no_grad_normal_", {kInPlace, "aten::normal_functional"}},
      {"aten::_no_grad_uniform_", {kInPlace, "aten::uniform"}},
      {"aten::_index_put_impl_", {kInPlace, "aten::index_put"}},
      {"aten::_index_put_impl_.hacked_twin", {kInPlace, "aten::index_put.hacked_twin"}},
      {"aten::_native_batch_norm_legit",
       {kFunctional, "aten::_native_batch_norm_legit_functional"}},
      {"aten::_batch_norm_with_update", {kFunctional, "aten::_batch_norm_with_update_functional"}},
      {"aten::_fused_moving_avg_obs_fq_helper",
       {kFunctional, "aten::_fused_moving_avg_obs_fq_helper_functional"}},
      {"aten::rrelu_with_noise", {kFunctional, "aten::rrelu_with_noise_functional"}},
      {"aten::batch_norm", {kBatchNorm, "aten::_native_batch_norm_legit_functional"}},
      {"aten::native_batch_norm", {kBatchNorm, "aten::_native_batch_norm_legit_functional"}},
      {"aten::cudnn_batch_norm", {kBatchNorm, "aten::_native_batch_norm_legit_functional"}},
      {"aten::instance_norm", {kBatchNorm, ""}},
  };
  return kTable;
}

std::vector<std::size_t> written_parameters(const Schema& schema) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < schema.parameters.size(); ++i) {
    if (schema.parameters[i].alias.is_write) positions.push_back(i);
  }
  return positions;
}

bool same_parameter(const Parameter& a, const Parameter& b) {
  return a.name == b.name && a.type.kind == b.type.kind && a.type.list_depth == b.type.list_depth;
}

// The form without the underscore takes the same parameters; the first may have another name.
const Schema* in_place_form(const Schema& schema) {
  const std::string_view base = schema.name;
  if (!base.ends_with('_')) return nullptr;
  std::string name(base.substr(0, base.size() - 1));
  if (!schema.overload.empty()) name += "." + schema.overload;
  const Schema* form = program::find_schema(name);
  if (!form || form->mutates()) return nullptr;
  for (const Parameter& parameter : form->parameters) {
    const bool found = schema.find(parameter.name).has_value();
    if (!found && &parameter != &form->parameters.front()) return nullptr;
  }
  return form;
}

// What the tensors that operators create are like; with out= that says it.
bool is_creation_option(const Parameter& parameter) {
  const std::string_view name = parameter.name;
  return name == "dtype" || name == "layout" || name == "device" || name == "pin_memory";
}

// Whether the form takes the same parameters but for those written to; `more` creation options.
bool takes_the_same(const Schema& form, const Schema& schema, bool more) {
  std::size_t next = 0;
  for (const Parameter& parameter : schema.parameters) {
    if (parameter.alias.is_write) continue;
    if (next >= form.parameters.size() || !same_parameter(parameter, form.parameters[next]))
      return false;
    ++next;
  }
  while (more && next < form.parameters.size() && is_creation_option(form.parameters[next])) ++next;
  return next == form.parameters.size();
}

const Schema* out_form(const Schema& schema, bool more) {
  const std::string prefix = schema.name;
  for (const std::string_view text : program::known_schemas()) {
    if (!text.starts_with(prefix)) continue;
    const std::size_t end = text.find('(');
    const std::string_view name = text.substr(0, end);
    if (name.size() != prefix.size() && name[prefix.size()] != '.') continue;
    const Schema* form = program::find_schema(name);
    if (form && !form->mutates() && takes_the_same(*form, schema, more)) return form;
  }
  return nullptr;
}

// "aten::add.out": the overload that takes the same parameters but for those written to.
const Schema* out_form(const Schema& schema) {
  const Schema* form = out_form(schema, false);
  return form ? form : out_form(schema, true);
}

const std::unordered_set<std::string_view>& comparisons() {
  static const std::unordered_set<std::string_view> kNames = {
      "eq",         "ne",          "lt",         "le",
      "gt",         "ge",          "greater",    "greater_equal",
      "less",       "less_equal",  "not_equal",  "logical_and",
      "logical_or", "logical_xor", "logical_not"};
  return kNames;
}

// Their operands are brought to a common type first.
const std::unordered_set<std::string_view>& promoting() {
  static const std::unordered_set<std::string_view> kNames = {"add",
                                                              "sub",
                                                              "subtract",
                                                              "mul",
                                                              "multiply",
                                                              "div",
                                                              "divide",
                                                              "true_divide",
                                                              "floor_divide",
                                                              "remainder",
                                                              "fmod",
                                                              "pow",
                                                              "atan2",
                                                              "arctan2",
                                                              "hypot",
                                                              "xlogy",
                                                              "logaddexp",
                                                              "logaddexp2",
                                                              "gcd",
                                                              "lcm",
                                                              "bitwise_and",
                                                              "bitwise_or",
                                                              "bitwise_xor",
                                                              "bitwise_left_shift",
                                                              "bitwise_right_shift",
                                                              "__and__",
                                                              "__or__",
                                                              "__xor__",
                                                              "__lshift__",
                                                              "__rshift__",
                                                              "addcmul",
                                                              "addcdiv",
                                                              "clamp",
                                                              "clip",
                                                              "clamp_min",
                                                              "clamp_max",
                                                              "copysign",
                                                              "heaviside",
                                                              "nextafter",
                                                              "igamma",
                                                              "igammac",
                                                              "ldexp"};
  return kNames;
}

}  // namespace

WriteRule write_rule(const Schema& schema) {
  WriteRule rule;
  rule.written = written_parameters(schema);
  const auto special = specials().find(schema.qualified());
  if (special != specials().end()) {
    rule.kind = special->second.kind;
    if (!special->second.form.empty()) rule.form = program::find_schema(special->second.form);
    return rule;
  }
  if (rule.written.empty()) return rule;
  const bool lists = schema.parameters[rule.written.front()].type.list_depth > 0;
  if (const Schema* form = in_place_form(schema)) {
    rule.form = form;
    rule.kind = lists ? WriteKind::kForeach : WriteKind::kInPlace;
  } else if (const Schema* other = out_form(schema)) {
    rule.form = other;
    rule.kind = WriteKind::kOut;
  } else {
    rule.kind = WriteKind::kNoForm;
  }
  return rule;
}

base::DType result_dtype(const Schema& form, const Call& call, const Value& self) {
  const std::string_view name = form.base_name();
  if (comparisons().contains(name)) return base::DType::kBool;
  if (name == "float_power") {
    return base::is_complex(self.dtype) ? base::DType::kComplex128 : base::DType::kFloat64;
  }
  base::DType result = self.dtype;
  if (!promoting().contains(name)) return result;
  for (const program::Argument& argument : call.arguments) {
    Value* const* other = argument.get<Value*>();
    if (!other || !*other || *other == &self) continue;
    if ((*other)->kind != program::ValueKind::kTensor) continue;
    // A 0-d operand of the same category gives way; one of a higher category PyTorch refuses.
    if ((*other)->rank() == 0 && self.rank() > 0) continue;
    result = base::promote(result, (*other)->dtype);
  }
  return result;
}

base::DType out_dtype(const Schema& form, const Call& call, const WriteRule& rule,
                      const Value& out) {
  const std::string_view name = form.base_name();
  if (comparisons().contains(name)) return base::DType::kBool;
  if (!promoting().contains(name)) return out.dtype;
  const Value* first = nullptr;
  for (std::size_t i = 0; i < call.arguments.size() && !first; ++i) {
    if (std::find(rule.written.begin(), rule.written.end(), i) != rule.written.end()) continue;
    if (Value* const* value = call.arguments[i].get<Value*>()) first = *value;
  }
  if (!first) return out.dtype;
  base::DType result = first->dtype;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (std::find(rule.written.begin(), rule.written.end(), i) != rule.written.end()) continue;
    Value* const* other = call.arguments[i].get<Value*>();
    if (!other || !*other || (*other)->kind != program::ValueKind::kTensor) continue;
    const bool weaker = (*other)->rank() == 0 && first->rank() > 0;
    if (!weaker) result = base::promote(result, (*other)->dtype);
  }
  // Quotients and numbers with a point make integers floating.
  const bool exact = base::is_integer(result) || result == base::DType::kBool;
  return exact && base::is_floating(out.dtype) ? out.dtype : result;
}

}  // namespace sardonyx::functionalize
