#include "base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

namespace stele::internal {
namespace {

TEST(Status, MakersFormatTheirText) {
  const absl::Status status = InvalidArgument("row {}: {} bytes, at most {}", "r1", 70000, 4096);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ToStd(status.message()), "row r1: 70000 bytes, at most 4096");
  EXPECT_EQ(NotFound("x").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(AlreadyExists("x").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(FailedPrecondition("x").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ResourceExhausted("x").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Unavailable("x").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Unimplemented("x").code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Cancelled("x").code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(DeadlineExceeded("x").code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Aborted("x").code(), absl::StatusCode::kAborted);
}

TEST(Status, DataLossNamesFileAndOffset) {
  const absl::Status status = DataLoss("000012.sst", 4096, "block checksum mismatch");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ToStd(status.message()), "000012.sst @4096: block checksum mismatch");
}

TEST(Status, SystemErrorsHaveTypedCodes) {
  const std::pair<int, absl::StatusCode> codes[] = {{ENOSPC, absl::StatusCode::kResourceExhausted},
                                                    {EDQUOT, absl::StatusCode::kResourceExhausted},
                                                    {EFBIG, absl::StatusCode::kResourceExhausted},
                                                    {EMFILE, absl::StatusCode::kResourceExhausted},
                                                    {ENOENT, absl::StatusCode::kNotFound},
                                                    {EEXIST, absl::StatusCode::kAlreadyExists},
                                                    {EACCES, absl::StatusCode::kPermissionDenied},
                                                    {EPERM, absl::StatusCode::kPermissionDenied},
                                                    {EROFS, absl::StatusCode::kPermissionDenied},
                                                    {EIO, absl::StatusCode::kUnavailable}};
  for (const auto& [error_number, code] : codes)
    EXPECT_EQ(ErrnoStatus("write", "/db/f", error_number).code(), code) << error_number;
  EXPECT_EQ(ToStd(ErrnoStatus("write", "/db/\x1b\n\xc3\xa9", ENOENT).message()),
            "write /db/\\x1b\\x0a\xc3\xa9: No such file or directory");
  EXPECT_EQ(ToStd(ErrnoStatus("write", "/db/f", ENOSPC).message()),
            "write /db/f: No space left on device");
}

TEST(Status, MissingDescriptorsAreNotMissingSpace) {
  for (const int error_number : {ENOSPC, EDQUOT, EFBIG}) {
    const absl::Status status = ErrnoStatus("write", "/db/f", error_number);
    EXPECT_TRUE(LacksSpace(status)) << error_number;
    EXPECT_TRUE(LacksSpace(WithContext(status, "flush"))) << error_number;
  }
  for (const int error_number : {EMFILE, ENFILE, EIO}) {
    const absl::Status status = ErrnoStatus("open", "/db/f", error_number);
    EXPECT_FALSE(LacksSpace(status)) << error_number;
    EXPECT_FALSE(LacksSpace(WithContext(status, "flush"))) << error_number;
  }
  EXPECT_TRUE(LacksSpace(ResourceExhausted("full")));
  EXPECT_FALSE(LacksSpace(absl::OkStatus()));
}

TEST(Status, OnlyEfbigMeansALimitOfFileSizes) {
  const absl::Status limited = ErrnoStatus("write", "/db/f", EFBIG);
  EXPECT_TRUE(ExceedsFileSizeLimit(limited));
  EXPECT_TRUE(ExceedsFileSizeLimit(WithContext(limited, "flush")));
  EXPECT_TRUE(FoundNoSpace(limited));
  for (const int error_number : {ENOSPC, EDQUOT, EMFILE, EIO})
    EXPECT_FALSE(ExceedsFileSizeLimit(ErrnoStatus("write", "/db/f", error_number))) << error_number;
  EXPECT_FALSE(ExceedsFileSizeLimit(ResourceExhausted("full")));
  EXPECT_FALSE(ExceedsFileSizeLimit(absl::OkStatus()));
}

TEST(Status, ContextGoesBeforeTheTextAndKeepsTheCode) {
  const absl::Status status = WithContext(DataLoss("f", 1, "bad"), "open /db");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ToStd(status.message()), "open /db: f @1: bad");
  EXPECT_TRUE(WithContext(absl::OkStatus(), "open /db").ok());
}

TEST(Status, PrintableIsPlainAsciiAndBounded) {
  EXPECT_EQ(Printable("row-1"), "row-1");
  EXPECT_EQ(Printable(std::string_view("a\0\n\xff\"\\~\x7f", 8)),
            "a\\x00\\x0a\\xff\\x22\\\\~\\x7f");
  EXPECT_EQ(Printable("abcdef", 3), "abc...");
  EXPECT_EQ(Printable("abc", 3), "abc");
  EXPECT_EQ(Printable(""), "");
}

absl::StatusOr<std::unique_ptr<int>> MakeNumber(bool works) {
  if (!works) return NotFound("no number");
  return std::make_unique<int>(4);
}
absl::Status UseMacros(bool first, bool second, int* sum) {
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<int> a, MakeNumber(first));
  *sum += *a;
  STELE_RETURN_IF_ERROR(MakeNumber(second).status());
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<int> b, MakeNumber(second));
  *sum += *b;
  return absl::OkStatus();
}

TEST(Status, MacrosPassErrorsOnAndMoveValuesOut) {
  int sum = 0;
  EXPECT_TRUE(UseMacros(true, true, &sum).ok());
  EXPECT_EQ(sum, 8);
  sum = 0;
  EXPECT_TRUE(absl::IsNotFound(UseMacros(true, false, &sum)));
  EXPECT_EQ(sum, 4);
  sum = 0;
  EXPECT_TRUE(absl::IsNotFound(UseMacros(false, true, &sum)));
  EXPECT_EQ(sum, 0);
}

}  // namespace
}  // namespace stele::internal
