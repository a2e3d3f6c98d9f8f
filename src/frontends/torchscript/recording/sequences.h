// Lists of tensors that differ in size, as values of the program: the stack of such a list is of
// kind kList.
#pragma once

#include "frontends/torchscript/recording/homogeneous_lists.h"

namespace sardonyx::torchscript {

class Body;

bool is_sequence(const program::Value* value);
// A list whose value it is.
bool is_sequence(const AbstractValue& list);

// What all of both have in common; `uneven` where that is less than all.
Element common_element(const Element& one, const Element& other);
Element element_of_sequence(const program::Value& list);

// Sizes that only the body tells are not known around it.
Element without_local_sizes(const Body& body, Element element);

// The elements of a list, stacked or not, as such a value.
program::Value* as_sequence(GraphRecorder& recorder, const Container& list, const Element& element);
// A tensor cut along an axis into parts of one length, of which the last may be shorter.
AbstractValue split_evenly(GraphRecorder& recorder, program::Value* tensor, symbolic::Expr length,
                           std::int64_t axis);

// What such a tensor is cut into where there are so many parts, of which a run makes sure. Nothing
// where it is no such list, or one that has so many for a few sizes alone.
std::optional<std::vector<AbstractValue>> cut_into(GraphRecorder& recorder,
                                                   const program::Value* list, std::int64_t count);

AbstractValue read_sequence(GraphRecorder& recorder, program::Value* list,
                            const AbstractValue& position);

// The operators on lists; refuses those that it does not know.
AbstractValue sequence_builtin(GraphRecorder& recorder, const Operands& operands);

}  // namespace sardonyx::torchscript
