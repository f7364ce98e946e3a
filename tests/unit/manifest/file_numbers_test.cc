// Tests manifests and CURRENT files with numbers near 2^64, from damage or forgery. Files created
// afterwards would get small numbers again.
#include <gtest/gtest.h>

#include "io/file_names.h"
#include "manifest/current_file.h"
#include "manifest/edit.h"

namespace stele::internal {
namespace {

TEST(FileNumbersTest, AnEditCannotRaiseThemTooFar) {
  for (const uint64_t number : {kNextFileNumberMax + 1, kFileNumberEnd, UINT64_MAX}) {
    const Edit edit{.next_file_number = number};
    EXPECT_TRUE(absl::IsInvalidArgument(Apply(Version(), edit).status())) << number;
  }
  const auto greatest = Apply(Version(), Edit{.next_file_number = kNextFileNumberMax});
  ASSERT_TRUE(greatest.ok()) << greatest.status();
  EXPECT_EQ((*greatest)->next_file_number, kNextFileNumberMax);
}

TEST(FileNumbersTest, CurrentNamesAManifestThatCanExist) {
  for (const uint64_t number : {kNextFileNumberMax, kFileNumberEnd, UINT64_MAX}) {
    const auto current =
        DecodeCurrent(EncodeCurrent({.manifest_number = number, .database_id = 5}));
    EXPECT_TRUE(absl::IsDataLoss(current.status())) << number;
  }
  const auto greatest =
      DecodeCurrent(EncodeCurrent({.manifest_number = kNextFileNumberMax - 1, .database_id = 5}));
  EXPECT_TRUE(greatest.ok()) << greatest.status();
}

}  // namespace
}  // namespace stele::internal
