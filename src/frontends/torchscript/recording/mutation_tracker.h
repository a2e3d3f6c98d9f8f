// What the program has mutated: lists, dictionaries, attributes of modules, and tensors.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "frontends/torchscript/recording/weights.h"
#include "frontends/torchscript/values/abstract_value.h"
#include "program/ir/program.h"
#include "program/schema/schema.h"

namespace sardonyx::torchscript {

class MutationTracker {
 public:
  // A mutation of a list, a dictionary or an attribute, and what was there before.
  struct Write {
    std::shared_ptr<Container> held;
    Container before;
  };
  using UndoLog = std::vector<Write>;

  explicit MutationTracker(Weights& weights) : weights_(weights) {}

  // Before a list, a dictionary or an attribute changes.
  void before_write(const std::shared_ptr<Container>& held);
  // What is mutated until end_body() is also kept in `undo_log`.
  void begin_body(UndoLog& undo_log) { undo_logs_.push_back(&undo_log); }
  void end_body() { undo_logs_.pop_back(); }
  bool is_in_body() const { return !undo_logs_.empty(); }
  // What modules held before the program changed it, in the order of the first changes.
  const UndoLog& states() const { return states_; }

  // The list or dictionary may be another one, depending on data: neither may be mutated.
  void may_alias(const std::shared_ptr<Container>& held) { possible_aliases_.insert(held); }
  [[noreturn]] static void refuse_write_to_alias();

  // A list of tensors holds a copy of the tensor: a later mutation of it would have to show there.
  void copy_into_list(const program::Value* element);
  // Rejects a call that mutates a tensor whose copy is in a list.
  void check_write(const program::Schema& schema, const std::vector<program::Argument>& arguments);
  [[noreturn]] static void refuse_write_to_element(const std::string& op);
  // Whether the program has mutated the tensor, or what it is a view of.
  bool was_written(const program::Value* value) const;
  // Tensors whose copies are in lists, and those that were mutated, in order: both as those that
  // they are views of.
  const std::unordered_set<const program::Value*>& copied() const { return copied_; }
  const std::vector<const program::Value*>& written() const { return written_; }

 private:
  void keep_state(const std::shared_ptr<Container>& held);

  Weights& weights_;
  std::vector<UndoLog*> undo_logs_;
  UndoLog states_;
  std::unordered_set<const program::Value*> copied_;
  std::vector<const program::Value*> written_;
  std::unordered_set<std::shared_ptr<Container>> possible_aliases_;
};

// The tensor that it is a view of, of a view of, and so on; itself where it is none.
const program::Value* whole_of(const program::Value* value);

}  // namespace sardonyx::torchscript
