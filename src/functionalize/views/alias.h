// Which values share memory, and what that memory holds at this point of the program.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "functionalize/views/builder.h"
#include "functionalize/views/views.h"

namespace sardonyx::functionalize {

struct Memory;

// One way to look at a piece of memory: the whole of it, or a view made by a captured call.
//
// `value` is what was last known to be seen this way, `version` numbers it, and `parent_version` is
// the version of the parent that it was cut from.
struct Alias {
  Memory* memory = nullptr;
  Alias* parent = nullptr;     // null for the whole
  const Call* view = nullptr;  // the captured call that made it
  std::uint32_t output = 0;    // which output of the call
  ViewKind kind = ViewKind::kFresh;
  const Value* like = nullptr;  // the captured value: name, dtype, shape
  Value* value = nullptr;
  std::uint64_t version = 0;
  std::uint64_t parent_version = 0;
  // It was written to since its parent last took over what views of it hold.
  bool ahead = false;
  bool uniform = false;         // what was written is one number all over
  const Call* write = nullptr;  // the last write
};

// The memory of one tensor. `ahead` is a chain of aliases, each a view of the one before it, the
// first being the whole: the last one holds the newest elements of its part, the one before it the
// newest of its part but for that, and so on. A write thus costs an update of what it is a view of
// only when something else is read afterwards.
struct Memory {
  std::vector<Alias*> ahead;
  bool changed = false;  // written to, or seen with other sizes than captured
  bool written = false;  // its elements have changed
  const Call* first_write = nullptr;
  // Those that may alias it, depending on data: results of a branch or loop, and what they may be.
  std::vector<Memory*> kin;
  const Call* possible_write = nullptr;  // the first write to one of these
  bool is_reported = false;              // that something read it afterwards
};

bool may_be_one(const Memory* one, const Memory* other);

class Aliases {
 public:
  // Updates that cannot be expressed are added to `diagnostics`; the memory then stays as it was.
  Aliases(Builder& builder, std::vector<base::Diagnostic>& diagnostics)
      : builder_(builder), diagnostics_(diagnostics) {}

  // How `value` is seen; the whole of a memory of its own when it was never heard of.
  Alias* of(Value* value);
  // `value` is another name of `alias`.
  void bind(Value* value, Alias* alias) { known_[value] = alias; }
  Alias* add_view(Value* value, Alias* parent, const Call& call, std::uint32_t output,
                  ViewKind kind);

  // The value that a read of `value` at this point sees.
  Value* read(Value* value);
  // The same of an alias; makes the calls that cut it out of what it is a view of.
  Value* current(Alias* alias);
  // What `alias` shows is from now on `content`.
  void write(Alias* alias, Value* content, const Call& write, bool uniform = false);

  // The first write to the memory of `value`; null when its elements are as they were.
  const Call* write_to(const Value* value) const;
  // The two may alias, depending on data.
  void may_share(Value* value, Value* other);
  // From now on nothing can be read of the memory of `value`: `write` may have changed it, as data
  // decide.
  void note_possible_write(Value* value, const Call& write) {
    note_possible_write(*of(value)->memory, write);
  }
  const Call* possible_write_to(const Value* value) const;

  // What the whole memory that `value` started as holds now.
  Value* content(const Value* value);

  bool any_changed() const { return any_changed_; }
  void set_changed(Memory& memory);

 private:
  void catch_up(Alias* alias);
  void merge_last(Memory& memory);
  void note_possible_write(Memory& memory, const Call& write);
  void refuse_possibly_written(const Alias& alias);

  Builder& builder_;
  std::vector<base::Diagnostic>& diagnostics_;
  std::unordered_map<const Value*, Alias*> known_;
  std::deque<Alias> aliases_;
  std::deque<Memory> memories_;
  std::uint64_t versions_ = 0;
  bool any_changed_ = false;
};

}  // namespace sardonyx::functionalize
