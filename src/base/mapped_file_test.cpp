#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "base/temporary_folder.h"

namespace sardonyx::base {
namespace {

namespace fs = std::filesystem;

class MappedFileTest : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view text) const {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  TemporaryFolder folder_;
};

std::string_view text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string error_of(const std::string& path) {
  try {
    const MappedFile file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().at(0).code, "SX1101");
    return error.what();
  }
  return "no error";
}

TEST_F(MappedFileTest, GivesTheBytes) {
  const std::string path = file("some", std::string_view("a\0b", 3));
  const MappedFile mapped(path);
  EXPECT_EQ(text(mapped), std::string_view("a\0b", 3));
  EXPECT_EQ(mapped.path(), path);
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  EXPECT_TRUE(MappedFile(file("empty", "")).bytes().empty());
}

TEST_F(MappedFileTest, TheMappingSurvivesTheNameOfTheFile) {
  const std::string path = file("gone", "still here");
  const MappedFile mapped(path);
  fs::remove(path);
  EXPECT_EQ(text(mapped), "still here");
}

TEST_F(MappedFileTest, MovesLeaveTheSourceEmpty) {
  MappedFile first(file("first", "one"));
  MappedFile second(std::move(first));
  EXPECT_EQ(text(second), "one");
  EXPECT_TRUE(first.bytes().empty());  // NOLINT: moved from, as is tested

  MappedFile third(file("third", "three"));
  third = std::move(second);
  EXPECT_EQ(text(third), "one");
  EXPECT_TRUE(second.bytes().empty());  // NOLINT: moved from, as is tested
}

TEST_F(MappedFileTest, ReleasedPagesAreReadAgain) {
  const std::string content(100'000, 'x');
  const MappedFile mapped(file("large", content));
  EXPECT_EQ(text(mapped), content);
  mapped.release(mapped.bytes());
  mapped.release(mapped.bytes().subspan(1, 3));
  EXPECT_EQ(text(mapped), content);
}

TEST_F(MappedFileTest, ErrorsNameThePathAndTheReason) {
  const std::string missing = (folder_ / "missing").string();
  EXPECT_NE(error_of(missing).find(missing), std::string::npos);
  EXPECT_NE(error_of(missing).find("No such file"), std::string::npos);
  EXPECT_NE(error_of(folder_.path().string()).find("directory"), std::string::npos);
  EXPECT_NE(error_of("").find("No such file"), std::string::npos);
}

TEST_F(MappedFileTest, APipeIsRefusedWithoutWaiting) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(error_of(pipe).find("regular file"), std::string::npos);
}

TEST_F(MappedFileTest, APathWithANulIsNotCutShort) {
  const std::string path = file("short", "text");
  EXPECT_NE(error_of(path + std::string(1, '\0') + "er").find("a NUL character"),
            std::string::npos);
}

TEST_F(MappedFileTest, ReleasesThePagesOfMappingsAndOfNothingElse) {
  const std::string content(1 << 16, 'x');
  MappedFile mapped(file("pages", content));
  release_pages(mapped.bytes());
  release_pages(mapped.bytes().subspan(5000, 20000));
  EXPECT_EQ(text(mapped), content);

  // Our own memory would be lost if it were taken for a file's.
  const std::string own(1 << 16, 'y');
  release_pages(std::as_bytes(std::span(own)));
  EXPECT_EQ(own, std::string(1 << 16, 'y'));

  // Neither is a range that only begins in a mapping.
  const MappedFile moved = std::move(mapped);
  release_pages({moved.bytes().data(), moved.bytes().size() + 1});
  EXPECT_EQ(text(moved), content);
}

TEST_F(MappedFileTest, TellsWhereBytesLie) {
  const std::string path = file("some", "0123456789"), own = "0123456789";
  const MappedFile mapped(path);
  const auto place = place_in_file(mapped.bytes().subspan(3, 4));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->path, path);
  EXPECT_EQ(place->offset, 3);
  EXPECT_FALSE(place_in_file({mapped.bytes().data() + 3, 8}));
  EXPECT_FALSE(place_in_file(std::as_bytes(std::span(own))));
}

}  // namespace
}  // namespace sardonyx::base
