// What two branches leave in the same place, as one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontends/torchscript/recording/body.h"
#include "frontends/torchscript/recording/homogeneous_lists.h"

namespace sardonyx::torchscript {

// The variable of what a function returns, where branches hold all of it that stands behind them.
inline constexpr const char* kResult = "(result)";

class Merge {
 public:
  // Containers that were made in the branches have greater serials than `first_serial`.
  Merge(GraphRecorder& recorder, program::Call& call, Body& first, Body& second,
        std::uint64_t first_serial, bool ranks_may_differ);

  AbstractValue merge(const AbstractValue& left, const AbstractValue& right,
                      const std::string& name);

  // Of a list that is of different lengths after the branches.
  void lists(const Container& left, const Container& right, Container& made);

  // Results that stand for numbers.
  std::vector<program::Value*> pending;
  // Containers that differ after the branches, and what stands for both.
  struct Pair {
    std::shared_ptr<Container> left, right;
    AbstractValue made;
  };
  std::vector<Pair> pairs;

 private:
  Element element_of_both(const Container& left, const Container& right);
  program::Value* stack_in(Body& body, const Container& list, const Element& element);
  [[noreturn]] void refuse(const AbstractValue& left, const AbstractValue& right,
                           const std::string& name);
  // What only one branch gives is read only where it was taken. What was there before the branch
  // stays what it is, so that writes to it show.
  AbstractValue with_nothing(const AbstractValue& given, const Body& from, Body& body,
                             const std::string& name, bool is_left);
  static bool is_list(const AbstractValue& datum);
  AbstractValue stand_in(const AbstractValue& other, const Body& from, Body& body);
  AbstractValue optionals(const AbstractValue& left, const AbstractValue& right,
                          const std::string& name);
  program::Value* output(program::Value* left, program::Value* right, const std::string& name);
  // Of tensors whose rank the branches decide, and nothing asks for.
  static program::Value* without_rank(const AbstractValue& datum);
  AbstractValue tensors(const AbstractValue& left, const AbstractValue& right,
                        const std::string& name);
  AbstractValue numbers(const AbstractValue& left, const AbstractValue& right,
                        const std::string& name);
  // What is one list after the branches is one behind them, too.
  AbstractValue containers(const AbstractValue& left, const AbstractValue& right,
                           const std::string& name);
  // They hold what the branches left in them.
  AbstractValue new_container(const AbstractValue& left, const AbstractValue& right,
                              const std::string& name);

  GraphRecorder& recorder_;
  program::Call& call_;
  Body& first_;
  Body& second_;
  std::uint64_t first_serial_;
  bool ranks_may_differ_;
};

}  // namespace sardonyx::torchscript
