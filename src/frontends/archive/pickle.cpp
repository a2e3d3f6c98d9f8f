#include "frontends/archive/pickle.h"

#include <bit>
#include <unordered_map>
#include <utility>

#include "base/diagnostic.h"

namespace sardonyx::archive {
namespace {

using Kind = PickleItem::Kind;

[[noreturn]] void malformed(const std::string& what, std::size_t at) {
  base::fail("SX1110", "malformed pickle: " + what + " at byte " + std::to_string(at),
             "only what torch.save() wrote of plain tensors can be read");
}

}  // namespace

// The stack machine that a pickle is a program for. Every instruction makes at most one item, so
// memory stays in proportion to the bytes.
class Pickle::Machine {
 public:
  Machine(std::span<const std::byte> bytes, std::vector<PickleItem>& table)
      : bytes_(bytes), table_(table) {}

  std::uint32_t run() {
    for (;;) {
      const char code = static_cast<char>(unsigned_number(1));
      if (code == '.') return pop();
      if (!push_constant(code) && !push_text(code) && !use_memo(code) && !build(code))
        malformed(
            "instruction " + std::to_string(static_cast<unsigned char>(code)) + " is not supported",
            at_ - 1);
    }
  }

 private:
  std::uint64_t unsigned_number(std::size_t width) {
    const auto part = take(width);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i)
      value |= std::to_integer<std::uint64_t>(part[i]) << (8 * i);
    return value;
  }

  // Little-endian two's complement of up to 8 bytes.
  std::int64_t signed_number(std::size_t width) {
    if (width > 8) malformed("an integer beyond 64 bits", at_);
    if (width == 0) return 0;
    const std::uint64_t value = unsigned_number(width);
    const auto shift = static_cast<unsigned>(64 - 8 * width);
    return static_cast<std::int64_t>(value << shift) >> shift;
  }

  double big_endian_double() {
    const auto part = take(8);
    std::uint64_t value = 0;
    for (const std::byte byte : part) value = value << 8 | std::to_integer<std::uint64_t>(byte);
    return std::bit_cast<double>(value);
  }

  std::span<const std::byte> take(std::uint64_t length) {
    if (length > bytes_.size() - at_) malformed("it ends too early", at_);
    const auto part = bytes_.subspan(at_, static_cast<std::size_t>(length));
    at_ += static_cast<std::size_t>(length);
    return part;
  }

  std::string text(std::uint64_t length) {
    const auto part = take(length);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  std::string line() {
    std::string result;
    for (;;) {
      const char c = static_cast<char>(unsigned_number(1));
      if (c == '\n') return result;
      result += c;
    }
  }

  void push(PickleItem item) {
    stack_.push_back(static_cast<std::uint32_t>(table_.size()));
    table_.push_back(std::move(item));
  }
  void push(Kind kind, std::int64_t integer = 0) {
    PickleItem item;
    item.kind = kind;
    item.integer = integer;
    push(std::move(item));
  }
  void push_items(Kind kind, std::vector<std::uint32_t> items, bool tuple = false) {
    PickleItem item;
    item.kind = kind;
    item.tuple = tuple;
    item.items = std::move(items);
    push(std::move(item));
  }

  std::uint32_t pop() {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) malformed("it takes from an empty stack", at_);
    const std::uint32_t top = stack_.back();
    stack_.pop_back();
    return top;
  }

  std::vector<std::uint32_t> pop_count(std::size_t count) {
    std::vector<std::uint32_t> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  }

  std::vector<std::uint32_t> pop_to_mark() {
    if (marks_.empty()) malformed("it has no mark", at_);
    const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<std::uint32_t> items(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return items;
  }

  PickleItem& top() {
    const std::uint32_t index = pop();
    stack_.push_back(index);
    return table_[index];
  }

  // Appends to the list or dictionary on top; what else an object takes is of no interest.
  void extend(const std::vector<std::uint32_t>& items) {
    PickleItem& target = top();
    if (target.kind == Kind::kSequence || target.kind == Kind::kDictionary)
      target.items.insert(target.items.end(), items.begin(), items.end());
  }

  bool push_constant(char code) {
    switch (code) {
      case 'N':
        push(Kind::kNone);
        return true;
      case '\x88':
      case '\x89':
        push(Kind::kBool, code == '\x88' ? 1 : 0);
        return true;
      case 'K':
        push(Kind::kInteger, static_cast<std::int64_t>(unsigned_number(1)));
        return true;
      case 'M':
        push(Kind::kInteger, static_cast<std::int64_t>(unsigned_number(2)));
        return true;
      case 'J':
        push(Kind::kInteger, signed_number(4));
        return true;
      case '\x8a':
        push(Kind::kInteger, signed_number(static_cast<std::size_t>(unsigned_number(1))));
        return true;
      case 'G': {
        PickleItem item;
        item.kind = Kind::kFloat;
        item.real = big_endian_double();
        push(std::move(item));
        return true;
      }
      default:
        return false;
    }
  }

  bool push_text(char code) {
    std::size_t width = 0;
    switch (code) {
      case 'U':  // short bytes of protocol 1, of protocol 3, short text
      case 'C':
      case '\x8c':
        width = 1;
        break;
      case 'T':
      case 'B':
      case 'X':
        width = 4;
        break;
      case '\x8d':
      case '\x8e':
        width = 8;
        break;
      default:
        return false;
    }
    PickleItem item;
    item.kind = Kind::kText;
    item.text = text(unsigned_number(width));
    push(std::move(item));
    return true;
  }

  bool use_memo(char code) {
    switch (code) {
      case 'q':
        remember(unsigned_number(1));
        return true;
      case 'r':
        remember(unsigned_number(4));
        return true;
      case '\x94':
        remember(memo_.size());
        return true;
      case 'h':
        recall(unsigned_number(1));
        return true;
      case 'j':
        recall(unsigned_number(4));
        return true;
      case '\x80':  // protocol
        take(1);
        return true;
      case '\x95':  // frame
        take(8);
        return true;
      default:
        return false;
    }
  }

  void remember(std::uint64_t key) {
    const std::uint32_t index = pop();
    stack_.push_back(index);
    memo_[key] = index;
  }

  void recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) malformed("it recalls what it never kept", at_);
    stack_.push_back(found->second);
  }

  bool build(char code) {
    switch (code) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case '0':
        pop();
        return true;
      case '}':
        push(Kind::kDictionary);
        return true;
      case ']':
      case '\x8f':
        push(Kind::kSequence);
        return true;
      case ')':
        push_items(Kind::kSequence, {}, true);
        return true;
      case 't':
      case 'l':
      case '\x91':
        push_items(Kind::kSequence, pop_to_mark(), code == 't');
        return true;
      case 'd':
        push_items(Kind::kDictionary, pop_to_mark());
        return true;
      case '\x85':
      case '\x86':
      case '\x87':
        push_items(Kind::kSequence, pop_count(static_cast<unsigned char>(code) - 0x84U), true);
        return true;
      case 'a':
        extend({pop()});
        return true;
      case 's':
        extend(pop_count(2));
        return true;
      case 'e':
      case 'u':
      case '\x90':
        extend(pop_to_mark());
        return true;
      default:
        return make_object(code);
    }
  }

  bool make_object(char code) {
    switch (code) {
      case 'c': {
        std::string name = line();
        name += ' ';
        name += line();
        push_global(std::move(name));
        return true;
      }
      case '\x93': {
        const auto parts = pop_count(2);
        push_global(table_[parts[0]].text + " " + table_[parts[1]].text);
        return true;
      }
      case 'R':
      case '\x81':
        call(pop_count(2));
        return true;
      case 'Q':
        push_items(Kind::kPersistent, pop_count(1));
        return true;
      case 'b':
        set_state(pop());
        return true;
      default:
        return false;
    }
  }

  void push_global(std::string name) {
    PickleItem item;
    item.kind = Kind::kGlobal;
    item.text = std::move(name);
    push(std::move(item));
  }

  void call(std::vector<std::uint32_t> parts) {
    const PickleItem& callable = table_[parts[0]];
    if (callable.kind == Kind::kGlobal && callable.text == "collections OrderedDict") {
      push(Kind::kDictionary);
    } else {
      push_items(Kind::kCall, std::move(parts));
    }
  }

  // Of what is no object (an OrderedDict, say), attributes are of no interest.
  void set_state(std::uint32_t state) {
    PickleItem& object = top();
    if (object.kind == Kind::kCall && object.items.size() == 2) object.items.push_back(state);
  }

  std::span<const std::byte> bytes_;
  std::vector<PickleItem>& table_;
  std::size_t at_ = 0;
  std::vector<std::uint32_t> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, std::uint32_t> memo_;
};

Pickle::Pickle(std::span<const std::byte> bytes) { root_ = Machine(bytes, table_).run(); }

const PickleItem* Pickle::item(const PickleItem& parent, std::size_t i) const {
  return i < parent.items.size() ? &table_[parent.items[i]] : nullptr;
}

}  // namespace sardonyx::archive
