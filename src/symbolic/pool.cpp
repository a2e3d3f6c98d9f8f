// Interning: one node for each expression, found by a hash of its structure.
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "symbolic/build.h"
#include "symbolic/expr.h"
#include "symbolic/node.h"

namespace sardonyx::symbolic {

namespace detail {
constinit const Node unknown_node{};
}

namespace {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccd;
  return hash ^ (hash >> 32);
}

std::uint64_t hash_of(Expr e) {
  return e.is_constant() ? mix(1, static_cast<std::uint64_t>(e.value())) : e.node()->hash;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  while (!text.empty()) {
    std::uint64_t word = 0;
    std::size_t length = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), length);
    hash = mix(hash, word);
    text.remove_prefix(length);
  }
  return hash;
}

bool identical(Expr a, Expr b) { return a.node() == b.node() && a.value() == b.value(); }

}  // namespace

struct Pool::Impl::Parts {
  Kind kind;
  Type type;
  std::span<const Expr> operands;
  std::string_view name;
  double real;
  std::uint64_t hash;

  Parts(Kind k, Type t, std::span<const Expr> o, std::string_view n, double r)
      : kind(k), type(t), operands(o), name(n), real(r) {
    hash = mix(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(o.size()));
    for (Expr e : o) hash = mix(hash, hash_of(e));
    if (!n.empty()) hash = mix(hash, hash_of(n));
    if (k == Kind::kReal) hash = mix(hash, std::bit_cast<std::uint64_t>(r));
  }

  bool operator==(const Node& node) const {
    return node.hash == hash && node.kind == kind && node.operand_count == operands.size() &&
           node.name == name &&
           std::bit_cast<std::uint64_t>(node.real) == std::bit_cast<std::uint64_t>(real) &&
           std::equal(operands.begin(), operands.end(), node.operands, identical);
  }
};

Pool::Impl::Impl() : memory_(16 * 1024), table_(256, nullptr) {}

// Where the node of these parts is, or belongs.
const Node** Pool::Impl::slot(const Parts& parts) {
  std::size_t mask = table_.size() - 1;
  std::size_t index = parts.hash & mask;
  while (table_[index] && !(parts == *table_[index])) index = (index + 1) & mask;
  return &table_[index];
}

void Pool::Impl::grow() {
  std::vector<const Node*> old(table_.size() * 2, nullptr);
  old.swap(table_);
  std::size_t mask = table_.size() - 1;
  for (const Node* node : old) {
    if (!node) continue;
    std::size_t index = node->hash & mask;
    while (table_[index]) index = (index + 1) & mask;
    table_[index] = node;
  }
}

std::string_view Pool::Impl::keep(std::string_view text) {
  if (text.empty()) return {};
  auto* bytes = static_cast<char*>(memory_.allocate(text.size(), 1));
  std::memcpy(bytes, text.data(), text.size());
  return {bytes, text.size()};
}

Expr Pool::Impl::add(const Node** place, const Parts& parts) {
  std::uint32_t size = 1;
  std::uint32_t depth = 0;
  std::int64_t degree = 1;
  bool has_mod = false;
  bool is_sum = parts.kind == Kind::kAdd;
  for (Expr e : parts.operands) {
    const Node* node = e.node();
    size += node ? node->size : 1;
    depth = std::max(depth, node ? node->depth : 1);
    if (node && is_sum) has_mod = has_mod || node->monomial->kind == Kind::kMod;
  }
  if (size > kMaxSize || ++depth > kMaxDepth) return {};

  auto* operands = static_cast<Expr*>(
      memory_.allocate(std::max<std::size_t>(parts.operands.size_bytes(), 1), alignof(Expr)));
  std::uninitialized_copy(parts.operands.begin(), parts.operands.end(), operands);
  Node* node = new (memory_.allocate(sizeof(Node), alignof(Node))) Node;
  node->hash = parts.hash;
  node->pool = this;
  node->operands = operands;
  node->operand_count = static_cast<std::uint32_t>(parts.operands.size());
  node->size = size;
  node->depth = depth;
  node->kind = parts.kind;
  node->type = parts.type;
  node->has_mod = has_mod;
  node->monomial = node;
  node->real = parts.real;
  node->name = keep(parts.name);
  if (parts.kind == Kind::kMul && parts.type == Type::kInt) {
    degree = 0;
    for (Expr e : parts.operands) degree += e.node() ? e.node()->degree : 0;
  } else if (parts.kind == Kind::kPow && parts.type == Type::kInt &&
             parts.operands[1].is_constant()) {
    degree = parts.operands[1].value();
  }
  node->degree = degree;

  *place = node;
  if (++count_ * 2 > table_.size()) grow();
  return wrap(node);
}

Expr Pool::Impl::intern(Kind kind, Type type, std::span<const Expr> operands,
                        std::string_view name) {
  Parts parts(kind, type, operands, name, 0);
  const Node** place = slot(parts);
  return *place ? wrap(*place) : add(place, parts);
}

Expr Pool::Impl::intern(Kind kind, Type type, std::initializer_list<Expr> operands) {
  return intern(kind, type, std::span(operands.begin(), operands.size()));
}

Expr Pool::Impl::real(double value) {
  Parts parts(Kind::kReal, Type::kFloat, {}, {}, value);
  const Node** place = slot(parts);
  return *place ? wrap(*place) : add(place, parts);
}

Expr Pool::Impl::term(std::int64_t coefficient, const Node* monomial) {
  if (coefficient == 0) return 0;
  if (coefficient == 1) return wrap(monomial);
  std::array<Expr, 8> few;
  std::vector<Expr> many;
  std::size_t count = factor_count(monomial) + 1;
  std::span<Expr> operands(few);
  if (count > few.size()) {
    many.resize(count);
    operands = many;
  }
  operands = operands.first(count);
  operands[0] = coefficient;
  if (count == 2) {
    operands[1] = wrap(monomial);
  } else {
    std::copy(monomial->operands, monomial->operands + count - 1, operands.begin() + 1);
  }
  Expr result = intern(Kind::kMul, Type::kInt, operands);
  if (!result.known()) return result;
  // Nodes are const to everyone but the pool that made them.
  Node* node = const_cast<Node*>(result.node());
  node->coefficient = coefficient;
  node->monomial = monomial;
  node->degree = monomial->degree;
  return result;
}

Expr Pool::Impl::symbol(std::string_view name, Type type, Range presumed) {
  Parts parts(Kind::kSymbol, type, {}, name, 0);
  const Node** place = slot(parts);
  if (*place) return wrap(*place);
  Expr result = add(place, parts);
  const Node* node = result.node();
  node->range = presumed;
  node->display = unused_display(node->name);
  symbols.push_back(node);
  return result;
}

std::string_view Pool::Impl::unused_display(std::string_view wanted) {
  std::string name(wanted);
  for (int number = 1; displays_.contains(name); ++number)
    name = std::string(wanted) + "_" + std::to_string(number);
  return *displays_.insert(std::move(name)).first;
}

void Pool::Impl::rename(const Node* symbol, std::string_view name) {
  if (symbol->display == name) return;
  std::string old(symbol->display);
  displays_.erase(old);
  symbol->display = unused_display(name);
}

Expr Pool::Impl::fresh(std::string_view prefix) {
  for (std::size_t number = 0;; ++number) {
    std::string name = std::string(prefix) + std::to_string(number);
    Parts parts(Kind::kSymbol, Type::kInt, {}, name, 0);
    if (!*slot(parts) && !displays_.contains(name)) return symbol(name, Type::kInt, {.low = 0});
  }
}

void Pool::Impl::constrain(const Node* symbol, Range range) {
  Range& known = symbol->range;
  Range next = range;
  if (!constrained_.insert(symbol).second)
    next = {std::max(known.low, range.low), std::min(known.high, range.high)};
  // Contradicting constraints describe a program that never runs; any range will do.
  if (next.low > next.high || (next.low == known.low && next.high == known.high)) return;
  known = next;
  ++epoch;
  remembered_.fill({});
  texts.clear();
}

Pool::Impl::Remembered& Pool::Impl::remembered(Kind kind, Expr a, Expr b) {
  std::uint64_t hash = mix(mix(static_cast<std::uint64_t>(kind), hash_of(a)), hash_of(b));
  return remembered_[hash % remembered_.size()];
}

Pool::Pool() : impl_(std::make_unique<Impl>()) {}
Pool::~Pool() = default;

Expr Pool::symbol(std::string_view name) {
  return names_float(name) ? real_symbol(name) : impl_->symbol(name, Type::kInt, {.low = 0});
}

Expr Pool::real_symbol(std::string_view name) { return impl_->symbol(name, Type::kFloat, {}); }
Expr Pool::fresh(std::string_view prefix) { return impl_->fresh(prefix); }
Expr Pool::real(double value) { return impl_->real(value); }

Expr Pool::make(Kind kind, std::span<const Expr> operands, std::string_view function_name) {
  return build(impl_.get(), kind, operands, function_name);
}

void Pool::constrain(Expr symbol, Range range) {
  if (symbol.is_symbol()) impl_->constrain(symbol.node(), range);
}

void Pool::mark_unbacked(Expr symbol) {
  if (symbol.is_symbol()) symbol.node()->is_unbacked = true;
}

void Pool::rename(Expr symbol, std::string_view name) {
  if (symbol.is_symbol() && !name.empty()) impl_->rename(symbol.node(), name);
}

std::vector<Expr> Pool::symbols() const {
  std::vector<Expr> all;
  for (const Node* node : impl_->symbols) all.push_back(Impl::wrap(node));
  std::sort(all.begin(), all.end(), [](Expr a, Expr b) { return structural_order(a, b) < 0; });
  return all;
}

Pool::Impl* pool_of(std::span<const Expr> operands) {
  for (Expr e : operands)
    if (Pool::Impl* pool = pool_of(e)) return pool;
  return nullptr;
}

Type type_of(Expr e) { return e.is_constant() ? Type::kInt : e.node()->type; }

Kind Expr::kind() const { return node_ ? node_->kind : Kind::kInteger; }
std::string_view Expr::name() const { return node_ ? node_->name : std::string_view(); }
double Expr::real() const { return node_ ? node_->real : static_cast<double>(value_); }
bool Expr::is_float() const { return node_ && node_->type == Type::kFloat; }
bool Expr::is_boolean() const { return node_ && node_->type == Type::kBool; }
bool Expr::is_unbacked() const { return node_ && node_->is_unbacked; }

std::span<const Expr> Expr::operands() const {
  return node_ ? node_->arguments() : std::span<const Expr>();
}

std::size_t ExprHash::operator()(Expr e) const { return hash_of(e); }

}  // namespace sardonyx::symbolic
