// tests/support/read_fixture.h: a table of handmade memtables and SSTables, and its rows as text.
//
// Threads:   Thread-compatible. Streams opened here must not outlive the table.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "read/row_stream.h"
#include "support/cell_vector_cursor.h"
#include "support/crash_fs/crash_file_system.h"

namespace stele::internal {

class HandmadeTable {
 public:
  // The families are "a" to "d" (cell_text.h). Tablets are divided at `splits`. `rules` are the GC
  // rules of the first families.
  explicit HandmadeTable(const std::vector<std::string>& splits = {},
                         const std::vector<GcRule>& rules = {GcRule::None(),
                                                             GcRule::MaxNumVersions(2)});

  // Add sources oldest first: files, then memtables. Lines have the form of cell_text.h.
  // Each call is one commit. It makes a new memtable, or an SSTable whose file reference
  // covers only the rows in `seen`.
  void AddFile(std::string_view lines, const KeyRange& seen = KeyRange::All());
  // Writes row groups of about this size.
  void AddFile(const OwnedRows& rows, const KeyRange& seen, uint32_t row_group_bytes);
  void AddMemtable(std::string_view lines);
  // Adds one more commit to the newest memtable.
  void Commit(std::string_view lines);
  // Adds a reference to an SSTable with these rows that could not be opened.
  void AddLostFile(std::string_view lines, absl::Status why,
                   const KeyRange& seen = KeyRange::All());

  // Returns options that read all rows as of the last commit. The caller may change them.
  RowStreamOptions Options(const Filter& filter = {}, int64_t now = 1'000'000) const;
  std::unique_ptr<RowStream> Open(RowStreamOptions options) const {
    return std::make_unique<RowStream>(std::move(options));
  }
  const TableView& view() const { return *view_; }
  uint64_t sequence() const { return sequence_; }
  CrashFileSystem& files() { return *files_; }

 private:
  void AddReference(std::shared_ptr<const SstableFile> file,
                    std::shared_ptr<const PinnedSstable> pinned, const KeyRange& seen);

  // A pointer, because a table moves.
  std::unique_ptr<CrashFileSystem> files_ = std::make_unique<CrashFileSystem>();
  std::shared_ptr<TableView> view_;
  std::shared_ptr<Memtable> newest_;
  uint64_t sequence_ = 0;
  uint64_t file_number_ = 0;
};

// Prints "row a:q@1=value" for each cell of a partial row, then " +" if more of the row follows.
// Partial rows are separated by "; ". An error comes last, as its code.
std::string Show(RowStream* stream);
std::string ShowPiece(const RowView& row);
// Opens a stream with these options and prints it in the same form.
std::string Show(const HandmadeTable& table, RowStreamOptions options);

}  // namespace stele::internal
