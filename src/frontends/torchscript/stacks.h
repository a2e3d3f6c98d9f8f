// Lists whose length only a run tells: their elements are of one type, stacked in a tensor.
#pragma once

#include "frontends/torchscript/follower.h"

namespace sardonyx::torchscript {

// What the elements of a list have in common.
struct Element {
  Datum::Kind kind = Datum::Kind::kTensor;
  base::DType dtype = base::DType::kUndefined;
  std::vector<symbolic::Expr> shape;  // unknown where elements differ, or may
  bool uneven = false;                // they do: the list is a value of its own, not a tensor
};

// Of a list that has an element. Refused where they are not of one type and rank.
Element element_of(Follower& follower, const Container& list);

// The elements as one tensor, an empty one where there are none; as a list where they are uneven.
program::Value* stacked(Follower& follower, const Container& list, const Element& element);

// A new list of these elements.
Datum of_stack(program::Value* stack, Datum::Kind element);

// The list becomes one of these elements, whoever holds it.
void become(Container& list, program::Value* stack, Datum::Kind element);

// The element at a position that may be symbolic; a negative one that is known counts from the end.
Datum read_stack(Follower& follower, const Datum& list, const Datum& position);

}  // namespace sardonyx::torchscript
