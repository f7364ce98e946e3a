// manifest/edit.h: a change of the Version, as stored in the manifest.
//
// Used by:   commit/installer.cc and its callers make edits. manifest/manifest_log.cc applies and
//            stores them.
// Format:    docs/reference/format/manifest.md. edit_coding.h encodes it in parts.
// Tablets:   the tablet edits of a table, in any order, replace exactly the tablets that they
//            cover. Each contiguous range of them begins and ends at a boundary of the table's
//            tablets. Inside, they may move boundaries (a split, a merge of tablets). A tablet's
//            stack is replaced as a whole. Stacks are short, and the installer computes the new
//            stack from the current Version under its own mutex. So replaying an edit always gives
//            the same result. A file is described once, in the edit that first references it.
// Threads:   plain values and pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/version.h"

namespace stele::internal {

struct ReferenceEdit {
  // One of this edit's new_files, or a file that the Version before the edit references.
  uint64_t file_number = 0;
  SharedRange range;
  uint64_t sequence_first = 0;
  uint64_t sequence_last = 0;
};

struct TabletEdit {
  KeyRange range;
  std::vector<ReferenceEdit> stack;  // newest first
};

struct TableEdit {
  uint32_t table_id = 0;
  bool drop = false;  // true: the table is deleted; no other member may be set
  // If set: creates the table, or replaces its definition.
  std::shared_ptr<const TableDefinition> definition;
  std::optional<uint64_t> flushed_through;
  // For a new table: all its tablets. Otherwise the tablets that replace those they cover.
  std::vector<TabletEdit> tablets;
};

struct Edit {
  std::vector<SstableFile> new_files;
  std::vector<TableEdit> tables;
  std::optional<uint64_t> oldest_segment;
  SyncedLogEnd synced_log_end;  // the Version keeps the greatest
  // The log must be durable up to this sequence before the edit is (engine rule 3). The Version
  // keeps the greatest.
  uint64_t last_sequence = 0;
  int64_t clock_mark = 0;         // the Version keeps the newest; 0: not set
  uint64_t next_file_number = 0;  // these three: the Version keeps the greatest
  uint32_t next_table_id = 0;
  uint32_t next_family_id = 0;
  std::optional<SipKey> token_key;  // set only by snapshots
};

std::string EncodeEdit(const Edit& edit);
// Returns InvalidArgument if the bytes are not an edit. The caller turns it into DataLoss and adds
// file and offset.
absl::StatusOr<Edit> DecodeEdit(std::string_view bytes);

// Returns the Version after the edit, or an error that names the conflict (unknown table, unknown
// file, wrong range, ...).
absl::StatusOr<std::shared_ptr<const Version>> Apply(const Version& version, const Edit& edit);
// Like the other Apply, but moves the descriptions of new files to the result.
absl::StatusOr<std::shared_ptr<const Version>> Apply(const Version& version, Edit&& edit);
// Checks the invariants of version.h for the tables and tablets that the edit changed. `before`
// must satisfy them, and `after` is the result of the edit.
absl::Status CheckChanged(const Version& before, const Edit& edit, const Version& after);
// Returns one edit that creates `version` from nothing. A new manifest begins with it.
Edit SnapshotEdit(const Version& version);

// The commits of a tablet that a file represents.
struct FilePart {
  KeyRange range;  // the tablet's
  uint64_t sequence_first = 0;
  uint64_t sequence_last = 0;
  // For a compaction: the references that the file replaces in the tablet.
  std::vector<ReferenceEdit> inputs;
};
// Returns the encoded edit that an SSTable has in its footer (docs/reference/format/sstable.md). If
// the manifest is damaged or lost, the edit shows to which table the file belongs
// (db/file_edits.h). It does not have the splits of the schema. `flushed_through` is as in
// TableEdit; 0: unknown.
std::string EncodeFileEdit(const TableDefinition& definition, uint64_t file_number,
                           const std::vector<FilePart>& parts, uint64_t flushed_through);

// Return an edit or a Version as stable text, for dumps and text-driven tests.
std::string EditText(const Edit& edit);
std::string VersionText(const Version& version);

}  // namespace stele::internal
