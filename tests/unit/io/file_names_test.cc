#include "io/file_names.h"

#include <gtest/gtest.h>

namespace stele::internal {
namespace {

TEST(FileNames, AreMadeAndParsedBack) {
  for (const uint64_t number :
       {uint64_t{0}, uint64_t{7}, uint64_t{999'999}, uint64_t{1'000'000}, kFileNumberEnd - 1}) {
    const std::pair<std::string, FileType> names[] = {{ManifestName(number), FileType::kManifest},
                                                      {SegmentName(number), FileType::kSegment},
                                                      {SstableName(number), FileType::kSstable},
                                                      {SpillName(number), FileType::kSpill}};
    for (const auto& [name, type] : names) {
      const std::optional<FileName> parsed = ParseFileName(name);
      ASSERT_TRUE(parsed.has_value()) << name;
      EXPECT_EQ(parsed->type, type) << name;
      EXPECT_EQ(parsed->number, number) << name;
      EXPECT_EQ(ParseFileName(TemporaryName(name))->type, FileType::kTemporary) << name;
    }
  }
  EXPECT_EQ(ManifestName(7), "MANIFEST-000007");
  EXPECT_EQ(SegmentName(12), "000012.log");
  EXPECT_EQ(SstableName(13), "000013.sst");
  EXPECT_EQ(SpillName(14), "000014.spill");
  EXPECT_EQ(TemporaryName(kCurrentName), "CURRENT.tmp");
  EXPECT_EQ(ParseFileName("CURRENT")->type, FileType::kCurrent);
  EXPECT_EQ(ParseFileName("LOCK")->type, FileType::kLock);
  EXPECT_EQ(ParseFileName("CURRENT.tmp")->type, FileType::kTemporary);
}

// A number near 2^64 would overflow when the next number is computed.
TEST(FileNames, OfNumbersThatWereNeverGivenOutAreNotOurs) {
  for (const uint64_t number :
       {kFileNumberEnd, kFileNumberEnd + 1, uint64_t{1} << 63, UINT64_MAX - 1, UINT64_MAX}) {
    for (const std::string& name :
         {ManifestName(number), SegmentName(number), SstableName(number), SpillName(number)}) {
      EXPECT_FALSE(ParseFileName(name).has_value()) << name;
      EXPECT_FALSE(ParseFileName(TemporaryName(name)).has_value()) << name;
    }
  }
  EXPECT_TRUE(ParseFileName(SegmentName(99), 100).has_value());
  EXPECT_FALSE(ParseFileName(SegmentName(100), 100).has_value());
  EXPECT_FALSE(ParseFileName(TemporaryName(SegmentName(100)), 100).has_value());
  EXPECT_EQ(ParseFileName(kCurrentName, 1)->type, FileType::kCurrent);
  EXPECT_EQ(FileNumberEnd(7), 7 + kUnrecordedFilesMax);
  EXPECT_EQ(FileNumberEnd(UINT64_MAX), kFileNumberEnd);
}

TEST(FileNames, OthersAreNotOurs) {
  for (const char* name : {"",
                           ".",
                           "current",
                           "CURRENT2",
                           "LOCK.tmp.tmp",
                           "MANIFEST-",
                           "MANIFEST-00007",
                           "MANIFEST-0000007",
                           "MANIFEST-00000a",
                           "000012",
                           "12.log",
                           "0000012.log",
                           "000012.LOG",
                           "000012.sst.bak",
                           ".log",
                           ".sst",
                           ".spill",
                           "14.spill",
                           ".tmp",
                           "notes.tmp",
                           "-00012.log",
                           "+00012.log",
                           " 00012.log",
                           "18446744073709551616.log",
                           "99999999999999999999.sst",
                           "000000000000000000012.log",
                           "a00012.log"}) {
    EXPECT_FALSE(ParseFileName(name).has_value()) << name;
  }
}

TEST(FileNames, TheParentOfAPathWithTrailingSlashes) {
  EXPECT_EQ(ParentDirectory("a"), ".");
  EXPECT_EQ(ParentDirectory("a//"), ".");
  EXPECT_EQ(ParentDirectory("a/b"), "a");
  EXPECT_EQ(ParentDirectory("a/b///"), "a");
  EXPECT_EQ(ParentDirectory("/a//"), "/");
  EXPECT_EQ(ParentDirectory("/"), "/");
  EXPECT_EQ(ParentDirectory("//"), "/");
  EXPECT_EQ(ParentDirectory(""), ".");
}

TEST(FileNames, PathsAreJoinedWithOneSlash) {
  EXPECT_EQ(JoinPath("/db", "CURRENT"), "/db/CURRENT");
  EXPECT_EQ(JoinPath("/db/", "CURRENT"), "/db/CURRENT");
  EXPECT_EQ(JoinPath("/", "CURRENT"), "/CURRENT");
  EXPECT_EQ(JoinPath("", "CURRENT"), "CURRENT");
}

}  // namespace
}  // namespace stele::internal
