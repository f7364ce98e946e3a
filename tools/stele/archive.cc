// tools/stele/archive.cc: the verb archive. It moves old cells of a table to another database.
//
// Steps:     copy, flush and sync the archive, compare, delete, compact. Only this command writes
//            to both databases while it runs. Each step starts again after an interruption, and
//            finds what the earlier run did.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive_cells.h"
#include "archive_state.h"
#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "io/output_file.h"
#include "key_bytes.h"
#include "lab_files.h"
#include "listing.h"
#include "location.h"
#ifdef STELE_HAS_LAB
#include "lab/values/time_text.h"
#endif

namespace stele::cli {

#ifdef STELE_HAS_LAB

namespace {

constexpr FlagSpec kArchiveFlags[] = {{"before"}, {"to"}, {"dry-run", false}, {"resume"}};

struct ArchiveRequest {
  std::string table;
  std::string directory;
  OldCells old;
  std::string state_path;  // "": the default
  bool is_dry_run = false;
  bool as_json = false;
};

absl::StatusOr<ArchiveRequest> ParseArchiveRequest(const Flags& flags) {
  const std::vector<std::string>& words = flags.words();
  if (words.empty() || !flags.has("before") || flags.Get("to", "").empty())
    return WrongUsage("archive");
  if (flags.has("resume") && flags.Get("resume", "").empty())
    return UsageError("--resume must name the state file");
  const std::string before = *flags.Find("before");
  const std::optional<int64_t> micros = internal::lab::ParseTime(before);
  if (!micros.has_value() || *micros == 0) {
    return UsageError(fmt::format(
        "--before must be a time such as 2015-01-01 or 2015-01-01T06:30:00Z, not \"{}\"", before));
  }
  ArchiveRequest request{.table = words[0],
                         .directory = *flags.Find("to"),
                         .old = {.before = Timestamp::FromMicros(*micros)},
                         .state_path = flags.Get("resume", ""),
                         .is_dry_run = flags.has("dry-run")};
  STELE_ASSIGN_OR_RETURN(const KeyValues values,
                         ParseKeyValues(std::span(words).subspan(1), {"prefix", "start", "end"}));
  STELE_ASSIGN_OR_RETURN(request.old.rows, ParseRange(values));
  return request;
}

absl::Status CheckDirectories(const Session& session, const ArchiveRequest& request) {
  const std::string& database = session.options().database;
  const std::string& archive = request.directory;
  for (const std::string& location : {database, archive}) {
    if (IsRemote(location) || location == "mem:") {
      return UsageError(
          fmt::format("archive works on directories, not on {}: on a server, use copy for the "
                      "data that is kept, and setgcpolicy for the table",
                      location));
    }
  }
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs({archive}, {database}));
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs({database}, {archive}));
  const std::string& output = session.options().output;
  STELE_RETURN_IF_ERROR(
      internal::CheckOutputsAreNotInputs({output, session.options().trace}, {archive}));
  std::vector<std::string> outputs = ArchiveStateFiles(request.state_path);
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs(outputs, {database, archive, output}));
  outputs.push_back(session.options().trace);
  return CheckAreDifferent(outputs);
}

// The archive keeps all cells, so it has no GC rules.
Schema ArchiveSchema(const Schema& schema) {
  Schema archive;
  for (FamilySchema family : schema.families()) {
    family.gc = GcRule::None();
    archive.AddFamily(std::move(family));
  }
  for (const std::string& split : schema.splits()) archive.AddSplit(split);
  for (const auto& [key, value] : schema.properties()) archive.SetProperty(key, value);
  return archive.SetGranularity(schema.granularity())
      .SetCompression(schema.compression())
      .SetLimits(schema.limits());
}

// Adds the families that the table got after the archive was made.
absl::Status AddFamilies(const Schema& schema, const Schema& archive_schema, Table& archive) {
  std::vector<FamilyChange> changes;
  for (const FamilySchema& family : schema.families()) {
    const FamilySchema* const archived = archive_schema.family(family.name);
    if (archived == nullptr) {
      changes.push_back(FamilyChange::Create(
          {.name = family.name, .gc = GcRule::None(), .value_type = family.value_type}));
    } else if (archived->value_type != family.value_type) {
      return internal::FailedPrecondition(
          "family \"{}\" has another type in the archive: use another archive", family.name);
    } else if (archived->gc != GcRule::None()) {
      return internal::FailedPrecondition(
          "family \"{}\" has the GC rule {} in the archive, which may remove archived cells: set "
          "it to never",
          family.name, archived->gc.ToString());
    }
  }
  return changes.empty() ? absl::OkStatus() : archive.ModifyColumnFamilies(changes);
}

absl::StatusOr<Table> OpenArchiveTable(Database& archive, const std::string& name,
                                       const Schema& schema) {
  auto table = archive.OpenTable(name);
  if (table.status().code() == absl::StatusCode::kNotFound)
    return archive.CreateTable(name, ArchiveSchema(schema));
  STELE_RETURN_IF_ERROR(table.status());
  STELE_ASSIGN_OR_RETURN(const Schema archive_schema, table->schema());
  if (schema.granularity() != archive_schema.granularity())
    return internal::FailedPrecondition(
        "table \"{}\" has timestamps of another granularity in the archive", name);
  STELE_RETURN_IF_ERROR(Within("the archive", AddFamilies(schema, archive_schema, *table)));
  return table;
}

// Returns the error of an archive that has less than an earlier run verified.
absl::Status LostCells(uint64_t verified, const ArchiveRequest& request, std::string_view left) {
  return internal::FailedPrecondition(
      "an earlier run verified {} in the archive {}, which has {} now; nothing was deleted. Put "
      "the archive back, or remove {} to archive without those that are lost",
      Counted(verified, "cell", "cells"), request.directory, left, request.state_path);
}

// Opens the archive. Creates it only if no earlier run verified cells in it: its disk may not be
// mounted.
absl::StatusOr<Database> OpenArchive(Session& session, const ArchiveRequest& request,
                                     const ArchiveState& state) {
  const uint64_t verified = state.verified_cells().value_or(0);
  auto archive = session.OpenUnlocked(
      request.directory, {.create_if_missing = verified == 0, .read_only = request.is_dry_run});
  if (verified != 0 && archive.status().code() == absl::StatusCode::kNotFound)
    return LostCells(verified, request, "no database");
  return archive;
}

// Returns an error if the archive lost cells since an earlier run verified them. Writes nothing.
absl::Status CheckVerified(const ArchiveState& state, const ArchiveRequest& request,
                           const Database& archive) {
  const uint64_t verified = state.verified_cells().value_or(0);
  if (verified == 0) return absl::OkStatus();
  const auto table = archive.OpenTable(request.table);
  if (table.status().code() == absl::StatusCode::kNotFound)
    return LostCells(verified, request, "no table of this name");
  STELE_RETURN_IF_ERROR(table.status());
  STELE_ASSIGN_OR_RETURN(const OldCellCounts counts, CountOldCells(*table, request.old));
  if (counts.cells >= verified) return absl::OkStatus();
  return LostCells(verified, request, Counted(counts.cells, "cell", "cells"));
}

struct FilledArchive {
  uint64_t copied = 0;
  uint64_t verified = 0;
};

// Returns how many cells were copied and verified. Afterwards the archive has all old cells, on
// disk.
absl::StatusOr<FilledArchive> FillArchive(const ArchiveRequest& request, const ArchiveState& state,
                                          const Table& table, Database& archive) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  STELE_RETURN_IF_ERROR(CheckVerified(state, request, archive));
  STELE_ASSIGN_OR_RETURN(Table archive_table, OpenArchiveTable(archive, request.table, schema));
  FilledArchive filled;
  STELE_ASSIGN_OR_RETURN(filled.copied, CopyOldCells(table, archive_table, request.old));
  STELE_RETURN_IF_ERROR(archive_table.Flush());
  STELE_RETURN_IF_ERROR(archive.Sync());
  STELE_ASSIGN_OR_RETURN(filled.verified, VerifyOldCells(table, archive_table, request.old));
  return filled;
}

void PrintCounts(Session& session, const ArchiveRequest& request, const OldCellCounts& counts,
                 uint64_t copied) {
  if (request.as_json) {
    Listing listing{.names = {"table", "rows", "cells", "bytes", "copied_cells"}, .records = {}};
    listing.records.push_back({request.table, counts.rows, counts.cells, counts.bytes, copied});
    session.Print(ListingText(listing, Format::kJson));
    return;
  }
  session.Print(
      fmt::format("{}: {}, {}, {} {} {}\n", request.table, Counted(counts.rows, "row", "rows"),
                  Counted(counts.cells, "cell", "cells"), Counted(counts.bytes, "byte", "bytes"),
                  request.is_dry_run ? "would move to" : "moved to", request.directory));
}

// Moves the cells. The state file records how many of them were verified.
absl::Status MoveOldCells(Session& session, const ArchiveRequest& request, Database& database,
                          Table& table, ArchiveState& state) {
  STELE_RETURN_IF_ERROR(state.Begin());
  if (state.verified_cells().has_value())
    session.Note(fmt::format("stele: {}: continuing; an earlier run verified {} in the archive\n",
                             EscapedKey(request.table),
                             Counted(*state.verified_cells(), "cell", "cells")));
  // Open until the cells are deleted, so that no other process changes it after the comparison.
  STELE_ASSIGN_OR_RETURN(Database archive, OpenArchive(session, request, state));
  STELE_ASSIGN_OR_RETURN(const FilledArchive filled, FillArchive(request, state, table, archive));
  STELE_RETURN_IF_ERROR(state.SetVerified(filled.verified));
  STELE_ASSIGN_OR_RETURN(const OldCellCounts counts, DeleteOldCells(table, request.old));
  STELE_RETURN_IF_ERROR(database.Sync());
  PrintCounts(session, request, counts, filled.copied);
  session.KeepOutput();  // the cells have moved
  STELE_RETURN_IF_ERROR(Within("the cells have moved: closing the archive", archive.Close()));
  STELE_RETURN_IF_ERROR(Within("the cells have moved, but the state file remains", state.Remove()));
  return Within("the cells have moved, but their space was not freed",
                table.Compact(request.old.rows));
}

// Prints what MoveOldCells would move, or returns the error of a lost archive. Writes nothing.
absl::Status PrintOldCells(Session& session, const ArchiveRequest& request, const Table& table,
                           const ArchiveState& state) {
  if (state.verified_cells().value_or(0) != 0) {
    STELE_ASSIGN_OR_RETURN(Database archive, OpenArchive(session, request, state));
    STELE_RETURN_IF_ERROR(CheckVerified(state, request, archive));
    STELE_RETURN_IF_ERROR(Within("closing the archive", archive.Close()));
  }
  STELE_ASSIGN_OR_RETURN(const OldCellCounts counts, CountOldCells(table, request.old));
  PrintCounts(session, request, counts, 0);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunArchive(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kArchiveFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  STELE_ASSIGN_OR_RETURN(ArchiveRequest request, ParseArchiveRequest(flags));
  request.as_json = as_json;
  const ArchiveParameters parameters = {.database = session.options().database,
                                        .table = request.table,
                                        .rows = request.old.rows,
                                        .before = request.old.before,
                                        .archive = request.directory};
  if (request.state_path.empty()) request.state_path = DefaultArchiveState(parameters);
  STELE_RETURN_IF_ERROR(CheckDirectories(session, request));
  ArchiveState state(request.state_path, parameters);
  STELE_RETURN_IF_ERROR(state.Check());
  const auto access = request.is_dry_run ? Session::Access::kRead : Session::Access::kWrite;
  STELE_ASSIGN_OR_RETURN(Database database, session.Open(access));
  STELE_ASSIGN_OR_RETURN(Table table, database.OpenTable(request.table));
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  request.old.unit =
      Timestamp::FromMicros(schema.granularity() == TimestampGranularity::kMillis ? 1000 : 1);
  if (request.old.before.micros() % request.old.unit.micros() != 0)
    return UsageError(fmt::format("--before must be a whole millisecond: table {} has no others",
                                  EscapedKey(request.table)));
  return request.is_dry_run ? PrintOldCells(session, request, table, state)
                            : MoveOldCells(session, request, database, table, state);
}

#else

absl::Status RunArchive(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("archive");
}

#endif

}  // namespace stele::cli
