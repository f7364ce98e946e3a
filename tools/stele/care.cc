// tools/stele/care.cc: the verbs flush, compact, stats, clock, verify, checkpoint, dump.
#include <algorithm>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "damage.h"
#include "inspect/dump.h"
#include "io/file_system.h"
#include "listing.h"
#include "location.h"

namespace stele::cli {
namespace {

absl::Status ForEachTable(Session& session, const std::vector<std::string>& names,
                          absl::Status (*run)(Table&)) {
  STELE_ASSIGN_OR_RETURN(const Database database, session.Open(Session::Access::kWrite));
  std::vector<std::string> tables = names;
  if (tables.empty()) {
    STELE_ASSIGN_OR_RETURN(tables, database.ListTables());
  }
  for (const std::string& name : tables) {
    STELE_ASSIGN_OR_RETURN(Table table, database.OpenTable(name));
    STELE_RETURN_IF_ERROR(Within(name, run(table)));
  }
  return absl::OkStatus();
}

absl::Status PrintDatabaseStats(Session& session, const Database& database) {
  if (IsRemote(session.options().database)) {
    return internal::Unimplemented(
        "stats: a server with Bigtable's API reports the size of a table only: stats TABLE");
  }
  const DatabaseStats stats = database.Stats();
  Listing listing{.names = {"name", "value"}};
  const auto add = [&](std::string_view name, uint64_t value) {
    listing.records.push_back({std::string(name), value});
  };
  add("tables", stats.tables);
  add("files", stats.disk.sstables);
  add("bytes_on_disk", stats.disk.sstable_bytes);
  add("token_bytes", stats.disk.token_bytes);
  add("log_bytes", stats.disk.log_bytes);
  add("memtable_bytes", stats.memory.memtable_bytes);
  add("replayed_log_bytes", stats.since_open.replayed_log_bytes);
  add("discarded_log_bytes", stats.since_open.discarded_log_bytes);
  add("clock_trusted", stats.clock.is_trusted ? 1 : 0);
  session.Print(ListingText(listing, session.options().format));
  return absl::OkStatus();
}

absl::Status PrintTableStats(Session& session, const Database& database, const std::string& name) {
  STELE_ASSIGN_OR_RETURN(const Table table, database.OpenTable(name));
  STELE_ASSIGN_OR_RETURN(const TableStats stats, table.Stats());
  Listing listing{
      .names = {"what", "name", "rows", "cells", "bytes_logical", "bytes_on_disk", "files"}};
  if (IsRemote(session.options().database)) {  // a server reports nothing else
    listing.records.push_back(
        {"table", name, nullptr, nullptr, nullptr, stats.bytes_on_disk, nullptr});
    session.Print(ListingText(listing, session.options().format));
    return absl::OkStatus();
  }
  listing.records.push_back({"table", name, stats.rows, stats.cells, stats.bytes_logical,
                             stats.bytes_on_disk, stats.files});
  uint64_t other_cells = stats.cells;
  uint64_t other_bytes = stats.bytes_logical;
  for (const FamilyStats& family : stats.families) {
    listing.records.push_back(
        {"family", family.name, nullptr, family.cells, family.bytes, nullptr, nullptr});
    other_cells -= std::min(other_cells, family.cells);
    other_bytes -= std::min(other_bytes, family.bytes);
  }
  // Row keys, row tombstones and dropped families.
  listing.records.push_back({"other", "", nullptr, other_cells, other_bytes, nullptr, nullptr});
  uint64_t hidden_cells = stats.cells - std::min(stats.cells, stats.memtable_cells);
  uint64_t hidden_bytes = stats.bytes_on_disk;
  for (const TabletStats& tablet : stats.tablets) {
    hidden_cells -= std::min(hidden_cells, tablet.cells);
    hidden_bytes -= std::min(hidden_bytes, tablet.bytes_on_disk);
    const std::string rows =
        fmt::format("[{}, {})", Quoted(tablet.start), tablet.end.empty() ? "" : Quoted(tablet.end));
    listing.records.push_back(
        {"tablet", rows, nullptr, tablet.cells, nullptr, tablet.bytes_on_disk, tablet.files});
  }
  listing.records.push_back({"memtables", "", nullptr, stats.memtable_cells, nullptr, 0, 0});
  // Parts of files that no tablet shows: rows that DropRowRange removed.
  listing.records.push_back({"dropped", "", nullptr, hidden_cells, nullptr, hidden_bytes, nullptr});
  session.Print(ListingText(listing, session.options().format));
  return absl::OkStatus();
}

// Prints a note if the clock is not trusted: cells are then not removed by their age. This is so
// after a leap, and if nothing changed for more than a day.
void NoteUntrustedClock(Session& session, const DatabaseStats::Clock& clock) {
  if (clock.is_trusted) return;
  if (clock.now <= clock.collection_time) {
    return session.Note(fmt::format(
        "the clock is not trusted, because it went back; if it is {} now, run: stele clock "
        "confirm\n",
        clock.now.ToString()));
  }
  session.Note(fmt::format(
      "the clock is not trusted: cells are removed by their age only up to {}; if it is {} now, "
      "run: stele clock confirm\n",
      clock.collection_time.ToString(), clock.now.ToString()));
}

}  // namespace

absl::Status RunFlush(Session& session, const std::vector<std::string>& args) {
  if (args.size() > 1) return WrongUsage("flush");
  return Within("Flushing",
                ForEachTable(session, args, [](Table& table) { return table.Flush(); }));
}

absl::Status RunCompact(Session& session, const std::vector<std::string>& args) {
  if (args.size() > 1) return WrongUsage("compact");
  STELE_RETURN_IF_ERROR(Within(
      "Compacting", ForEachTable(session, args, [](Table& table) { return table.Compact(); })));
  STELE_ASSIGN_OR_RETURN(const Database database, session.Open(Session::Access::kWrite));
  NoteUntrustedClock(session, database.Stats().clock);
  return absl::OkStatus();
}

absl::Status RunStats(Session& session, const std::vector<std::string>& args) {
  if (args.size() > 1) return WrongUsage("stats");
  STELE_ASSIGN_OR_RETURN(const Database database, session.Open(Session::Access::kRead));
  return args.empty() ? PrintDatabaseStats(session, database)
                      : PrintTableStats(session, database, args[0]);
}

absl::Status RunClock(Session& session, const std::vector<std::string>& args) {
  const bool confirms = args.size() == 1 && args[0] == "confirm";
  if (!args.empty() && !confirms) return WrongUsage("clock");
  STELE_ASSIGN_OR_RETURN(Database database,
                         session.Open(confirms ? Session::Access::kWrite : Session::Access::kRead));
  if (confirms) STELE_RETURN_IF_ERROR(Within("Confirming the clock", database.ConfirmClock()));
  const DatabaseStats::Clock clock = database.Stats().clock;
  if (clock.now == Timestamp())
    return internal::Unimplemented(
        "clock: the clock is the server's; run it where the database is");
  Listing listing{.names = {"name", "value"}};
  listing.records.push_back({"now", clock.now.ToString()});
  listing.records.push_back({"collection_time", clock.collection_time.ToString()});
  listing.records.push_back({"trusted", clock.is_trusted ? "yes" : "no"});
  session.Print(ListingText(listing, session.options().format));
  NoteUntrustedClock(session, clock);
  return absl::OkStatus();
}

absl::Status RunVerify(Session& session, const std::vector<std::string>& args) {
  if (!args.empty()) return WrongUsage("verify");
  STELE_ASSIGN_OR_RETURN(const Database database, session.Open(Session::Access::kExamine));
  STELE_ASSIGN_OR_RETURN(const VerifyReport report, database.Verify());
  const Format format = session.options().format;
  if (!report.ok() || format != Format::kText)
    session.Print(ListingText(DamageListing(report), format));
  const std::string read =
      fmt::format("{}, {} bytes read", Counted(report.files, "file", "files"), report.bytes);
  if (report.ok()) {
    if (format == Format::kText) session.Print(fmt::format("ok: {}\n", read));
    return absl::OkStatus();
  }
  session.KeepOutput();
  return internal::MakeStatus(
      absl::StatusCode::kDataLoss,
      fmt::format("{} found, {}: restore these rows from a checkpoint or an export; "
                  "\"stele salvage\" copies the other rows to a new database",
                  Counted(report.damages.size(), "damaged place", "damaged places"), read));
}

absl::Status RunCheckpoint(Session& session, const std::vector<std::string>& args) {
  if (args.size() != 1) return WrongUsage("checkpoint");
  STELE_RETURN_IF_ERROR(session.CheckOutputs({args[0]}));
  // Others may read meanwhile.
  absl::StatusOr<Database> database = session.Open(Session::Access::kRead);
  // Only a writer can make room for a log that does not fit in memory.
  if (absl::IsResourceExhausted(database.status()))
    database = session.Open(Session::Access::kWrite);
  if (IsOpenInServer(database.status())) {
    return internal::MakeStatus(
        database.status().code(),
        fmt::format("{}; to copy its tables meanwhile, make backups through the server "
                    "(CreateBackup)",
                    internal::ToStd(database.status().message())));
  }
  STELE_RETURN_IF_ERROR(database.status());
  return Within("Checkpoint", database->Checkpoint(args[0]));
}

absl::Status RunDump(Session& session, const std::vector<std::string>& args) {
  if (args.empty() || args.size() > 2) return WrongUsage("dump");
  STELE_ASSIGN_OR_RETURN(const KeyValues values,
                         ParseKeyValues(std::span(args).subspan(1), {"cells"}));
  bool cells = false;
  if (const auto text = Find(values, "cells")) {
    STELE_ASSIGN_OR_RETURN(cells, ParseBool("cells", *text));
  }
  STELE_ASSIGN_OR_RETURN(const std::string text,
                         internal::DumpFile(internal::PosixFileSystem(), args[0], cells));
  session.Print(text);
  return absl::OkStatus();
}

}  // namespace stele::cli
