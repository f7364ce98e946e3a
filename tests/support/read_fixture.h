// tests/support/read_fixture.h: a table of memtables and SSTables made by hand, newest last, and rows read from it as text.
//
// Threads:   thread-compatible; streams opened here must not outlive the table.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/crash_file_system.h"
#include "read/row_stream.h"
#include "support/cell_vector_cursor.h"

namespace stele::internal {

class HandmadeTable {
 public:
  // Families "a" to "d" (cell_text.h); tablets divided at `splits`; the rules are for the first families.
  explicit HandmadeTable(const std::vector<std::string>& splits = {},
                         const std::vector<GcRule>& rules = {GcRule::None(), GcRule::MaxNumVersions(2)});

  // Sources are added oldest first: files, then memtables. Lines as in cell_text.h.
  // Each call is one commit, in a memtable of its own or as an SSTable of which only the rows in `seen` show.
  void AddFile(std::string_view lines, const KeyRange& seen = KeyRange::All());
  // In row groups of about so many bytes.
  void AddFile(const OwnedRows& rows, const KeyRange& seen, uint32_t row_group_bytes);
  void AddMemtable(std::string_view lines);
  // One commit more in the newest memtable.
  void Commit(std::string_view lines);
  // An SSTable that could not be opened, with these rows.
  void AddLostFile(std::string_view lines, absl::Status why);

  // All rows as of the last commit; the caller changes what it wants otherwise.
  RowStreamOptions Options(const Filter& filter = {}, int64_t now = 1'000'000) const;
  std::unique_ptr<RowStream> Open(RowStreamOptions options) const { return std::make_unique<RowStream>(std::move(options)); }
  const TableView& view() const { return *view_; }
  uint64_t sequence() const { return sequence_; }
  CrashFileSystem& files() { return *files_; }

 private:
  void AddReference(std::shared_ptr<const SstableFile> file, std::shared_ptr<const PinnedSstable> pinned, const KeyRange& seen);

  std::unique_ptr<CrashFileSystem> files_ = std::make_unique<CrashFileSystem>();  // behind a pointer: a table moves
  std::shared_ptr<TableView> view_;
  std::shared_ptr<Memtable> newest_;
  uint64_t sequence_ = 0;
  uint64_t file_number_ = 0;
};

// "row a:q@1=value" for each cell of a piece, then " +" if more of the row follows; pieces divided by "; ", an error last, as its code.
std::string Show(RowStream* stream);
std::string ShowPiece(const RowView& row);
// The same of a read with these options.
std::string Show(const HandmadeTable& table, RowStreamOptions options);

}  // namespace stele::internal
