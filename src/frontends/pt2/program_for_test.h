// A small saved program for tests: y = relu(x @ w.T + b), max over its last dimension.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/temporary_folder.h"
#include "frontends/archive/archive_for_test.h"

namespace sardonyx::pt2 {

using archive::ArchiveForTest;
using archive::packed;

// clang-format off
inline const std::string kModelForTest = R"JSON({
"graph_module": {
 "graph": {
  "inputs": [{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "p_tied"}},
             {"as_tensor": {"name": "b_b"}}, {"as_tensor": {"name": "x"}}, {"as_int": 3}],
  "outputs": [{"as_tensor": {"name": "relu"}}, {"as_tensor": {"name": "getitem"}},
              {"as_sym_int": {"as_name": "mul"}}, {"as_none": true}],
  "nodes": [
   {"target": "torch.ops.aten.linear.default", "name": "linear",
    "inputs": [{"name": "input", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
               {"name": "weight", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1},
               {"name": "bias", "arg": {"as_tensor": {"name": "b_b"}}, "kind": 1}],
    "outputs": [{"as_tensor": {"name": "linear"}}],
    "metadata": {
     "nn_module_stack": "L__self__,,my.Model;L__self___layers_slice(None, 2),layers.slice(None, 2).fc,torch.nn.modules.linear.Linear",
     "stack_trace": "  File \"/home/me/model.py\", line 7, in forward\n    return x"}},
   {"target": "torch.ops.aten.relu.default", "name": "relu",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "linear"}}, "kind": 1}],
    "outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}},
   {"target": "torch.ops.aten.max.dim", "name": "max_1",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "relu"}}, "kind": 1},
               {"name": "dim", "arg": {"as_int": -1}, "kind": 1}],
    "outputs": [{"as_tensor": {"name": "getitem"}}, {"as_tensor": {"name": "max_1_unused_1"}}],
    "metadata": {}},
   {"target": "torch.ops.aten.sym_size.int", "name": "sym_size",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
               {"name": "dim", "arg": {"as_int": 0}, "kind": 1}],
    "outputs": [{"as_sym_int": {"as_name": "sym_size"}}], "metadata": {}},
   {"target": "_operator.mul", "name": "mul",
    "inputs": [{"name": "a", "arg": {"as_sym_int": {"as_name": "sym_size"}}, "kind": 1},
               {"name": "b", "arg": {"as_int": 2}, "kind": 1}],
    "outputs": [{"as_sym_int": {"as_name": "mul"}}], "metadata": {}},
   {"target": "torch.ops.higher_order.cond", "name": "cond",
    "inputs": [{"name": "", "arg": {"as_tensor": {"name": "b_b"}}, "kind": 1},
               {"name": "", "arg": {"as_graph": {"name": "true_graph_0", "graph": {
                 "inputs": [{"as_tensor": {"name": "x"}}, {"as_int": 1}],
                 "outputs": [{"as_tensor": {"name": "relu"}}],
                 "nodes": [{"target": "torch.ops.aten.relu.default", "name": "relu",
                   "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}],
                   "outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}}],
                 "tensor_values": {
                  "x": {"dtype": 7, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}]},
                  "relu": {"dtype": 7, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}]}},
                 "sym_int_values": {}, "sym_bool_values": {}}}}, "kind": 1},
               {"name": "", "arg": {"as_string": "false"}, "kind": 1},
               {"name": "", "arg": {"as_optional_tensors": [{"as_tensor": {"name": "x"}},
                 {"as_none": true}]}, "kind": 1}],
    "outputs": [{"as_tensor": {"name": "cond_unused_0"}}], "metadata": {},
    "is_hop_single_tensor_return": false}],
  "tensor_values": {
   "p_w": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}],
           "strides": [{"as_int": 3}, {"as_int": 1}]},
   "p_tied": {"dtype": 7, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}]},
   "b_b": {"dtype": 7, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}]},
   "x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str":
           "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 4}}}, {"as_int": 3}],
         "strides": [{"as_int": 3}, {"as_int": 1}]},
   "linear": {"dtype": 7, "sizes": [{"as_expr": {"expr_str":
                "Symbol('s0', positive=True, integer=True)"}}, {"as_int": 2}],
              "strides": [{"as_int": 2}, {"as_int": 1}]},
   "relu": {"dtype": 7, "sizes": [{"as_expr": {"expr_str":
              "Symbol('s0', positive=True, integer=True)"}}, {"as_int": 2}],
            "strides": [{"as_int": 2}, {"as_int": 1}]},
   "getitem": {"dtype": 7, "sizes": [{"as_expr": {"expr_str":
                 "Symbol('s0', positive=True, integer=True)"}}], "strides": [{"as_int": 1}]},
   "max_1_unused_1": {"dtype": 5, "sizes": [{"as_expr": {"expr_str":
                        "Symbol('s0', positive=True, integer=True)"}}],
                      "strides": [{"as_int": 1}]},
   "cond_unused_0": {"dtype": 7, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}]}},
  "sym_int_values": {
   "sym_size": {"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)",
                            "hint": {"as_int": 4}}},
   "mul": {"as_expr": {"expr_str":
             "Mul(Integer(2), Symbol('s0', positive=True, integer=True))"}}},
  "sym_bool_values": {}, "is_single_tensor_return": false, "custom_obj_values": {},
  "sym_float_values": {}},
 "signature": {
  "input_specs": [
   {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "fc.weight"}},
   {"parameter": {"arg": {"name": "p_tied"}, "parameter_name": "row"}},
   {"buffer": {"arg": {"name": "b_b"}, "buffer_name": "fc.bias", "persistent": false}},
   {"user_input": {"arg": {"as_tensor": {"name": "x"}}}},
   {"constant_input": {"name": "k", "value": {"as_int": 3}}}],
  "output_specs": [
   {"user_output": {"arg": {"as_tensor": {"name": "relu"}}}},
   {"user_output": {"arg": {"as_tensor": {"name": "getitem"}}}},
   {"user_output": {"arg": {"as_sym_int": {"as_name": "mul"}}}},
   {"user_output": {"arg": {"as_none": true}}}]},
 "module_call_graph": [{"fqn": "", "signature": {"inputs": [], "outputs": [],
   "in_spec": "[1, {}]", "out_spec": "[1, {}]", "forward_arg_names": ["x", "k"]}}],
 "metadata": {}, "treespec_namedtuple_fields": {}},
"opset_version": {"aten": 10},
"range_constraints": {"s0": {"min_val": 2, "max_val": 64}},
"schema_version": {"major": 8, "minor": 20}, "torch_version": "2.13.0+cpu", "guards_code": []
})JSON";

inline const std::string kWeightsForTest = R"JSON({"config": {
 "fc.weight": {"path_name": "weight_0", "is_param": true, "use_pickle": false, "tensor_meta":
  {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], "strides": [{"as_int": 3}, {"as_int": 1}],
   "storage_offset": {"as_int": 0}, "layout": 7}},
 "row": {"path_name": "weight_0", "is_param": true, "use_pickle": false, "tensor_meta":
  {"dtype": 7, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}],
   "storage_offset": {"as_int": 3}, "layout": 7}}}})JSON";

inline const std::string kConstantsForTest = R"JSON({"config": {
 "fc.bias": {"path_name": "tensor_0", "is_param": false, "use_pickle": false, "tensor_meta":
  {"dtype": 7, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}],
   "storage_offset": {"as_int": 0}, "layout": 7}}}})JSON";

// clang-format on

inline std::string floats_for_test(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(i) + 0.5F;
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

inline ArchiveForTest program_archive(const std::string& model, const std::string& weights,
                                      const std::string& constants) {
  ArchiveForTest archive;
  archive.add("m/data/weights/weight_0", floats_for_test(6));
  archive.add("m/data/weights/model_weights_config.json", weights);
  archive.add("m/data/constants/tensor_0", floats_for_test(2));
  archive.add("m/data/constants/model_constants_config.json", constants);
  archive.add("m/models/model.json", model);
  archive.add("m/byteorder", "little");
  return archive;
}

// A file that is gone when the test is.
class FileForTest {
 public:
  explicit FileForTest(const std::string& bytes) : path_(folder_ / "program.pt2") {
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  base::TemporaryFolder folder_;
  std::filesystem::path path_;
};

}  // namespace sardonyx::pt2
