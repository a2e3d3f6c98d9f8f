// What a user says of one input of a program: "x:float32[batch,3]", "n:int", "n=3",
// "state:(float32[2,n], [int64[]], {\"mask\": bool[n]})"; and of an example whose rows do not lie
// one behind the other, what front ends add, size and stride of each dimension:
// "x:float32[n,4]@[5:1,4:5]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::torchscript {

struct InputType {
  enum class Kind {
    kTensor,    // element: "float32", or "quint8" of a quantized one; dims
    kInt,       // a number that varies
    kFloat,     // the same
    kDouble,    // the same, of which the model takes a tensor of float64
    kBool,      // the same
    kConstant,  // element: "None", "True", "3", "0.5", "text"
    kWeight,    // element: the name of a tensor that the caller has, a parameter's default
    kText,      // element, which was quoted: any string
    kTuple,     // items
    kList,      // items
    kDict,      // keys and items
  };

  Kind kind = Kind::kTensor;
  std::string element;
  std::vector<std::string> dims;    // "batch", "3"
  std::vector<bool> dim_is_quoted;  // a name, though it may look like a number
  // Scale and zero point of a quantized tensor are float64 and int64, as the older exporter has
  // them: "quint8[n]@double".
  bool has_wide_parts = false;
  // Of the example, for each dimension; none where it is contiguous or not known.
  std::vector<std::string> example_sizes, example_strides;
  std::vector<InputType> items;
  std::vector<InputType> keys;     // constants
  std::vector<std::string> names;  // of a named tuple's items
};

struct NamedInputType {
  std::string name;
  InputType type;
};

// Throws SX1122.
NamedInputType parse_input_type(std::string_view text);

// SX1122 with the help that says how inputs are written.
[[noreturn]] void refuse_input(const std::string& what);

}  // namespace sardonyx::torchscript
