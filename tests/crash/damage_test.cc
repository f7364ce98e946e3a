// Tests flipped bits, truncated files, zeroed sectors, and files of another database or from
// another place. Opening, reading and verifying return the correct data or an error that names a
// file, and never other data. With OnDamage::kReadBefore, a reader gets data that was correct at
// one time; with kReadAround, only cells that were there, and a list of the damage.
//
// Environment:
//   STELE_DAMAGE_BITS    1: every bit of every byte; default: one bit per byte
//   STELE_DAMAGE_STRIDE  distance of the damaged bytes (default 3; 11 in debug builds and 37 with
//                        sanitizers). The unit tests of each format damage every byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "absl/strings/str_split.h"
#include "base/random.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

using Contents = std::map<std::string, std::string>;

uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

uint64_t Stride() {
#ifdef NDEBUG
  return NumberFromEnvironment("STELE_DAMAGE_STRIDE", kNightly ? 1 : kReduced ? 59 : 5);
#else
  return NumberFromEnvironment("STELE_DAMAGE_STRIDE", 11);
#endif
}

// A small closed database with SSTables and a log that is still needed.
class Specimen {
 public:
  explicit Specimen(uint64_t seed) {
    const std::vector<WorkloadStep> steps = MakeWorkload(seed, 20);
    states_ = StatesOf(steps).value_or(std::vector<std::string>{""});
    contents_text_ = states_.back();
    WorkloadDatabase database(&files_);
    EXPECT_EQ(database.Open(), absl::OkStatus());
    for (const WorkloadStep& step : steps) EXPECT_EQ(database.Run(step), absl::OkStatus());
    EXPECT_EQ(database.database().Close(), absl::OkStatus());
    contents_ = ReadDirectory(&files_, "/db").value_or(Contents());
    contents_.erase(std::string(kLockName));
    EXPECT_GT(contents_.size(), 3u);
  }
  const Contents& contents() const { return contents_; }
  std::unique_ptr<CrashFileSystem> Copy() const { return files_.Crash(CrashPolicy::KeepAll(), 0); }

  // Opens and reads the damaged database. Returns "" for correct data or an error that names one of
  // `names`.
  std::string Check(CrashFileSystem* files, const std::vector<std::string>& names) const {
    WorkloadDatabase database(files);
    const absl::Status opened = database.Open();
    if (!opened.ok()) return NamesOne(opened, names);
    const absl::StatusOr<std::string> dump = DumpDatabase(database.database());
    if (!dump.ok()) return NamesOne(dump.status(), names);
    if (*dump != contents_text_) return "other data:\n" + *dump;
    const absl::StatusOr<VerifyReport> report = database.database().Verify();
    if (!report.ok()) return NamesOne(report.status(), names);
    for (const VerifyReport::Damage& damage : report->damages) {
      if (damage.file.empty()) return "a damage without a file: " + damage.what;
    }
    return "";
  }

  // Like Check, for a reader with kReadBefore. The data may be that after any earlier step.
  std::string CheckBefore(CrashFileSystem* files, const std::vector<std::string>& names) const {
    EngineOptions options = SmallEngineOptions(files);
    options.database.read_only = true;
    options.database.on_damage = OnDamage::kReadBefore;
    WorkloadDatabase database(std::move(options), "/db");
    const absl::Status opened = database.Open();
    if (!opened.ok()) return NamesOne(opened, names);
    const absl::StatusOr<std::string> dump = DumpDatabase(database.database());
    if (!dump.ok()) return NamesOne(dump.status(), names);
    const bool is_a_state = std::find(states_.begin(), states_.end(), *dump) != states_.end();
    return is_a_state ? "" : "data that never was:\n" + *dump;
  }

  // Like Check, for a reader with kReadAround. Everything that it shows was once there, and Verify
  // lists a damage if anything is missing.
  std::string CheckAround(CrashFileSystem* files, const std::vector<std::string>& names) const {
    EngineOptions options = SmallEngineOptions(files);
    options.database.read_only = true;
    options.database.on_damage = OnDamage::kReadAround;
    WorkloadDatabase database(std::move(options), "/db");
    const absl::Status opened = database.Open();
    if (!opened.ok()) return NamesOne(opened, names);
    const absl::StatusOr<std::string> dump = DumpDatabase(database.database());
    if (!dump.ok()) return NamesOne(dump.status(), names);
    const std::vector<std::string> lines = absl::StrSplit(*dump, '\n');
    for (const std::string& line : lines) {
      const auto has_line = [&line](const std::string& state) {
        return state.find(line) != std::string::npos;
      };
      if (std::none_of(states_.begin(), states_.end(), has_line))
        return fmt::format("a line that never was: {}", line);
    }
    if (*dump == contents_text_) return "";
    const absl::StatusOr<VerifyReport> report = database.database().Verify();
    if (!report.ok()) return NamesOne(report.status(), names);
    return report->damages.empty() ? "other data, and no damage is listed:\n" + *dump : "";
  }

  // With kReadAround: every table that is listed with its newest schema has all its cells. Counts
  // the tables and cells.
  void CheckComplete(CrashFileSystem* files, uint64_t* tables, uint64_t* lines) const {
    EngineOptions options = SmallEngineOptions(files);
    options.database.read_only = true;
    options.database.on_damage = OnDamage::kReadAround;
    WorkloadDatabase database(std::move(options), "/db");
    const absl::Status opened = database.Open();
    const std::vector<std::string> names = *files->List("/db");
    const bool has_sstable = std::any_of(
        names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); });
    EXPECT_TRUE(opened.ok() || !has_sstable) << opened;
    if (!opened.ok()) return;
    const VerifyReport report = *database.database().Verify();
    EXPECT_FALSE(report.ok());
    std::string damages;
    for (const VerifyReport::Damage& damage : report.damages)
      damages += fmt::format("\n{} @{}: {}", damage.file, damage.offset, damage.what);
    SCOPED_TRACE(damages);
    const absl::StatusOr<std::string> read = DumpDatabase(database.database());
    if (!read.ok()) {  // a damaged edit dropped the rows of a file, which is deleted
      EXPECT_NE(read.status().message().find("the file is missing"), absl::string_view::npos)
          << read.status();
      return;
    }
    const std::string& dump = *read;
    const std::map<std::string, std::vector<std::string>> shown = CellsByTable(dump);
    const std::map<std::string, std::vector<std::string>> expected = CellsByTable(contents_text_);
    for (const auto& [table, cells] : shown) {
      const auto found = expected.find(table);
      if (found == expected.end()) continue;  // it was deleted, or its schema changed
      for (const std::string& cell : found->second)
        EXPECT_TRUE(std::find(cells.begin(), cells.end(), cell) != cells.end())
            << table << ": " << cell;
      ++*tables;
      *lines += found->second.size();
    }
  }

 private:
  // The lines of cells by the line of their table, which has its schema.
  static std::map<std::string, std::vector<std::string>> CellsByTable(const std::string& dump) {
    std::map<std::string, std::vector<std::string>> tables;
    std::vector<std::string>* cells = nullptr;
    const std::vector<std::string> lines = absl::StrSplit(dump, '\n', absl::SkipEmpty());
    for (const std::string& line : lines) {
      if (line.starts_with("table ")) {
        cells = &tables[line];
      } else if (cells != nullptr) {
        cells->push_back(line);
      }
    }
    return tables;
  }
  static std::string NamesOne(const absl::Status& status, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (status.message().find(name) != absl::string_view::npos) return "";
    }
    return fmt::format("the error does not name the file: {}", status.ToString());
  }

  CrashFileSystem files_;
  Contents contents_;
  std::string contents_text_;
  std::vector<std::string> states_;  // after each step
};

// CURRENT and the manifest verify each other. A truncated manifest does not have the newest files,
// so an error may name those.
std::vector<std::string> NamesFor(const std::string& name) {
  if (name == kCurrentName || name.starts_with("MANIFEST"))
    return {"CURRENT", "MANIFEST", ".log", ".sst"};
  return {name};
}

TEST(DamageTest, AFlippedBitInEveryByte) {
  const Specimen specimen(3);
  const bool every_bit = NumberFromEnvironment("STELE_DAMAGE_BITS", 0) == 1;
  const uint64_t stride = Stride();
  uint64_t cases = 0;
  for (const auto& [name, bytes] : specimen.contents()) {
    for (uint64_t offset = cases % stride; offset < bytes.size(); offset += stride) {
      for (int bit = every_bit ? 0 : static_cast<int>(offset % 8); bit < 8;
           bit += every_bit ? 1 : 8, ++cases) {
        const auto files = specimen.Copy();
        ASSERT_EQ(files->FlipBit(JoinPath("/db", name), offset, bit), absl::OkStatus());
        ASSERT_EQ(specimen.CheckBefore(files.get(), NamesFor(name)), "")
            << name << " @" << offset << " bit " << bit;
        ASSERT_EQ(specimen.CheckAround(files.get(), NamesFor(name)), "")
            << name << " @" << offset << " bit " << bit;
        ASSERT_EQ(specimen.Check(files.get(), NamesFor(name)), "")
            << name << " @" << offset << " bit " << bit;
      }
    }
  }
  std::cout << cases << " flipped bits\n";
  EXPECT_GT(cases, 1000u);
}

TEST(DamageTest, FilesCutAndSectorsZeroed) {
  const Specimen specimen(3);
  uint64_t cases = 0;
  for (const auto& [name, bytes] : specimen.contents()) {
    const std::string path = JoinPath("/db", name);
    for (size_t length = 0; length < bytes.size();
         length += bytes.size() < 200 ? 1 : 1 + bytes.size() / 97, ++cases) {
      const auto files = specimen.Copy();
      ASSERT_EQ(files->WriteFile(path, std::string_view(bytes).substr(0, length)),
                absl::OkStatus());
      ASSERT_EQ(specimen.CheckBefore(files.get(), NamesFor(name)), "")
          << name << " cut at " << length;
      ASSERT_EQ(specimen.CheckAround(files.get(), NamesFor(name)), "")
          << name << " cut at " << length;
      ASSERT_EQ(specimen.Check(files.get(), NamesFor(name)), "") << name << " cut at " << length;
    }
    for (size_t sector = 0; sector < bytes.size(); sector += 512, ++cases) {
      for (const char filling : {'\0', '\xff'}) {
        std::string damaged = bytes;
        const size_t count = std::min<size_t>(512, bytes.size() - sector);
        damaged.replace(sector, count, std::string(count, filling));
        const auto files = specimen.Copy();
        ASSERT_EQ(files->WriteFile(path, damaged), absl::OkStatus());
        ASSERT_EQ(specimen.CheckAround(files.get(), NamesFor(name)), "")
            << name << " sector at " << sector;
        ASSERT_EQ(specimen.Check(files.get(), NamesFor(name)), "")
            << name << " sector at " << sector;
      }
    }
    const auto files = specimen.Copy();
    ASSERT_EQ(files->WriteFile(path, bytes + "more"), absl::OkStatus());
    ASSERT_EQ(specimen.Check(files.get(), NamesFor(name)), "") << name << " with bytes behind it";
  }
  std::cout << cases << " files cut or with a sector gone\n";
}

TEST(DamageTest, FilesOfAnotherDatabaseAndOfAnotherPlace) {
  const Specimen specimen(3);
  const Specimen twin(3);  // the same contents, another database
  const Specimen stranger(4);
  uint64_t cases = 0;
  for (const auto& [name, bytes] : specimen.contents()) {
    for (const Specimen* source : {&specimen, &twin, &stranger}) {
      for (const auto& [other_name, other_bytes] : source->contents()) {
        if (other_bytes == bytes) continue;
        const auto files = specimen.Copy();
        ASSERT_EQ(files->WriteFile(JoinPath("/db", name), other_bytes), absl::OkStatus());
        std::vector<std::string> names = NamesFor(name);
        // A foreign CURRENT may name a manifest that does not exist.
        if (name == kCurrentName) names.push_back("/db");
        ASSERT_EQ(specimen.Check(files.get(), names), "")
            << other_name << " in the place of " << name;
        ++cases;
      }
    }
  }
  std::cout << cases << " files in the place of others\n";
  EXPECT_GT(cases, 20u);
}

// All manifests are lost: the SSTables say which tables there are. CheckAround does not apply: a
// dropped row that is visible again may show versions that were garbage before they were visible.
TEST(DamageTest, WithoutAManifestEverythingInSstablesIsThere) {
  uint64_t tables = 0;
  uint64_t lines = 0;
  const uint64_t seeds = ReducedPart(60);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const Specimen specimen(seed);
    const auto files = specimen.Copy();
    for (const auto& [name, bytes] : specimen.contents()) {
      if (name == kCurrentName || name.starts_with("MANIFEST")) {
        ASSERT_EQ(files->Remove(JoinPath("/db", name)), absl::OkStatus());
      }
    }
    specimen.CheckComplete(files.get(), &tables, &lines);
  }
  std::cout << tables << " tables with " << lines << " cells without a manifest\n";
  EXPECT_GT(tables, seeds / 2);
  EXPECT_GT(lines, 5 * seeds);
}

// A damaged edit is repeated by later ones and by the SSTables.
TEST(DamageTest, WithADamagedManifestEverythingInSstablesIsThere) {
  uint64_t tables = 0;
  uint64_t lines = 0;
  const uint64_t seeds = ReducedPart(60);
  constexpr uint64_t kFlips = 8;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const Specimen specimen(seed);
    Random random(seed);
    for (const auto& [name, bytes] : specimen.contents()) {
      if (!name.starts_with("MANIFEST")) continue;
      for (uint64_t flip = 0; flip < kFlips; ++flip) {
        const auto files = specimen.Copy();
        const uint64_t offset = random.Below(bytes.size());
        SCOPED_TRACE(fmt::format("seed {}, byte {} of {}", seed, offset, bytes.size()));
        ASSERT_EQ(files->FlipBit(JoinPath("/db", name), offset, 3), absl::OkStatus());
        specimen.CheckComplete(files.get(), &tables, &lines);
      }
    }
  }
  std::cout << tables << " tables with " << lines << " cells with a damaged manifest\n";
  EXPECT_GT(tables, kFlips * seeds / 2);
  EXPECT_GT(lines, 5 * kFlips * seeds);
}

}  // namespace
}  // namespace stele::internal
