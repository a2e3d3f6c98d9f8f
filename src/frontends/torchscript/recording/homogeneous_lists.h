// Lists with a data-dependent length: their elements are of one type, stacked in a tensor.
#pragma once

#include "frontends/torchscript/recording/graph_recorder.h"

namespace sardonyx::torchscript {

// What the elements of a list have in common.
struct Element {
  AbstractValue::Kind kind = AbstractValue::Kind::kTensor;
  base::DType dtype = base::DType::kUndefined;
  std::vector<symbolic::Expr> shape;  // unknown where elements differ, or may
  bool uneven = false;                // they do: the list is a value of its own, not a tensor
};

// Of a list that has an element. Refused where they are not of one type and rank.
Element element_of(GraphRecorder& recorder, const Container& list);

// The elements as one tensor, an empty one where there are none; as a list where they are uneven.
program::Value* stacked(GraphRecorder& recorder, const Container& list, const Element& element);

// A new list of these elements.
AbstractValue of_stack(program::Value* stack, AbstractValue::Kind element);

// The list becomes one of these elements, whoever holds it.
void become(Container& list, program::Value* stack, AbstractValue::Kind element);

// The element at a position that may be symbolic; a negative one that is known counts from the end.
AbstractValue read_stack(GraphRecorder& recorder, const AbstractValue& list,
                         const AbstractValue& position);

}  // namespace sardonyx::torchscript
