// The two directions of a view: cutting it out of what it shows, and putting it back.
#pragma once

#include "functionalize/views/alias.h"

namespace sardonyx::functionalize {

// The view cut out of `parent` again, at this place of the program. `parent` may hold something
// else than what was captured, of another dtype.
Value* renewed_view(Builder& builder, const Alias& view, Value* parent);

// Elements of the view share memory, so that what is written to a part of it shows up elsewhere.
bool has_overlaps(const Alias& view);
// No two elements of the view lie in the same place, for certain.
bool is_injective(const Value& view);

// What `base`, of which `view` is a view of views, holds once the elements of `view` are in it, as
// far up as need be. For views through overlaps: every element is numbered.
Value* updated_by_number(Builder& builder, const Alias& view, const Alias& base, Value* before);

// The view determines every element of what it is a view of.
bool replaces_all(const Alias& view);

// What `view.parent` holds once the view's elements are in it. `parent` is what it held before; it
// may be null when replaces_all(view). Throws when no call can say it (SX1702, SX1703).
Value* updated_base(Builder& builder, const Alias& view, Value* parent);

}  // namespace sardonyx::functionalize
