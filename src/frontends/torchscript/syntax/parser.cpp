// From text to syntax tree.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <unordered_map>

#include "base/diagnostic.h"
#include "base/parse_double.h"
#include "frontends/torchscript/syntax/lexer.h"
#include "frontends/torchscript/syntax/syntax.h"

namespace sardonyx::torchscript {
namespace {

using Kind = Expression::Kind;

constexpr int kDeepest = 400;  // expressions in each other, and blocks

class Parser {
 public:
  Parser(SourceFile& file, std::vector<Token> tokens) : file_(file), tokens_(std::move(tokens)) {}

  void run() {
    while (!at_end()) {
      if (peek().is_word("class")) {
        class_definition();
      } else if (peek().is_word("def")) {
        file_.functions.push_back(function());
      } else if (peek().kind == Token::Kind::kNewline) {
        next();
      } else {
        // "op_version_set = 1" and the like of older files say nothing.
        statement();
      }
    }
  }

 private:
  struct Deeper {
    explicit Deeper(Parser& owner) : parser(owner) {
      if (++parser.depth_ > kDeepest) parser.fail("it is nested too deep");
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser;
  };

  const Token& peek() const { return tokens_[at_]; }
  bool at_end() const { return peek().kind == Token::Kind::kEnd; }
  const Token& next() { return at_end() ? tokens_[at_] : tokens_[at_++]; }
  bool take(std::string_view mark) {
    if (!peek().is(mark)) return false;
    next();
    return true;
  }
  bool take_word(std::string_view word) {
    if (!peek().is_word(word)) return false;
    next();
    return true;
  }
  [[noreturn]] void fail(const std::string& what) const {
    fail_syntax(file_.name, file_.text, peek().offset, what);
  }
  void expect(std::string_view mark) {
    if (!take(mark)) fail("'" + std::string(mark) + "' is missing");
  }
  void expect(Token::Kind kind, const char* what) {
    if (peek().kind != kind) fail(std::string(what) + " is missing");
    next();
  }
  std::string name() {
    if (peek().kind != Token::Kind::kName) fail("a name is missing");
    return next().text;
  }

  Expression* make(Kind kind, std::size_t offset) {
    Expression& made = file_.expressions.emplace_back();
    made.kind = kind;
    made.offset = offset;
    return &made;
  }

  void class_definition() {
    next();
    Class made;
    made.file = &file_;
    made.name = name();
    if (take("(")) {
      made.base = name();
      expect(")");
    }
    expect(":");
    expect(Token::Kind::kNewline, "the end of a line");
    if (peek().kind == Token::Kind::kIndent) {
      next();
      while (peek().kind != Token::Kind::kDedent && !at_end()) {
        if (peek().is_word("def")) {
          made.methods.push_back(function());
        } else {
          made.fields.push_back(statement());
        }
      }
      next();
    }
    file_.classes.push_back(std::move(made));
  }

  Function function() {
    Function made;
    made.file = &file_;
    made.offset = next().offset;
    made.name = name();
    expect("(");
    while (!take(")")) {
      Function::Parameter parameter;
      parameter.name = name();
      if (take(":")) parameter.annotation = expression();
      if (take("=")) parameter.standard = expression();
      made.parameters.push_back(std::move(parameter));
      if (!take(",") && !peek().is(")")) fail("',' is missing");
    }
    if (take("->")) made.result = expression();
    made.body = block();
    return made;
  }

  std::vector<Statement> block() {
    const Deeper deeper(*this);
    expect(":");
    expect(Token::Kind::kNewline, "the end of a line");
    std::vector<Statement> made;
    if (peek().kind != Token::Kind::kIndent) return made;  // an interface's method has no body
    next();
    while (peek().kind != Token::Kind::kDedent && !at_end()) {
      if (peek().is_word("def"))
        forked_function(made);
      else
        made.push_back(statement());
    }
    next();
    return made;
  }

  // What torch.jit.fork() runs stands before the call, without parameters, and sees the names
  // around it, from which its own differ: it is what the lines behind it do first.
  void forked_function(std::vector<Statement>& before) {
    Function forked = function();
    const bool returns =
        !forked.body.empty() && forked.body.back().kind == Statement::Kind::kReturn;
    if (!forked.parameters.empty() || !returns || forked.body.back().value == nullptr)
      fail("a function in a function is none that is forked");
    forked_[forked.name] = forked.body.back().value;
    forked.body.pop_back();
    std::ranges::move(forked.body, std::back_inserter(before));
  }

  Statement statement() {
    Statement made;
    made.offset = peek().offset;
    if (take_word("if")) {
      made.kind = Statement::Kind::kIf;
      made.value = expression();
      made.body = block();
      if (take_word("else")) made.otherwise = block();
    } else if (take_word("for")) {
      made.kind = Statement::Kind::kFor;
      made.targets.push_back(expression());
      if (!take_word("in")) fail("'in' is missing");
      made.value = expression();
      made.body = block();
    } else if (take_word("while")) {
      made.kind = Statement::Kind::kWhile;
      made.value = expression();
      made.body = block();
    } else if (take_word("with")) {
      made.kind = Statement::Kind::kWith;
      made.value = expression();
      if (take_word("as")) made.targets.push_back(expression());
      made.body = block();
    } else {
      simple_statement(made);
      expect(Token::Kind::kNewline, "the end of a line");
    }
    return made;
  }

  void simple_statement(Statement& made) {
    if (take_word("pass")) return;
    if (take_word("return")) {
      made.kind = Statement::Kind::kReturn;
      if (peek().kind != Token::Kind::kNewline) made.value = expressions();
      return;
    }
    const Expression* first = expressions();
    if (take(":")) {
      made.kind = Statement::Kind::kAnnotated;
      made.targets.push_back(first);
      made.annotation = expression();
      if (take("=")) made.value = expressions();
      return;
    }
    made.kind = Statement::Kind::kExpression;
    while (take("=")) {
      made.kind = Statement::Kind::kAssign;
      made.targets.push_back(first);
      first = expressions();
    }
    made.value = first;
  }

  // "a", or "a, b," as a tuple.
  const Expression* expressions() {
    const Expression* first = expression();
    if (!peek().is(",")) return first;
    Expression* tuple = make(Kind::kTuple, first->offset);
    tuple->items.push_back(first);
    while (take(",")) {
      if (peek().kind == Token::Kind::kNewline || peek().is("=")) break;
      tuple->items.push_back(expression());
    }
    return tuple;
  }

  const Expression* expression() {
    const Expression* made = signed_value();
    if (!peek().is("-") && !peek().is("+")) return made;
    Expression* complex = make(Kind::kComplex, made->offset);
    complex->items = {made, imaginary()};
    return complex;
  }

  // "-2.j", "+infj": what archives add and subtract is that alone.
  const Expression* imaginary() {
    const Token& sign = next();
    const Expression* made = nullptr;
    if (peek().is_word("infj") || peek().is_word("nanj")) {
      Expression* special = make(Kind::kName, peek().offset);
      special->text = next().text.substr(0, 3);
      made = special;
    } else {
      made = atom();
      if (made->kind != Kind::kReal || !take_word("j")) fail("a sum of what is no complex number");
    }
    if (sign.is("+")) return made;
    Expression* negative = make(Kind::kNegative, sign.offset);
    negative->items.push_back(made);
    return negative;
  }

  const Expression* signed_value() {
    const Deeper deeper(*this);
    if (peek().is("-")) {
      Expression* made = make(Kind::kNegative, next().offset);
      made->items.push_back(signed_value());
      return made;
    }
    const Expression* made = atom();
    for (int links = 0;; ++links) {
      if (links > kDeepest) fail("it is nested too deep");
      const std::size_t offset = made->offset;
      if (take(".")) {
        Expression* attribute = make(Kind::kAttribute, offset);
        attribute->items.push_back(made);
        attribute->text = name();
        made = attribute;
      } else if (take("[")) {
        Expression* subscript = make(Kind::kSubscript, offset);
        subscript->items.push_back(made);
        items(*subscript, "]");
        // A future is what it is of, which is there at once.
        const bool is_future = made->kind == Kind::kName && made->text == "Future";
        made = is_future && subscript->items.size() == 2 ? subscript->items[1] : subscript;
      } else if (take("(")) {
        made = call(made);
      } else {
        return made;
      }
    }
  }

  const Expression* call(const Expression* callee) {
    Expression* made = make(Kind::kCall, callee->offset);
    made->items.push_back(callee);
    while (!take(")")) {
      const bool is_keyword = peek().kind == Token::Kind::kName && tokens_[at_ + 1].is("=");
      if (is_keyword) {
        std::string keyword = name();
        next();
        made->keywords.emplace_back(std::move(keyword), expression());
      } else {
        made->items.push_back(expression());
      }
      if (!take(",") && !peek().is(")")) fail("',' is missing");
    }
    if (callee->kind == Kind::kName && callee->text == "fork" && made->items.size() == 2) {
      // Once, so that what is read is no longer than what is written.
      if (const auto forked = forked_.extract(made->items[1]->text)) return forked.mapped();
    }
    return made;
  }

  void items(Expression& made, std::string_view end) {
    while (!take(end)) {
      made.items.push_back(expression());
      if (!take(",") && !peek().is(end)) fail("',' is missing");
    }
  }

  const Expression* atom() {
    const Token& token = next();
    switch (token.kind) {
      case Token::Kind::kName:
        return word(token);
      case Token::Kind::kInteger: {
        Expression* made = make(Kind::kInteger, token.offset);
        const char* end = token.text.data() + token.text.size();
        if (std::from_chars(token.text.data(), end, made->integer).ptr != end ||
            token.text.size() > 19)
          fail("an integer has more than 64 bits");
        return made;
      }
      case Token::Kind::kReal: {
        Expression* made = make(Kind::kReal, token.offset);
        const auto real = base::read_real(token.text);
        if (!real) fail("a number is none that Python writes");
        made->real = *real;
        return made;
      }
      case Token::Kind::kString: {
        Expression* made = make(Kind::kString, token.offset);
        made->text = token.text;
        return made;
      }
      default:
        return bracketed(token);
    }
  }

  const Expression* word(const Token& token) {
    const Kind kind = token.text == "True"    ? Kind::kTrue
                      : token.text == "False" ? Kind::kFalse
                      : token.text == "None"  ? Kind::kNone
                                              : Kind::kName;
    Expression* made = make(kind, token.offset);
    made->text = token.text;
    return made;
  }

  const Expression* bracketed(const Token& token) {
    if (token.is("...")) return make(Kind::kEllipsis, token.offset);
    if (token.is("[")) {
      Expression* made = make(Kind::kList, token.offset);
      items(*made, "]");
      return made;
    }
    if (token.is("(")) {
      Expression* made = make(Kind::kTuple, token.offset);
      if (take(")")) return made;
      made->items.push_back(expression());
      if (take(")")) return made->items.front();
      if (!take(",")) fail("',' is missing");
      items(*made, ")");
      return made;
    }
    if (token.is("{")) {
      Expression* made = make(Kind::kDict, token.offset);
      while (!take("}")) {
        made->items.push_back(expression());
        expect(":");
        made->items.push_back(expression());
        if (!take(",") && !peek().is("}")) fail("',' is missing");
      }
      return made;
    }
    fail("it has '" + token.text + "' where a value stands");
  }

  SourceFile& file_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::unordered_map<std::string, const Expression*> forked_;  // what such a function returns
};

}  // namespace

std::string Expression::dotted() const {
  if (kind == Kind::kName) return text;
  if (kind != Kind::kAttribute) return {};
  std::string before = items.front()->dotted();
  return before.empty() ? before : before + "." + text;
}

const Function* Class::method(std::string_view method_name) const {
  const auto found = std::ranges::find(methods, method_name, &Function::name);
  return found == methods.end() ? nullptr : &*found;
}

int SourceFile::line_of(std::size_t offset) const {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  return static_cast<int>(std::count(text.begin(), end, '\n')) + 1;
}

std::string SourceFile::line_text(std::size_t offset) const {
  const std::size_t before = offset == 0 ? text.npos : text.rfind('\n', offset - 1);
  const std::size_t start = before == text.npos ? 0 : before + 1;
  const std::size_t first = std::min(text.find_first_not_of(' ', start), text.size());
  return text.substr(first, std::min(text.find('\n', first), text.size()) - first);
}

std::unique_ptr<SourceFile> parse_source(std::string name, std::string text) {
  auto file = std::make_unique<SourceFile>();
  file->name = std::move(name);
  file->text = std::move(text);
  Parser(*file, tokens_of(file->name, file->text)).run();
  return file;
}

}  // namespace sardonyx::torchscript
