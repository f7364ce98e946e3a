// Tests the readers of files: compressed files, lines, and the manifests of exports.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "lab/dynamodb/export_directory.h"
#include "lab/input/line_reader.h"
#include "lab/input/spooled_input.h"
#include "unit/lab/export_fixture.h"

namespace stele::internal::lab {
namespace {

struct FileLines {
  std::vector<std::string> lines;
  absl::Status status;
  std::string md5;
};

FileLines LinesOf(const std::string& path, size_t line_bytes_max = 1 << 20) {
  FileLines result;
  auto file = InputFile::Open(path, true);
  if (!file.ok()) return {.status = file.status()};
  LineReader reader(*std::move(file), line_bytes_max, 64);
  InputLine line;
  while (true) {
    const auto any = reader.Next(&line);
    result.status = any.status();
    if (!any.ok() || !*any) break;
    EXPECT_EQ(line.number, result.lines.size() + 1);
    result.lines.push_back(line.is_too_long ? "(too long)" : std::string(line.text));
  }
  if (result.status.ok()) result.md5 = reader.file().Md5();
  return result;
}

std::string Zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size()));
  ZSTD_freeCCtx(context);
  return out;
}

// A frame of zstd that readers skip, of fewer than 256 bytes. `number` is from 0 to 15.
std::string SkippableFrame(int number, std::string_view bytes) {
  std::string frame = "\x50\x2a\x4d\x18";
  frame[0] = static_cast<char>(0x50 + number);
  frame += static_cast<char>(bytes.size());
  return frame.append(3, '\0').append(bytes);
}

TEST(InputFileTest, ReadsZstdThatBeginsWithASkippableFrame) {
  const TemporaryDirectory directory;
  const std::vector<std::string> kLines = {"one", "two"};
  const std::string data = Zstd("one\ntwo\n");
  for (const int number : {0, 1, 15}) {
    const std::string frame = SkippableFrame(number, "size");
    EXPECT_EQ(LinesOf(directory.Write("a.zst", frame + data)).lines, kLines);
    EXPECT_EQ(LinesOf(directory.Write("b", frame + SkippableFrame(3, "") + data)).lines, kLines);
    const FileLines at_end = LinesOf(directory.Write("c.zst", frame + data + frame));
    EXPECT_EQ(at_end.lines, kLines);
    EXPECT_TRUE(at_end.status.ok()) << at_end.status;
    const FileLines alone = LinesOf(directory.Write("d.zst", frame));
    EXPECT_TRUE(alone.status.ok() && alone.lines.empty()) << alone.status;
    const absl::Status cut =
        LinesOf(directory.Write("e.zst", frame.substr(0, frame.size() - 1))).status;
    EXPECT_TRUE(absl::IsInvalidArgument(cut)) << cut;
  }
}

TEST(InputFileTest, ReadsPlainGzipAndZstdByContent) {
  const TemporaryDirectory directory;
  const std::string text = "one\r\ntwo\n\nfour";
  const std::vector<std::string> kLines = {"one", "two", "", "four"};
  EXPECT_EQ(LinesOf(directory.Write("plain", text)).lines, kLines);
  EXPECT_EQ(LinesOf(directory.Write("a", Gzip(text))).lines, kLines);
  EXPECT_EQ(LinesOf(directory.Write("b", Zstd(text))).lines, kLines);
  // several streams, one after the other
  EXPECT_EQ(LinesOf(directory.Write("c", Gzip("one\ntw") + Gzip("o\n\nfour"))).lines, kLines);
  EXPECT_EQ(LinesOf(directory.Write("d", Zstd("one\ntw") + Zstd("o\n\nfour"))).lines, kLines);
  EXPECT_TRUE(LinesOf(directory.Write("e", "")).lines.empty());
  EXPECT_EQ(LinesOf(directory.Write("f", "abc")).md5, "kAFQmDzST7DWlj99KOF/cg==");
}

TEST(InputFileTest, AFileWithTheEndingOfACompressedOneIsCompressed) {
  const TemporaryDirectory directory;
  for (const std::string text : {"", "a", "one\ntwo\n"}) {
    for (const auto& [ending, message] :
         {std::pair(".gz", "x.csv.gz: not gzip data"), {".zst", "x.csv.zst: not zstd data"}}) {
      const std::string path = directory.Write(std::string("x.csv") + ending, text);
      const absl::Status status = LinesOf(path).status;
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
      EXPECT_TRUE(std::string(status.message()).ends_with(message)) << status;
      EXPECT_EQ(InputFile::OpenSequential(path).status().message(), status.message());
      directory.Write("x.csv" + std::string(ending), Gzip(text));
      EXPECT_TRUE(LinesOf(path).status.ok()) << "the content states which of the two it is";
    }
  }
}

// A file without a name cannot stay after a signal.
TEST(SpooledInputTest, LeavesNoFileAndIsReadTwice) {
  const TemporaryDirectory directory;
  const char* const variable = std::getenv("TMPDIR");
  const std::string before = variable == nullptr ? "" : variable;
  ASSERT_EQ(::setenv("TMPDIR", directory.File("").c_str(), 1), 0);
  const auto input = SpooledInput::Write("one\ntwo\n");
  variable == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before.c_str(), 1);
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_TRUE(std::filesystem::is_empty(directory.File("")));
  EXPECT_EQ(std::filesystem::file_size((*input)->path()), 8u);
  const std::vector<std::string> kLines = {"one", "two"};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(LinesOf((*input)->path()).lines, kLines) << i;
  // A file with the name that the link shows is another one.
  const std::filesystem::path shown = std::filesystem::read_symlink((*input)->path());
  directory.Write(shown.filename().string(), "forged\n");
  ASSERT_TRUE(std::filesystem::exists(shown)) << shown;
  EXPECT_EQ(LinesOf((*input)->path()).lines, kLines);
}

TEST(InputFileTest, APipeIsNoFile) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  for (const std::string directory : {"/dev/fd/", "/proc/self/fd/"}) {
    const auto file = InputFile::Open(directory + std::to_string(ends[0]), false);
    EXPECT_TRUE(absl::IsFailedPrecondition(file.status()) || absl::IsNotFound(file.status()))
        << file.status();
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(InputFileTest, ReportsDamagedAndTruncatedFiles) {
  const TemporaryDirectory directory;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * i);
  for (const std::string& bytes : {Gzip(text), Zstd(text)}) {
    std::string damaged = bytes;
    damaged[damaged.size() / 2] ^= 0x55;
    for (const std::string& wrong : {damaged, bytes.substr(0, bytes.size() - 3), bytes + "tail"}) {
      const FileLines result = LinesOf(directory.Write("wrong", wrong));
      EXPECT_FALSE(result.status.ok());
      EXPECT_NE(result.status.ToString().find("wrong: "), std::string::npos) << result.status;
    }
  }
  EXPECT_EQ(LinesOf(directory.File("absent")).status.code(), absl::StatusCode::kNotFound);
}

TEST(InputFileTest, StopsAtDataThatGrowsAThousandfold) {
  const TemporaryDirectory directory;
  // one line of 1,088 MiB in about 100 KiB
  const std::string zeros(size_t{64} << 20, '0');
  std::string bytes;
  for (int i = 0; i < 17; ++i) bytes += Zstd(zeros);
  const FileLines result = LinesOf(directory.Write("bomb", bytes));
  EXPECT_NE(result.status.ToString().find("more than 1000 times"), std::string::npos)
      << result.status;
}

TEST(LineReaderTest, KeepsLongLinesAndSkipsTooLongOnes) {
  const TemporaryDirectory directory;
  const std::string long_line(700'000, 'a');
  const std::string too_long(1'100'000, 'b');
  const FileLines result = LinesOf(
      directory.Write("x", "first\n" + long_line + "\n" + too_long + "\nlast\n" + too_long));
  const std::vector<std::string> kExpected = {"first", long_line, "(too long)", "last",
                                              "(too long)"};
  EXPECT_TRUE(result.lines == kExpected);
  EXPECT_EQ(LinesOf(directory.Write("y", "12345\n123456\n"), 5).lines,
            (std::vector<std::string>{"12345", "(too long)"}));
}

void ExpectNoExport(const std::string& path, std::string_view reason) {
  const auto exported = ReadExportDirectory(path, true);
  EXPECT_FALSE(exported.ok());
  EXPECT_NE(exported.status().ToString().find(reason), std::string::npos) << exported.status();
}

TEST(ExportDirectoryTest, FindsTheFilesOfAnExport) {
  ExportFixture fixture(DataLines{{"{}", "{}"}, {"{}"}});
  fixture.directory().Write(fixture.Below("data/other.json.gz"), "x");
  for (const std::string& path :
       {fixture.path(), fixture.path() + "/", fixture.root(),
        fixture.directory().File("AWSDynamoDB"), fixture.directory().File("AWSDynamoDB/")}) {
    EXPECT_TRUE(IsExportDirectory(path));
    const auto exported = ReadExportDirectory(path, true);
    ASSERT_TRUE(exported.ok()) << exported.status();
    EXPECT_EQ(exported->id, "0173-abc");
    EXPECT_EQ(exported->table_name, "game");
    EXPECT_EQ(exported->item_count, 3u);
    EXPECT_EQ(exported->time_micros, 1732060800'000'000);
    ASSERT_EQ(exported->files.size(), 2u);
    EXPECT_EQ(exported->files[0].item_count, 2);
    EXPECT_EQ(exported->files[0].name, "data/part0.json.gz");
    EXPECT_EQ(exported->stray_files, std::vector<std::string>{"data/other.json.gz"});
  }
  EXPECT_FALSE(IsExportDirectory(fixture.path() + "/data"));
}

TEST(ExportDirectoryTest, AFolderOfSeveralExportsListsThem) {
  ExportFixture fixture(DataLines{{"{}"}});
  fixture.directory().Write("AWSDynamoDB/0174-def/manifest-summary.json", "{}");
  const std::string folder = std::filesystem::canonical(fixture.directory().File("AWSDynamoDB"));
  const std::string kList = folder + " contains 2 exports; name one of them:\n  " + folder +
                            "/0173-abc\n  " + folder + "/0174-def";
  for (const std::string& path : {folder, fixture.root()}) {
    EXPECT_TRUE(IsExportDirectory(path));
    ExpectNoExport(path, kList);
  }
}

TEST(ExportDirectoryTest, RejectsWrongManifests) {
  {
    ExportFixture fixture(DataLines{{"{}"}});
    fixture.directory().Write(fixture.Below("manifest-files.md5"), "AAAAAAAAAAAAAAAAAAAAAA==");
    ExpectNoExport(fixture.path(), "its MD5 is not the one");
  }
  {
    ExportFixture fixture(DataLines{{"{}"}});
    std::filesystem::remove(fixture.path() + "/data/part0.json.gz");
    ExpectNoExport(fixture.path(), "part0.json.gz is missing");
  }
  const std::pair<std::string, std::string> kSummaries[] = {
      {R"({"tableArn":"t","itemCount":1,"exportTime":"2024-11-20","outputFormat":"ION"})", "Ion"},
      {R"({"tableArn":"t","itemCount":2,"exportTime":"2024-11-20","outputFormat":"DYNAMODB_JSON"})",
       "states 2"},
      {R"({"tableArn":"t","itemCount":1,"exportTime":"soon","outputFormat":"DYNAMODB_JSON"})",
       "\"exportTime\" is missing or not a time"},
      {R"({"itemCount":1,"exportTime":"2024-11-20","outputFormat":"DYNAMODB_JSON"})", "tableArn"},
      {"[]", "not a JSON object"},
      {"{", "not one JSON document"}};
  for (const auto& [summary, reason] : kSummaries) {
    ExportFixture fixture(DataLines{{"{}"}});
    fixture.WriteManifest("manifest-summary", summary);
    ExpectNoExport(fixture.path(), reason);
  }
}

TEST(ExportDirectoryTest, OnlyTheOptionSkipsTheSumOfAFile) {
  ExportFixture fixture(DataLines{{"{}"}});
  fixture.WriteManifest("manifest-files", R"({"itemCount":1,"md5Checksum":"","dataFileS3Key":")" +
                                              fixture.Below("data/part0.json.gz") + "\"}");
  ExpectNoExport(fixture.path(), "\"md5Checksum\" is empty");
  EXPECT_TRUE(ReadExportDirectory(fixture.path(), false).ok());
}

TEST(ExportDirectoryTest, NeverLeavesTheExport) {
  for (const std::string key :
       {"AWSDynamoDB/../../secret", "../secret", "x/../../secret", "/etc/AWSDynamoDB/passwd",
        "/secret", "..", ".", "x/.", "x/", "", "AWSDynamoDB/0173-abc/data/link.gz", "link.gz"}) {
    ExportFixture fixture(DataLines{{"{}"}});
    const std::string outside = fixture.directory().Write("secret", "x");
    std::filesystem::create_symlink(outside, fixture.path() + "/data/link.gz");
    fixture.WriteManifest("manifest-files",
                          R"({"itemCount":1,"md5Checksum":"x","dataFileS3Key":")" + key + "\"}");
    const auto exported = ReadExportDirectory(fixture.path(), true);
    EXPECT_EQ(exported.status().code(), absl::StatusCode::kInvalidArgument) << key;
  }
}

TEST(ExportDirectoryTest, FindsTheFilesOfACopyBesideTheOriginal) {
  ExportFixture fixture(DataLines{{"{}"}});
  const std::string copy = fixture.directory().File("old/0173-abc");
  std::filesystem::create_directories(fixture.directory().File("old"));
  std::filesystem::copy(fixture.path(), copy, std::filesystem::copy_options::recursive);
  const auto exported = ReadExportDirectory(copy, true);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(exported->files[0].path,
            std::filesystem::canonical(copy + "/data/part0.json.gz").string());
}

// A copy may have lost the folder AWSDynamoDB. The name of the file is then searched in data/.
TEST(ExportDirectoryTest, FindsFilesWhoseKeysHaveOtherFolders) {
  for (const std::string key : {"backup/0173-abc/data/part0.json.gz", "part0.json.gz",
                                "backup/AWSDynamoDB/other/data/part0.json.gz"}) {
    ExportFixture fixture(DataLines{{"{}"}});
    fixture.WriteManifest("manifest-files",
                          R"({"itemCount":1,"md5Checksum":"x","dataFileS3Key":")" + key + "\"}");
    const auto exported = ReadExportDirectory(fixture.path(), true);
    ASSERT_TRUE(exported.ok()) << key << exported.status();
    EXPECT_EQ(exported->files[0].name, "data/part0.json.gz");
  }
  ExportFixture fixture(DataLines{{"{}"}});
  fixture.WriteManifest("manifest-files",
                        R"({"itemCount":1,"md5Checksum":"x","dataFileS3Key":"absent.gz"})");
  ExpectNoExport(fixture.path(), "data/absent.gz is missing: download the whole export");
}

TEST(ExportDirectoryTest, FollowsLinksInsideTheExport) {
  ExportFixture fixture(DataLines{{"{}"}});
  const std::string data = fixture.path() + "/data/part0.json.gz";
  std::filesystem::rename(data, fixture.path() + "/real");
  std::filesystem::create_symlink("../real", data);
  const auto exported = ReadExportDirectory(fixture.path(), true);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_TRUE(exported->stray_files.empty());
  EXPECT_EQ(exported->files[0].name, "data/part0.json.gz");
  EXPECT_TRUE(InputFile::Open(exported->files[0].path, false).ok());
}

TEST(ExportDirectoryTest, ListsTheExportsOfAFolder) {
  ExportFixture fixture(DataLines{{"{}"}});
  std::filesystem::copy(fixture.path(), fixture.path() + "2",
                        std::filesystem::copy_options::recursive);
  ExpectNoExport(fixture.root(), "0173-abc2");
}

}  // namespace
}  // namespace stele::internal::lab
