// Operators on what is no tensor, by subject.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "frontends/torchscript/recording/graph_recorder.h"

namespace sardonyx::torchscript {

// Nothing where the arguments are not those that it takes: the operator may be one on tensors.
using Builtin = std::optional<AbstractValue> (*)(GraphRecorder& recorder, const Operands& operands);
using BuiltinTable = std::unordered_map<std::string_view, Builtin>;

void add_number_builtins(BuiltinTable& table);        // builtins/numbers.cpp
void add_logic_builtins(BuiltinTable& table);         // builtins/logic.cpp
void add_function_builtins(BuiltinTable& table);      // builtins/functions.cpp
void add_container_builtins(BuiltinTable& table);     // builtins/containers.cpp
void add_search_builtins(BuiltinTable& table);        // builtins/searches.cpp
void add_size_builtins(BuiltinTable& table);          // builtins/sizes.cpp
void add_tensor_builtins(BuiltinTable& table);        // builtins/tensors.cpp
void add_traced_builtins(BuiltinTable& table);        // builtins/traced.cpp
void add_text_builtins(BuiltinTable& table);          // builtins/strings.cpp
void add_packed_builtins(BuiltinTable& table);        // builtins/packed.cpp
void add_packed_layer_builtins(BuiltinTable& table);  // builtins/packed_layers.cpp
void add_quantized_builtins(BuiltinTable& table);     // builtins/quantized.cpp
void add_stack_builtins(BuiltinTable& table);         // builtins/lists.cpp

// c10::ScalarType's number.
std::int64_t number_of(base::DType dtype);
// A truth that is known, or symbolic.
AbstractValue of_condition(symbolic::Expr condition);
// A number that has to be known now: which element it is, say, decides what the program does.
std::int64_t known_integer(const AbstractValue& datum, const char* what);
// The length of a data-dependent string, for programs that ask whether there is a message: 1 or
// more, since numbers and tensors are never printed as "". `"%s" % text` may be: rejected.
AbstractValue length_of_message(GraphRecorder& recorder, const AbstractValue& message);
// The parts of a text that is known.
std::optional<AbstractValue> split_text(const Operands& operands);
// How often one text stands in another, one behind the other. PyTorch counts the empty one for
// ever.
std::optional<AbstractValue> count_in_text(const Operands& operands);
// Whether two known values are equal; nothing where that is data-dependent.
std::optional<AbstractValue> equality(GraphRecorder& recorder, const AbstractValue& left,
                                      const AbstractValue& right);
// Of complex numbers, or of one and another number.
std::optional<AbstractValue> complex_builtin(GraphRecorder& recorder, const Operands& operands);
// Of integers.
std::optional<AbstractValue> bits_and_or(GraphRecorder& recorder, const Operands& operands,
                                         bool conjunction);
AbstractValue negation(GraphRecorder& recorder, const AbstractValue& truth);

}  // namespace sardonyx::torchscript
