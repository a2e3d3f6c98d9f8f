#include "functionalize/views/alias.h"

#include <algorithm>

#include "functionalize/views/rebuild.h"
#include "functionalize/views/refusal.h"

namespace sardonyx::functionalize {

Alias* Aliases::of(Value* value) {
  Alias*& alias = known_[value];
  if (alias) return alias;
  Memory* memory = &memories_.emplace_back();
  alias = &aliases_.emplace_back();
  alias->memory = memory;
  alias->like = value;
  alias->value = value;
  alias->version = ++versions_;
  alias->ahead = true;
  memory->ahead.push_back(alias);
  return alias;
}

Alias* Aliases::add_view(Value* value, Alias* parent, const Call& call, std::uint32_t output,
                         ViewKind kind) {
  Alias* alias = &aliases_.emplace_back();
  alias->memory = parent->memory;
  alias->parent = parent;
  alias->view = &call;
  alias->output = output;
  alias->kind = kind;
  alias->like = value;
  alias->value = value;
  alias->version = ++versions_;
  alias->parent_version = parent->version;
  known_[value] = alias;
  return alias;
}

void Aliases::set_changed(Memory& memory) {
  memory.changed = true;
  any_changed_ = true;
}

Value* Aliases::read(Value* value) {
  if (!any_changed_ || !value || value->kind != program::ValueKind::kTensor) return value;
  const auto found = known_.find(value);
  if (found == known_.end()) return value;
  refuse_possibly_written(*found->second);
  return found->second->memory->changed ? current(found->second) : value;
}

bool may_be_one(const Memory* one, const Memory* other) {
  return one == other || (one && other && std::ranges::find(one->kin, other) != one->kin.end());
}

void Aliases::may_share(Value* value, Value* other) {
  Memory* const own = of(value)->memory;
  const auto link = [&](Memory* each) {
    if (may_be_one(own, each)) return;
    own->kin.push_back(each);
    each->kin.push_back(own);
  };
  const std::vector<Memory*> further = of(other)->memory->kin;
  link(of(other)->memory);
  for (Memory* each : further) link(each);
}

void Aliases::note_possible_write(Memory& memory, const Call& write) {
  if (!memory.possible_write) memory.possible_write = &write;
  any_changed_ = true;
}

const Call* Aliases::possible_write_to(const Value* value) const {
  const auto found = known_.find(value);
  return found == known_.end() ? nullptr : found->second->memory->possible_write;
}

void Aliases::refuse_possibly_written(const Alias& alias) {
  Memory& memory = *alias.memory;
  if (!memory.possible_write || memory.is_reported) return;
  memory.is_reported = true;
  diagnostics_.push_back(diagnostic_at(*memory.possible_write, "SX1708",
                                       memory.possible_write->schema->qualified() +
                                           " writes to what may be '" + alias.like->name +
                                           "', depending on data, which is read afterwards",
                                       "write to a clone of it"));
}

const Call* Aliases::write_to(const Value* value) const {
  const auto found = known_.find(value);
  return found == known_.end() ? nullptr : found->second->memory->first_write;
}

Value* Aliases::content(const Value* value) {
  return current(known_.at(value)->memory->ahead.front());
}

// Merges until the last alias that is ahead is `alias` or something it is a view of.
void Aliases::catch_up(Alias* alias) {
  Memory& memory = *alias->memory;
  const auto sees = [&](const Alias* last) {
    for (const Alias* each = alias; each; each = each->parent) {
      if (each == last) return true;
    }
    return false;
  };
  while (memory.ahead.size() > 1 && !sees(memory.ahead.back())) merge_last(memory);
}

// What the last alias holds goes into what it is a view of.
void Aliases::merge_last(Memory& memory) {
  Alias* last = memory.ahead.back();
  memory.ahead.pop_back();
  last->ahead = false;
  Alias* overlapping = last;
  while (overlapping && (overlapping == last || !has_overlaps(*overlapping)))
    overlapping = overlapping->parent;
  const bool by_number = overlapping && (last->uniform || is_injective(*last->like));
  Alias* base = by_number ? overlapping->parent : last->parent;
  base->write = last->write;  // also of what cannot be put back, for what base is a view of
  try {
    if (by_number) {
      Value* before = current(base);
      base->value = updated_by_number(builder_, *last, *base, before);
      base->uniform = false;
    } else {
      Value* before = replaces_all(*last) ? nullptr : current(base);
      base->value = updated_base(builder_, *last, before);
      base->uniform = last->uniform && replaces_all(*last);
    }
  } catch (const sardonyx::Error& error) {
    for (const sardonyx::Diagnostic& diagnostic : error.diagnostics())
      diagnostics_.push_back(diagnostic);
  }
  base->version = ++versions_;
  // By number, what lies between is cut out anew.
  if (!by_number) last->parent_version = base->version;
  if (!base->ahead) {
    base->ahead = true;
    memory.ahead.push_back(base);
  }
}

Value* Aliases::current(Alias* alias) {
  refuse_possibly_written(*alias);
  if (alias->ahead && alias->memory->ahead.back() == alias) return alias->value;
  catch_up(alias);
  if (alias->ahead) return alias->value;
  Value* parent = current(alias->parent);
  if (alias->parent_version != alias->parent->version) {
    alias->value = renewed_view(builder_, *alias, parent);
    alias->parent_version = alias->parent->version;
    alias->version = ++versions_;
  }
  return alias->value;
}

void Aliases::write(Alias* alias, Value* content, const Call& write, bool uniform) {
  Memory& memory = *alias->memory;
  catch_up(alias);
  alias->value = content;
  alias->version = ++versions_;
  alias->uniform = uniform;
  alias->write = &write;
  if (!alias->ahead) {
    alias->ahead = true;
    memory.ahead.push_back(alias);
  }
  if (!memory.first_write) memory.first_write = &write;
  memory.written = true;
  set_changed(memory);
  for (Memory* each : memory.kin) note_possible_write(*each, write);
}

}  // namespace sardonyx::functionalize
