// Reads expressions as sympy writes them: srepr ("Add(Symbol('s0', integer=True), Integer(1))"),
// and the infix text that older files and people use ("s0 + 1"). One recursive descent reads both:
// srepr is the part of the grammar without operators.
//
// sympy writes a division as Mul(x, Pow(y, Integer(-1))) or Mul(Rational(1, 2), x), exact rational
// arithmetic, so values are read as quotients of two expressions and divided as late as possible.
#include <array>
#include <charconv>
#include <cmath>

#include "base/diagnostic.h"
#include "base/parse_double.h"
#include "symbolic/build.h"

namespace sardonyx::symbolic {
namespace {

// One level of parentheses counts up to three times: as an expression, an operand and a call.
constexpr int kMaxNesting = 600;

// numerator / denominator. Integers have the denominator 1.
struct Quotient {
  Expr numerator;
  Expr denominator = 1;

  bool whole() const { return denominator.is(1); }
};

using Arguments = std::span<const Quotient>;

// What a function of plain expressions builds.
struct Form {
  std::string_view name;
  Kind kind;
  std::size_t operands;  // 0 for any number
};
constexpr Form kForms[] = {
    {"Min", Kind::kMin, 0},
    {"min", Kind::kMin, 0},
    {"Max", Kind::kMax, 0},
    {"max", Kind::kMax, 0},
    {"ToFloat", Kind::kToFloat, 1},
    {"float", Kind::kToFloat, 1},
    {"TruncToInt", Kind::kTruncToInt, 1},
    {"int", Kind::kTruncToInt, 1},
    {"CeilToInt", Kind::kCeilToInt, 1},
    {"ceil", Kind::kCeilToInt, 1},
    {"ceiling", Kind::kCeilToInt, 1},
    {"FloorToInt", Kind::kFloorToInt, 1},
    {"floor", Kind::kFloorToInt, 1},
    {"RoundToInt", Kind::kRoundToInt, 1},
    {"FloatTrueDiv", Kind::kTrueDiv, 2},
    {"IntTrueDiv", Kind::kTrueDiv, 2},
    {"FloatPow", Kind::kPow, 2},
    {"PowByNatural", Kind::kPow, 2},
    {"And", Kind::kAnd, 0},
    {"Or", Kind::kOr, 0},
    {"Not", Kind::kNot, 1},
    {"Where", Kind::kIf, 3},
    {"ITE", Kind::kIf, 3},
};

struct Relation {
  std::string_view name;
  Kind kind;
  bool swapped;
};
constexpr Relation kRelations[] = {
    {"Equality", Kind::kEq, false},
    {"Eq", Kind::kEq, false},
    {"==", Kind::kEq, false},
    {"Unequality", Kind::kNe, false},
    {"Ne", Kind::kNe, false},
    {"!=", Kind::kNe, false},
    {"StrictLessThan", Kind::kLt, false},
    {"Lt", Kind::kLt, false},
    {"LessThan", Kind::kLe, false},
    {"Le", Kind::kLe, false},
    {"<=", Kind::kLe, false},
    {"<", Kind::kLt, false},
    {"StrictGreaterThan", Kind::kLt, true},
    {"Gt", Kind::kLt, true},
    {"GreaterThan", Kind::kLe, true},
    {"Ge", Kind::kLe, true},
    {">=", Kind::kLe, true},
    {">", Kind::kLt, true},
};

// Well-formed, but nothing here says the same; the value is unknown.
constexpr std::string_view kWithoutCounterpart = "IsNonOverlappingAndDense";

class Parser {
 public:
  Parser(Pool& pool, std::string_view text) : pool_(pool), text_(text) {}

  Expr read() {
    const Quotient value = expression();
    skip_space();
    if (place_ != text_.size()) fail("something follows the expression");
    return resolve(value);
  }

 private:
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) parser_.fail("it is nested too deeply");
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  [[noreturn]] void fail(std::string_view reason) const {
    constexpr std::size_t kShown = 200;
    std::string shown(text_.substr(0, kShown));
    if (text_.size() > kShown) shown += "...";
    base::fail("SX1401", "cannot read the symbolic expression '" + shown +
                             "': " + std::string(reason) + " at offset " + std::to_string(place_));
  }

  // --- characters

  void skip_space() {
    while (place_ < text_.size() && (text_[place_] == ' ' || text_[place_] == '\n')) ++place_;
  }
  bool at(std::string_view token) {
    skip_space();
    return text_.substr(place_).starts_with(token);
  }
  bool take(std::string_view token) {
    if (!at(token)) return false;
    place_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("expected '" + std::string(token) + "'");
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  }
  bool take_word(std::string_view word) {
    if (!at(word)) return false;
    const std::size_t end = place_ + word.size();
    if (end < text_.size() && is_word(text_[end])) return false;
    place_ = end;
    return true;
  }
  std::string_view word() {
    skip_space();
    const std::size_t start = place_;
    while (place_ < text_.size() && is_word(text_[place_])) ++place_;
    return text_.substr(start, place_ - start);
  }
  std::string quoted() {
    skip_space();
    if (place_ == text_.size() || (text_[place_] != '\'' && text_[place_] != '"'))
      fail("expected a quoted string");
    const char quote = text_[place_++];
    std::string result;
    while (place_ < text_.size() && text_[place_] != quote) {
      if (text_[place_] == '\\' && place_ + 1 < text_.size()) ++place_;
      result += text_[place_++];
    }
    if (place_ == text_.size()) fail("a string does not end");
    ++place_;
    return result;
  }

  // --- operators, loosest first

  Quotient expression() {
    const Nested nested(*this);
    Quotient value = disjunction();
    if (!take_word("if")) return value;
    const Quotient condition = disjunction();
    if (!take_word("else")) fail("expected 'else'");
    return whole(make(Kind::kIf, {resolve(condition), resolve(value), resolve(expression())}));
  }

  Quotient disjunction() {
    Quotient value = conjunction();
    while (take("|") || take_word("or"))
      value = whole(make(Kind::kOr, {resolve(value), resolve(conjunction())}));
    return value;
  }

  Quotient conjunction() {
    Quotient value = negation();
    while (take("&") || take_word("and"))
      value = whole(make(Kind::kAnd, {resolve(value), resolve(negation())}));
    return value;
  }

  Quotient negation() {
    if (!take("~") && !take_word("not")) return comparison();
    const Nested nested(*this);
    return whole(make(Kind::kNot, {resolve(negation())}));
  }

  Quotient comparison() {
    Quotient value = additive();
    for (;;) {
      const Relation* found = nullptr;
      for (const Relation& relation : kRelations)
        if (!found && !is_word(relation.name[0]) && take(relation.name)) found = &relation;
      if (!found) return value;
      value = compare(*found, value, additive());
    }
  }

  Quotient additive() {
    Quotient value = multiplicative();
    for (;;) {
      if (take("+")) {
        value = add(std::array{value, multiplicative()});
      } else if (take("-")) {
        const Quotient next = multiplicative();
        value = add(std::array{value, Quotient{-next.numerator, next.denominator}});
      } else {
        return value;
      }
    }
  }

  Quotient multiplicative() {
    Quotient value = unary();
    for (;;) {
      if (at("**")) return value;  // not reached: unary() takes powers
      if (take("*")) {
        value = multiply(std::array{value, unary()});
      } else if (take("//")) {
        value = floor_divide(value, unary());
      } else if (take("/")) {
        value = multiply(std::array{value, inverse(unary())});
      } else if (take("%")) {
        value = modulo(value, unary());
      } else {
        return value;
      }
    }
  }

  Quotient unary() {
    const Nested nested(*this);
    if (take("-")) {
      const Quotient value = unary();
      return {-value.numerator, value.denominator};
    }
    Quotient base = primary();
    return take("**") ? power(base, unary()) : base;
  }

  Quotient primary() {
    skip_space();
    if (take("(")) {
      const Quotient value = expression();
      expect(")");
      return value;
    }
    if (place_ == text_.size()) fail("the text ends early");
    if (is_digit(text_[place_]) || text_[place_] == '.') return number();
    const std::string_view name = word();
    if (name.empty()) fail("unexpected character");
    return take("(") ? call(name) : constant(name);
  }

  Quotient number() {
    const std::size_t start = place_;
    std::string_view digits = word();
    // The sign of an exponent is no part of a word.
    if ((digits.back() == 'e' || digits.back() == 'E') && (at("+") || at("-"))) {
      ++place_;
      word();
      digits = text_.substr(start, place_ - start);
    }
    if (digits.find_first_not_of("0123456789") == std::string_view::npos)
      return whole(integer(digits));
    return whole(pool_.real(real(digits)));
  }

  Quotient constant(std::string_view name) {
    constexpr auto kInfinite = std::numeric_limits<std::int64_t>::max();
    if (name == "true" || name == "True") return whole(1);
    if (name == "false" || name == "False") return whole(0);
    if (name == "int_oo") return whole(kInfinite);
    if (name == "oo" || name == "inf") return whole(pool_.real(INFINITY));
    if (name == "nan") return whole(pool_.real(NAN));
    if (name == "pi") return whole(pool_.real(3.141592653589793));
    if (name == "zoo") fail("complex infinity is no size");
    return whole(pool_.symbol(name));
  }

  // --- functions

  Quotient call(std::string_view name) {
    const Nested nested(*this);
    if (name == "Symbol" || name == "Dummy") return symbol();
    if (name == "Float") return float_literal();
    if (name == "Piecewise") return piecewise();
    const std::vector<Quotient> arguments = read_arguments();
    for (const Form& form : kForms)
      if (form.name == name) return apply_form(form, arguments);
    for (const Relation& relation : kRelations)
      if (relation.name == name) {
        want(arguments, 2);
        return compare(relation, arguments[0], arguments[1]);
      }
    return named(name, arguments);
  }

  Quotient named(std::string_view name, Arguments arguments) {
    if (name == "Add") return add(arguments);
    if (name == "Mul") return multiply(arguments);
    if (name == "Integer" || name == "Identity") return want(arguments, 1)[0];
    if (name == "Pow") return power(want(arguments, 2)[0], arguments[1]);
    if (name == "Rational")
      return multiply(std::array{want(arguments, 2)[0], inverse(arguments[1])});
    if (name == "FloorDiv" || name == "CleanDiv")
      return floor_divide(want(arguments, 2)[0], arguments[1]);
    if (name == "CeilDiv") {
      const Quotient minus{-want(arguments, 2)[0].numerator, arguments[0].denominator};
      return whole(-floor_divide(minus, arguments[1]).numerator);
    }
    if (name == "Mod" || name == "PythonMod") return modulo(want(arguments, 2)[0], arguments[1]);
    if (name == "ModularIndexing")
      return modulo(floor_divide(want(arguments, 3)[0], arguments[1]), arguments[2]);
    if (name == "LShift") return multiply(std::array{want(arguments, 2)[0], two_to(arguments[1])});
    if (name == "RShift") return floor_divide(want(arguments, 2)[0], two_to(arguments[1]));
    if (name == "Abs" || name == "abs") return absolute(resolve(want(arguments, 1)[0]));
    if (name == "TruncToFloat") return function("trunc", want(arguments, 1));
    if (name == "RoundDecimal") return function("round", want(arguments, 2));
    if (name == "round" && arguments.size() == 1)
      return whole(make(Kind::kRoundToInt, {resolve(arguments[0])}));
    constexpr std::string_view kOpaque = "OpaqueUnaryFn_";
    if (name.starts_with(kOpaque)) return function(name.substr(kOpaque.size()), want(arguments, 1));
    if (real_function(name)) return function(name, want(arguments, 1));
    constexpr std::string_view kBits = "BitwiseFn_bitwise_";
    if (name.starts_with(kBits) && arguments.size() == 2)
      return whole(
          bitwise(name.substr(kBits.size()), resolve(arguments[0]), resolve(arguments[1])));
    if (name.starts_with(kWithoutCounterpart)) return whole({});
    fail("unknown function '" + std::string(name.substr(0, 60)) + "'");
  }

  Quotient apply_form(const Form& form, Arguments arguments) {
    if (form.operands != 0 ? arguments.size() != form.operands
                           : arguments.empty() && form.kind != Kind::kAnd && form.kind != Kind::kOr)
      fail("'" + std::string(form.name) + "' has the wrong number of arguments");
    if (form.kind == Kind::kFloorToInt && !arguments[0].whole())
      return floor_divide(arguments[0], {1});
    if (form.kind == Kind::kCeilToInt && !arguments[0].whole())
      return whole(
          -floor_divide({-arguments[0].numerator, arguments[0].denominator}, {1}).numerator);
    std::vector<Expr> operands;
    for (const Quotient& argument : arguments) operands.push_back(resolve(argument));
    return whole(pool_.make(form.kind, operands));
  }

  Quotient function(std::string_view name, Arguments arguments) {
    std::vector<Expr> operands;
    for (const Quotient& argument : arguments) operands.push_back(resolve(argument));
    return whole(pool_.make(Kind::kFunction, operands, name));
  }

  Quotient absolute(Expr e) {
    if (!e.is_float()) return whole(make(Kind::kMax, {e, -e}));
    return function("abs", std::array{whole(e)});
  }

  Quotient two_to(Quotient shift) { return whole(make(Kind::kPow, {2, resolve(shift)})); }

  // After "Symbol(".
  Quotient symbol() {
    const std::string name = quoted();
    if (name.empty()) fail("a symbol has no name");
    bool is_integer = false;
    bool is_real = false;
    bool is_nonnegative = false;
    while (take(",")) {
      const std::string_view key = word();
      expect("=");
      const bool value = word() == "True";
      is_integer = is_integer || (key == "integer" && value);
      is_real = is_real || (key == "real" && value);
      is_nonnegative = is_nonnegative || ((key == "positive" || key == "nonnegative") && value);
    }
    expect(")");
    if ((is_real && !is_integer) || names_float(name)) return whole(pool_.real_symbol(name));
    // An unbacked integer of which nothing is said may be negative.
    const Range presumed = is_integer && !is_nonnegative ? Range{} : Range{.low = 0};
    const Expr symbol = pool_.impl().symbol(name, Type::kInt, presumed);
    // A guard may have made the size constant after its symbol was handed out: torch.export keeps
    // the symbol then, and says 2 <= s0 <= 2.
    const Range known = range(symbol);
    return whole(known.low == known.high ? Expr(known.low) : symbol);
  }

  // After "Float(".
  Quotient float_literal() {
    skip_space();
    const bool is_quoted = at("'") || at("\"");
    std::string digits;
    if (is_quoted) {
      digits = quoted();
    } else {
      const std::size_t start = place_;
      while (place_ < text_.size() && text_[place_] != ',' && text_[place_] != ')') ++place_;
      digits = text_.substr(start, place_ - start);
    }
    while (take(",")) {  // precision=53
      word();
      expect("=");
      word();
    }
    expect(")");
    return whole(pool_.real(real(digits)));
  }

  // After "Piecewise(": pairs of a value and its condition, the first true one counts.
  Quotient piecewise() {
    struct Piece {
      Expr value, condition;
    };
    std::vector<Piece> pieces;
    do {
      take("ExprCondPair");
      expect("(");
      const Expr value = resolve(expression());
      expect(",");
      pieces.push_back({value, resolve(expression())});
      expect(")");
    } while (take(","));
    expect(")");
    // Beyond the last piece the value is not defined; its condition is taken to hold.
    Expr result = pieces.back().value;
    for (std::size_t i = pieces.size() - 1; i-- > 0;)
      result = make(Kind::kIf, {pieces[i].condition, pieces[i].value, result});
    return whole(result);
  }

  std::vector<Quotient> read_arguments() {
    std::vector<Quotient> arguments;
    if (take(")")) return arguments;
    do {
      const std::size_t start = place_;
      const std::string_view key = word();
      if (!key.empty() && !at("==") && take("=")) {  // evaluate=False and the like
        word();
        continue;
      }
      place_ = start;
      arguments.push_back(expression());
      if (arguments.size() > kMaxSize) fail("too many arguments");
    } while (take(","));
    expect(")");
    return arguments;
  }

  Arguments want(Arguments arguments, std::size_t count) const {
    if (arguments.size() != count) fail("a function has the wrong number of arguments");
    return arguments;
  }

  // --- arithmetic of quotients

  static Quotient whole(Expr e) { return {e, 1}; }

  Expr make(Kind kind, std::initializer_list<Expr> operands) {
    return pool_.make(kind, std::span(operands.begin(), operands.size()));
  }

  Expr resolve(const Quotient& q) {
    if (q.whole()) return q.numerator;
    const Expr exact = exact_quotient(q.numerator, q.denominator);
    return exact.known() ? exact : make(Kind::kTrueDiv, {q.numerator, q.denominator});
  }

  // Like resolve, but what is a quotient of integers is a float.
  Quotient add(Arguments terms) {
    if (terms.empty()) return whole(0);
    Quotient result = terms[0];
    bool all_whole = true;
    for (const Quotient& term : terms) all_whole = all_whole && term.whole();
    if (all_whole) {
      std::vector<Expr> operands;
      for (const Quotient& term : terms) operands.push_back(term.numerator);
      return whole(pool_.make(Kind::kAdd, operands));
    }
    for (const Quotient& term : terms.subspan(1)) {
      if (term.denominator == result.denominator) {
        result.numerator = result.numerator + term.numerator;
      } else {
        result.numerator =
            result.numerator * term.denominator + term.numerator * result.denominator;
        result.denominator = result.denominator * term.denominator;
      }
    }
    return result;
  }

  Quotient multiply(Arguments factors) {
    std::vector<Expr> numerators;
    std::vector<Expr> denominators;
    for (const Quotient& factor : factors) {
      numerators.push_back(factor.numerator);
      if (!factor.whole()) denominators.push_back(factor.denominator);
    }
    if (numerators.empty()) return whole(1);
    Quotient result = whole(pool_.make(Kind::kMul, numerators));
    if (!denominators.empty()) result.denominator = pool_.make(Kind::kMul, denominators);
    return result;
  }

  Quotient inverse(const Quotient& q) {
    if (q.numerator.is(0)) fail("division by zero");
    if (q.numerator.is(-1)) return {-q.denominator, 1};
    return {q.denominator, q.numerator};
  }

  Quotient power(const Quotient& base, const Quotient& exponent) {
    const Expr n = resolve(exponent);
    if (!n.is_constant()) return whole(make(Kind::kPow, {resolve(base), n}));
    if (base.numerator.is_float()) return whole(make(Kind::kPow, {resolve(base), n}));
    if (n.value() >= 0) return {pow(base.numerator, n), pow(base.denominator, n)};
    return inverse({pow(base.numerator, -n), pow(base.denominator, -n)});
  }

  Quotient floor_divide(const Quotient& a, const Quotient& b) {
    const Expr divisor = a.denominator * b.numerator;
    if (divisor.is(0)) fail("division by zero");
    const Expr dividend = a.numerator * b.denominator;
    if (dividend.is_float() || divisor.is_float())
      return whole(make(Kind::kFloorToInt, {make(Kind::kTrueDiv, {dividend, divisor})}));
    return whole(floor_div(dividend, divisor));
  }

  Quotient modulo(const Quotient& a, const Quotient& b) {
    const Expr divisor = resolve(b);
    if (divisor.is(0)) fail("division by zero");
    return whole(mod(resolve(a), divisor));
  }

  Quotient compare(const Relation& relation, const Quotient& a, const Quotient& b) {
    // Multiplied by a positive number both sides compare as before.
    Expr left = resolve(a);
    Expr right = resolve(b);
    if (certainly_positive(a.denominator) && certainly_positive(b.denominator)) {
      left = a.numerator * b.denominator;
      right = b.numerator * a.denominator;
    }
    if (relation.swapped) std::swap(left, right);
    return whole(make(relation.kind, {left, right}));
  }

  // --- numbers

  Expr integer(std::string_view digits) const {
    std::int64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // PyTorch bounds products of sizes by numbers beyond 64 bits; every size is below them.
    if (result.ec == std::errc::result_out_of_range) return pool_.real(real(digits));
    if (result.ec != std::errc() || result.ptr != digits.data() + digits.size())
      fail("a number is malformed");
    return value;
  }

  double real(std::string_view digits) const {
    const auto value = base::read_real(digits);
    if (!value) fail("a number is malformed");
    if (std::isinf(*value)) fail("a number does not fit a double");
    return *value;
  }

  Pool& pool_;
  std::string_view text_;
  std::size_t place_ = 0;
  int nesting_ = 0;
};

}  // namespace

Expr parse_srepr(Pool& pool, std::string_view text) {
  // Bounds on what hostile input makes us keep.
  constexpr std::size_t kMaxKeptTexts = 4096;
  constexpr std::size_t kMaxKeptLength = 1024;

  auto& texts = pool.impl().texts;
  if (const auto found = texts.find(text); found != texts.end()) return found->second;
  const Expr result = Parser(pool, text).read();
  if (texts.size() < kMaxKeptTexts && text.size() <= kMaxKeptLength) texts.emplace(text, result);
  return result;
}

}  // namespace sardonyx::symbolic
