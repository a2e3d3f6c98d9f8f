#include "frontends/archive/zip.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "frontends/archive/archive_for_test.h"

namespace sardonyx::archive {
namespace {

std::string read(const ZipReader& archive, const std::string& name) {
  const ZipEntry* entry = archive.find(name);
  return entry ? std::string(archive.read(*entry).text()) : "<missing>";
}

std::string code_of(const ArchiveForTest& archive, const std::string& name) {
  try {
    const ZipReader reader(archive.bytes());
    reader.read(*reader.find(name));
    return "none";
  } catch (const base::Error& error) {
    return error.diagnostics()[0].code;
  }
}

ArchiveForTest small() {
  ArchiveForTest archive;
  archive.add("a/one", "first");
  archive.add("a/empty", "");
  archive.add_deflated("a/two", std::string(5000, 'x') + "end");
  return archive;
}

TEST(Zip, ReadsStoredAndDeflatedEntries) {
  const ZipReader reader(small().bytes());
  EXPECT_EQ(reader.entries().size(), 3u);
  EXPECT_EQ(read(reader, "a/one"), "first");
  EXPECT_EQ(read(reader, "a/empty"), "");
  EXPECT_EQ(read(reader, "a/two"), std::string(5000, 'x') + "end");
  EXPECT_EQ(read(reader, "a/three"), "<missing>");
}

TEST(Zip, StoredEntriesAreBorrowed) {
  const Bytes file = small().bytes();
  const ZipReader reader(file);
  const Bytes entry = reader.read(*reader.find("a/one"));
  EXPECT_GE(entry.data.data(), file.data.data());
  EXPECT_LE(entry.data.data() + entry.data.size(), file.data.data() + file.data.size());
}

TEST(Zip, Reads64BitDirectories) {
  ArchiveForTest archive = small();
  archive.zip64_end = true;
  for (ArchiveForTest::Entry& entry : archive.entries) entry.zip64 = true;
  const ZipReader reader(archive.bytes());
  EXPECT_EQ(read(reader, "a/one"), "first");
  EXPECT_EQ(read(reader, "a/two").size(), 5003u);
}

TEST(Zip, WhatUnpacksToFarMoreThanTheFileIsRefused) {
  ArchiveForTest archive = small();
  archive.entries[2].size = std::uint64_t{5} << 30;
  archive.entries[2].zip64 = true;
  EXPECT_EQ(code_of(archive, "a/two"), "SX1102");
}

TEST(Zip, FindsTheEndBeforeAComment) {
  ArchiveForTest archive = small();
  archive.comment = "made by " + packed(0x06054b50, 4) + std::string(300, 'c');
  EXPECT_EQ(read(ZipReader(archive.bytes()), "a/one"), "first");
}

TEST(Zip, ReadsArchivesInArchives) {
  ArchiveForTest outer;
  outer.add("inner.pt", small().str());
  const ZipReader reader(outer.bytes());
  EXPECT_EQ(read(ZipReader(reader.read(*reader.find("inner.pt"))), "a/one"), "first");
}

TEST(Zip, RefusesWhatItDoesNotRead) {
  ArchiveForTest archive = small();
  archive.entries[0].flags |= 1;
  EXPECT_EQ(code_of(archive, "a/one"), "SX1103");  // encrypted
  archive = small();
  archive.entries[0].method = 12;
  EXPECT_EQ(code_of(archive, "a/one"), "SX1103");
}

TEST(Zip, RefusesEntriesThatLieAboutTheirSize) {
  for (const std::uint64_t size : {std::uint64_t{4}, std::uint64_t{6}, ~std::uint64_t{0} >> 1}) {
    ArchiveForTest archive = small();
    archive.entries[0].size = size;
    archive.entries[0].zip64 = true;
    EXPECT_EQ(code_of(archive, "a/one"), "SX1102") << size;
  }
  // Unpacking would take 4 GB and more for a few bytes.
  for (const std::uint64_t size : {std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    ArchiveForTest archive = small();
    archive.entries[2].size = size;
    archive.entries[2].zip64 = true;
    EXPECT_EQ(code_of(archive, "a/two"), "SX1102") << size;
  }
  ArchiveForTest archive = small();
  archive.entries[2].bytes[3] = static_cast<char>(archive.entries[2].bytes[3] ^ 0x55);
  EXPECT_EQ(code_of(archive, "a/two"), "SX1102");
}

TEST(Zip, MessagesArePrintable) {
  EXPECT_EQ(printable("data/weight_0 \xC3\xA9"), "data/weight_0 \xC3\xA9");
  EXPECT_EQ(printable("a\n\xC3"), "a\\x0a\\xc3");
}

// Reads everything there is; only diagnostics may come out.
void read_all(const std::string& file) {
  const auto owned = std::make_shared<const std::string>(file);
  try {
    const ZipReader reader({std::as_bytes(std::span(*owned)), owned});
    for (const ZipEntry& entry : reader.entries()) {
      try {
        reader.read(entry);
      } catch (const base::Error&) {  // the next entry may still be whole
      }
    }
  } catch (const base::Error& error) {
    EXPECT_EQ(error.diagnostics()[0].code, "SX1102");
  }
}

TEST(Zip, TruncatedAnywhereEndsInADiagnostic) {
  for (const bool zip64 : {false, true}) {
    ArchiveForTest archive = small();
    archive.zip64_end = zip64;
    const std::string file = archive.str();
    for (std::size_t length = 0; length < file.size(); ++length) {
      const auto cut = std::make_shared<const std::string>(file.substr(0, length));
      EXPECT_THROW(ZipReader({std::as_bytes(std::span(*cut)), cut}), base::Error) << length;
    }
  }
}

TEST(Zip, AnyByteMayBeWrong) {
  for (const bool zip64 : {false, true}) {
    ArchiveForTest archive = small();
    archive.zip64_end = zip64;
    for (ArchiveForTest::Entry& entry : archive.entries) entry.zip64 = zip64;
    const std::string file = archive.str();
    for (std::size_t at = 0; at < file.size(); ++at) {
      for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(value);
        read_all(damaged);
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::archive
