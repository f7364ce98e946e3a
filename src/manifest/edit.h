// manifest/edit.h: a change of the Version, as the manifest stores it.
//
// Format:    docs/format/manifest.md; in parts: edit_coding.h.
// Tablets:   the edits of a table, in whatever order, together replace just the tablets that they cover. Each run of them without a gap
//            begins and ends where tablets of the table do; in between it may cut them anew (a split, a merge of tablets). A tablet's stack
//            is replaced whole: stacks are short, and whoever installs computes the new stack from the current Version under the database
//            lock, so an edit means the same wherever it is replayed. Files are described once, in the edit that first references them.
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
  uint64_t file_number = 0;  // of new_files of this edit, or referenced by the Version the edit applies to
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
  bool drop = false;                                  // the table is gone; nothing else may be set
  std::shared_ptr<const TableDefinition> definition;  // set: create the table, or replace its definition
  std::optional<uint64_t> flushed_through;
  std::vector<TabletEdit> tablets;  // for a new table: all; else what takes the place of the tablets it covers
};

struct Edit {
  std::vector<SstableFile> new_files;
  std::vector<TableEdit> tables;
  std::optional<uint64_t> oldest_segment;
  LogReach log_reach;             // Version keeps the greatest
  uint64_t last_sequence = 0;     // the log must be durable through here before the edit is (engine rule 3); Version keeps the greatest
  int64_t clock_mark = 0;         // Version keeps the greatest
  uint64_t next_file_number = 0;  // these three: Version keeps the greatest
  uint32_t next_table_id = 0;
  uint32_t next_family_id = 0;
  std::optional<SipKey> token_key;  // given once, by the first snapshot
};

std::string EncodeEdit(const Edit& edit);
// DataLoss-worthy InvalidArgument text when the bytes are not an edit (the caller adds file and offset).
absl::StatusOr<Edit> DecodeEdit(std::string_view bytes);

// The Version after the edit, or what does not fit (unknown table, unknown file, wrong range ...).
absl::StatusOr<std::shared_ptr<const Version>> Apply(const Version& version, const Edit& edit);
// The same; the descriptions of new files move to the result.
absl::StatusOr<std::shared_ptr<const Version>> Apply(const Version& version, Edit&& edit);
// One edit that makes `version` from nothing: what a new manifest begins with.
Edit SnapshotEdit(const Version& version);

// An edit or a Version as stable text for dumps and text-driven tests.
std::string EditText(const Edit& edit);
std::string VersionText(const Version& version);

}  // namespace stele::internal
