#include "frontends/live/sizes.h"

#include "frontends/live/python.h"

namespace sardonyx::live {

using symbolic::Expr;

Expr Sizes::of(nb::handle number) {
  PyObject* object = number.ptr();
  if (PyBool_Check(object)) return Expr(object == Py_True ? 1 : 0);
  if (PyLong_CheckExact(object)) return integer_expression(number);
  if (PyFloat_CheckExact(object)) return pool_.real(PyFloat_AsDouble(object));
  return of_symbolic(number);
}

void Sizes::all_of(nb::handle tuple, std::vector<Expr>& into) {
  const Py_ssize_t count = NB_TUPLE_GET_SIZE(tuple.ptr());
  into.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) into.push_back(of(NB_TUPLE_GET_ITEM(tuple.ptr(), i)));
}

Expr Sizes::of_symbolic(nb::handle number) {
  const nb::object node = get(number, names().node);
  nb::object key = get(node, names()._expr);
  const auto found = by_identity_.find(key.ptr());
  if (found != by_identity_.end()) return found->second;
  // `expr` applies what export learnt since (s1 = s0, say); it is what torch.export.save() writes.
  const Expr result = of_expression(get(node, names().expr));
  by_identity_.emplace(key.ptr(), result);
  kept_.push_back(std::move(key));
  return result;
}

Expr Sizes::of_expression(nb::handle expression) {
  if (const nb::handle index = entry(by_value_, expression.ptr()); index.is_valid()) {
    return parsed_[static_cast<std::size_t>(integer(index))];
  }
  if (!srepr_.is_valid()) srepr_ = nb::module_::import_("sympy").attr("srepr");
  const nb::object printed = srepr_(expression);
  const Expr result = symbolic::parse_srepr(pool_, text(printed));
  by_value_[expression] = parsed_.size();
  parsed_.push_back(result);
  return result;
}

}  // namespace sardonyx::live
