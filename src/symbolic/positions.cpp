#include "symbolic/positions.h"

namespace sardonyx::symbolic {

Expr from_front(Expr position, Expr size) {
  if (certainly_nonnegative(position)) return position;
  if (certainly_less(position, 0)) return position + size;
  return apply(Kind::kIf, {apply(Kind::kLt, {position, 0}), position + size, position});
}

Expr clamped_position(Expr position, Expr size) {
  const Expr front = from_front(position, size);
  return min(certainly_nonnegative(position) ? front : max(front, 0), size);
}

}  // namespace sardonyx::symbolic
