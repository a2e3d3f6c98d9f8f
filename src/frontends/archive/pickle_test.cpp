#include "frontends/archive/pickle.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/diagnostic.h"

namespace sardonyx::archive {
namespace {

using Kind = PickleItem::Kind;
using namespace std::string_literals;

Pickle read(const std::string& text) { return Pickle(std::as_bytes(std::span(text))); }

// pickle.dumps({"a": (1, -2, 300, 2**40, True, None, 1.5), "b": [[], "x"]}, 2)
const std::string kPlain =
    "\x80\x02}q\0(X\x01\0\0\0aq\x01(K\x01J\xfe\xff\xff\xffM,\x01\x8a\x06\0\0\0\0\0\x01\x88NG?"
    "\xf8\0\0\0\0\0\0tq\x02X\x01\0\0\0bq\x03]q\x04(]q\x05X\x01\0\0\0xq\x06"
    "eu."s;

TEST(Pickle, ReadsPlainData) {
  const Pickle pickle = read(kPlain);
  ASSERT_EQ(pickle.root().kind, Kind::kDictionary);
  ASSERT_EQ(pickle.root().items.size(), 4u);
  EXPECT_EQ(pickle.item(pickle.root(), 0)->text, "a");
  const PickleItem& tuple = *pickle.item(pickle.root(), 1);
  ASSERT_EQ(tuple.items.size(), 7u);
  EXPECT_EQ(pickle.item(tuple, 1)->integer, -2);
  EXPECT_EQ(pickle.item(tuple, 2)->integer, 300);
  EXPECT_EQ(pickle.item(tuple, 3)->integer, std::int64_t{1} << 40);
  EXPECT_EQ(pickle.item(tuple, 4)->kind, Kind::kBool);
  EXPECT_EQ(pickle.item(tuple, 5)->kind, Kind::kNone);
  EXPECT_EQ(pickle.item(tuple, 6)->real, 1.5);
  EXPECT_EQ(pickle.item(tuple, 7), nullptr);
  EXPECT_EQ(pickle.item(*pickle.item(pickle.root(), 3), 1)->text, "x");
}

TEST(Pickle, ReadsProtocol4) {
  // pickle.dumps(collections.OrderedDict(a=(1,)), 4)
  const Pickle pickle = read(
      "\x80\x04\x95\x2b\0\0\0\0\0\0\0\x8c\x0b"
      "collections\x94\x8c\x0bOrderedDict\x94\x93\x94)R\x94\x8c\x01"
      "a\x94K\x01\x85\x94s."s);
  ASSERT_EQ(pickle.root().kind, Kind::kDictionary);
  EXPECT_EQ(pickle.item(*pickle.item(pickle.root(), 1), 0)->integer, 1);
}

TEST(Pickle, CallsNothing) {
  // os.system("true"), the usual attack, is data here.
  const Pickle pickle = read(
      "\x80\x02"
      "cos\nsystem\nX\x04\0\0\0true\x85R."s);
  ASSERT_EQ(pickle.root().kind, Kind::kCall);
  EXPECT_EQ(pickle.item(pickle.root(), 0)->text, "os system");
}

TEST(Pickle, MayReferToItself) {
  const Pickle pickle = read("\x80\x02]q\0h\0a."s);  // x = []; x.append(x)
  EXPECT_EQ(pickle.item(pickle.root(), 0), &pickle.root());
}

TEST(Pickle, RefusesMalformedOnes) {
  for (const std::string& text : {""s, "."s, "\x80\x02"s, "h\0."s, "(."s, "t."s, "a."s, "]a."s,
                                  "(]a."s, "\x8a\x09"s, "\x8a\x09\1\1\1\1\1\1\1\1\1."s,
                                  "X\xff\xff\xff\xff"s, "\x8d\xff\xff\xff\xff\xff\xff\xff\xff"s,
                                  "cabc"s, "\xff."s, "\x93."s, "R."s, "Q."s, "b."s}) {
    EXPECT_THROW(read(text), base::Error) << text;
  }
  for (std::size_t length = 0; length < kPlain.size(); ++length)
    EXPECT_THROW(read(kPlain.substr(0, length)), base::Error) << length;
}

TEST(Pickle, AnyBytesEndInADiagnostic) {
  std::mt19937 random(7);
  const std::string codes = "(.0}])tlde\x85\x86\x87sauN\x88\x89KMJ\x8aGXUq\x94hjRQbc\x93\x81";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const std::size_t length = random() % 40;
    for (std::size_t i = 0; i < length; ++i)
      text += random() % 4 ? codes[random() % codes.size()] : static_cast<char>(random() % 256);
    try {
      read(text);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.diagnostics()[0].code, "SX1110");
    }
  }
}

}  // namespace
}  // namespace sardonyx::archive
