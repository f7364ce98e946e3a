#include "inspect/dump.h"

#include <gtest/gtest.h>

#include <array>

#include "base/coding.h"
#include "base/random.h"
#include "base/status.h"
#include "io/mem_file_system.h"
#include "manifest/current_file.h"
#include "manifest/manifest_format.h"
#include "sstable/format/sstable_format.h"
#include "wal/log_format.h"

namespace stele::internal {
namespace {

class DumpTest : public testing::Test {
 protected:
  absl::StatusOr<std::string> Dump(const std::string& path, std::string_view bytes) {
    (void)file_system_.Remove(path);
    auto file = file_system_.Open(path, OpenMode::kCreate);
    if (!file.ok()) return file.status();
    STELE_RETURN_IF_ERROR((*file)->Write(0, bytes));
    file->reset();
    return DumpFile(&file_system_, path, true);
  }

  MemFileSystem file_system_;
};

TEST_F(DumpTest, CurrentIsKnownByItsBytesWhateverItsName) {
  const std::string bytes = EncodeCurrent(CurrentFile{.manifest_number = 7, .database_id = 0x1234});
  for (const char* name : {"CURRENT", "saved-by-hand"}) {
    const auto text = Dump(name, bytes);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(*text, "CURRENT manifest=MANIFEST-000007 database=0x0000000000001234\n");
  }
}

TEST_F(DumpTest, WhatIsNotStelesIsRefused) {
  for (const std::string_view bytes :
       {"", "abc", "a text file of some length, with nothing in it"}) {
    EXPECT_EQ(Dump("notes.txt", bytes).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(Dump("000012.sst.tmp", "half of a file").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DumpFile(&file_system_, "missing", false).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(DumpTest, AnEmptyFileOfAKnownNameIsNamedInTheError) {
  for (const char* name : {"000012.sst", "MANIFEST-000007", "CURRENT"}) {
    const auto text = Dump(name, "");
    ASSERT_FALSE(text.ok()) << name << ": " << *text;
    EXPECT_NE(ToStd(text.status().message()).find(name), std::string_view::npos) << text.status();
  }
}

// Bytes are never trusted: whatever follows a magic number, the result is a text or an error.
TEST_F(DumpTest, GarbageBehindAMagicIsSurvived) {
  Random random(20261121);
  std::string sstable_magic;
  AppendFixed64(sstable_magic, kSstableMagic);
  for (int round = 0; round < 300; ++round) {
    std::string garbage;
    const uint64_t bytes = random.Below(2000);
    for (uint64_t i = 0; i < bytes; ++i) garbage += static_cast<char>(random.Below(256));
    const std::array<std::string, 4> files = {
        std::string(kManifestMagic) + garbage, std::string(kCurrentMagic) + garbage,
        std::string(kSegmentMagic) + garbage, garbage + sstable_magic};
    for (const std::string& file : files) {
      const auto text = Dump("file", file);
      EXPECT_TRUE(!text.ok() || !text->empty());
      if (!text.ok()) {
        EXPECT_NE(text.status().code(), absl::StatusCode::kInternal) << text.status();
      }
    }
  }
}

}  // namespace
}  // namespace stele::internal
