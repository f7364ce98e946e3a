// unit/compaction/stack_reader.h: reads the stacks of tablets from lines of text, for the tests of
// the picker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "manifest/version.h"
#include "support/compaction_fixture.h"
#include "support/manifest_history.h"

namespace stele::internal {

// Parses "file 7 bytes=100 [rows=a..c] [keys=a..c] [cells=10] [tombstones=0] [row_tombstones=0]
// [row_count=10] [family=1] [min=0] [max=0] [versions=1] [commit=0] [same] [bottommost_codec]
// [first=1]": a file reference, newest first. `same`: in the same interval as the previous
// reference. `first`: the start of its own interval. A repeated number is the same file with the
// same commits. The file's first and last row are those of the tablets that refer to it, or `keys`.
class StackReader {
 public:
  SstableReference Read(const std::string& line, const KeyRange& tablet) {
    std::istringstream in(line);
    std::string word;
    uint64_t number = 0;
    in >> word >> number;
    std::map<std::string, std::string> values;
    while (in >> word) values[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    const auto value = [&](const char* name, int64_t otherwise) {
      return values.count(name) == 0 ? otherwise : std::stoll(values[name]);
    };
    std::shared_ptr<SstableFile>& file = files_[number];
    if (file == nullptr) {
      file =
          std::make_shared<SstableFile>(TestFile(number, RowsIn(tablet).start, RowsIn(tablet).end));
      if (values.count("keys") != 0) file->summary.first_row = ParseRange(values["keys"]).start;
      if (values.count("keys") != 0) file->summary.last_row = ParseRange(values["keys"]).end;
      file->newest_commit_time = value("commit", 0);
      file->bottommost_codec = values.count("bottommost_codec") != 0;
      SstableSummary& summary = file->summary;
      FamilySummary& family = summary.families[0];
      summary.file_bytes = static_cast<uint64_t>(value("bytes", 100));
      family.family_id = static_cast<uint32_t>(value("family", 1));
      summary.cells = family.cells = static_cast<uint64_t>(value("cells", 10));
      summary.logical_bytes = family.logical_bytes = summary.file_bytes;
      family.timestamp_min = value("min", 0);
      family.timestamp_max = value("max", 0);
      family.versions_max = static_cast<uint64_t>(value("versions", 1));
      family.tombstones = static_cast<uint64_t>(value("tombstones", 0));
      summary.row_tombstones = static_cast<uint64_t>(value("row_tombstones", 0));
      summary.tombstones = family.tombstones + summary.row_tombstones;
      summary.rows = static_cast<uint64_t>(
          value("row_count", static_cast<int64_t>(summary.cells + summary.row_tombstones)));
    }
    file->summary.last_row = std::max(file->summary.last_row, RowsIn(tablet).end);
    if (values.count("same") == 0) sequence_ -= 10;
    const uint64_t sequence = sequences_.try_emplace(number, sequence_).first->second;
    const KeyRange rows =
        values.count("rows") == 0 ? tablet : Intersect(ParseRange(values["rows"]), tablet);
    return {file, rows, static_cast<uint64_t>(value("first", static_cast<int64_t>(sequence))),
            sequence + 5};
  }

 private:
  // Returns the first and the last single letter in the tablet.
  static KeyRange RowsIn(const KeyRange& tablet) {
    const std::string last =
        tablet.unbounded_end ? "z" : std::string(1, static_cast<char>(tablet.end[0] - 1));
    return {tablet.start.empty() ? "a" : tablet.start, last, false};
  }

  std::map<uint64_t, std::shared_ptr<SstableFile>> files_;
  std::map<uint64_t, uint64_t> sequences_;  // by file
  uint64_t sequence_ = 100'000;
};

}  // namespace stele::internal
