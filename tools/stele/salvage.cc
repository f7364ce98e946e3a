// tools/stele/salvage.cc: the verb salvage. It copies everything that is readable of a damaged
// database to a new one, and lists what is not.
//
// How:       The rows of a table are read in pieces, which end where damage that Verify found
//            begins or ends, and at the row keys that divide the table evenly. If a piece fails,
//            the rest of it is read again, one family at a time. If that fails, the rows are lost.
// Why:       Rows of a damaged file are not copied from the other files. The damaged file may have
//            deleted or replaced those cells.
#include <set>
#include <utility>

#include "base/status.h"
#include "command.h"
#include "copy_batch.h"
#include "copy_plan.h"
#include "copy_source.h"
#include "damage.h"
#include "io/output_file.h"

namespace stele::cli {
namespace {

constexpr uint64_t kSalvagePieceBytes = uint64_t{8} << 20;

// Rows that could not be copied.
struct LostRows {
  std::string start;
  std::string end;       // exclusive; "": the end of the table
  std::string families;  // "": all
  std::string why;
};

// An error that concerns the data. Any other error ends the command.
bool IsLoss(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsUnavailable(status);
}

// The keys at which a piece begins, except the first.
std::set<std::string> CutsOf(const CopyTable& table, const VerifyReport& report) {
  std::set<std::string> cuts;
  for (const VerifyReport::Damage& damage : report.damages) {
    if (damage.table != table.source_name) continue;
    const RowRange& rows = damage.rows;
    const std::string next(1, '\0');
    cuts.insert(rows.start_bound() == RangeBound::kOpen ? rows.start() + next : rows.start());
    cuts.insert(rows.end_bound() == RangeBound::kClosed ? rows.end() + next : rows.end());
  }
  const absl::StatusOr<std::vector<RowKeySample>> samples = table.source.SampleRowKeys();
  if (samples.ok()) {
    for (const RowKeySample& sample : *samples) cuts.insert(sample.row_key);
  }
  cuts.erase("");
  return cuts;
}

class TableSalvage {
 public:
  explicit TableSalvage(const CopyTable& table) : table_(table) {}

  const std::vector<LostRows>& lost() const { return lost_; }
  const CopyCounts& counts() const { return counts_; }

  // Returns errors of the destination, and errors of the source that are no loss.
  absl::Status Run(const VerifyReport& report) {
    std::string start;
    for (const std::string& cut : CutsOf(table_, report)) {
      STELE_RETURN_IF_ERROR(CopyPiece(start, cut));
      start = cut;
    }
    return CopyPiece(start, "");
  }

 private:
  absl::Status CopyPiece(const std::string& start, const std::string& end) {
    std::string rest = start;
    const absl::Status read = CopyRows(Filter::PassAll(), end, rest);
    if (read.ok() || !IsLoss(read)) return read;
    const auto& families = table_.source_schema.families();
    if (families.size() < 2) {
      AddLost({.start = rest, .end = end, .families = "", .why = std::string(read.message())});
      return absl::OkStatus();
    }
    for (const FamilySchema& family : families) {
      std::string rest_of_family = rest;
      const absl::Status of_family = CopyRows(Filter::Family(family.name), end, rest_of_family);
      if (of_family.ok()) continue;
      if (!IsLoss(of_family)) return of_family;
      AddLost({.start = rest_of_family,
               .end = end,
               .families = family.name,
               .why = std::string(of_family.message())});
    }
    return absl::OkStatus();
  }

  // Copies rows from `start` to `end`, and sets `start` to the first key that is not copied.
  absl::Status CopyRows(const Filter& filter, const std::string& end, std::string& start) {
    RowReader reader =
        table_.source.ReadRows(RowRange::RightOpen(start, end), filter,
                               {.fill_cache = false, .row_piece_bytes = kSalvagePieceBytes});
    CopyBatch batch(table_.destination, table_.destination_schema);
    while (reader.Next()) {
      const RowView& row = reader.row();
      counts_ += batch.Add(row);
      if (row.is_last_piece()) {
        ++counts_.rows;
        start = std::string(row.row_key()) + '\0';
      }
      if (batch.is_full()) STELE_RETURN_IF_ERROR(Within("destination", batch.Write()));
    }
    STELE_RETURN_IF_ERROR(Within("destination", batch.Write()));
    return reader.status();
  }

  // Adjacent pieces that are lost for the same reason are one.
  void AddLost(LostRows rows) {
    for (LostRows& before : lost_) {
      if (before.end != rows.start || before.families != rows.families || before.why != rows.why)
        continue;
      before.end = rows.end;
      return;
    }
    lost_.push_back(std::move(rows));
  }

  const CopyTable& table_;
  std::vector<LostRows> lost_;
  CopyCounts counts_;
};

absl::StatusOr<CopySource> OpenDamaged(Session& session, const std::string& directory) {
  absl::StatusOr<CopySource> source = OpenCopySource(
      session, directory,
      {.create_if_missing = false, .read_only = true, .on_damage = OnDamage::kReadAround});
  return source.ok() ? source : Within("source", source.status());
}

// Adds the rows that were not copied to the list of damage.
absl::Status SalvageTables(Session& session, const std::vector<CopyTable>& tables,
                           const VerifyReport& report, Listing& listing) {
  for (const CopyTable& table : tables) {
    TableSalvage salvage(table);
    STELE_RETURN_IF_ERROR(
        Within(fmt::format("salvaging table \"{}\"", table.source_name), salvage.Run(report)));
    for (const LostRows& lost : salvage.lost()) {
      listing.records.push_back({"", nullptr, table.source_name,
                                 RowRange::RightOpen(lost.start, lost.end).ToString(),
                                 lost.families, "these rows are not copied: " + lost.why});
    }
    session.Note(fmt::format("Salvaged {}: {} rows, {} cells.\n", table.source_name,
                             salvage.counts().rows, salvage.counts().cells));
  }
  return absl::OkStatus();
}

// Prints the list of losses. The command exits with 3 unless everything is copied.
void ReportLosses(Session& session, const VerifyReport& report, const Listing& listing) {
  const Format format = session.options().format;
  if (!report.ok() || !listing.records.empty() || format != Format::kText)
    session.Print(ListingText(listing, format));
  if (listing.records.empty()) return session.Note("No damage was found: everything is copied.\n");
  session.Note(
      "The list has all damage, and the rows that are not copied. If commits are lost, a later "
      "commit may be copied without an earlier one.\n");
  session.SkippedSome();
}

}  // namespace

absl::Status RunSalvage(Session& session, const std::vector<std::string>& args) {
  if (args.size() != 2) return WrongUsage("salvage");
  const CopyRequest request{.source = args[0], .destination = args[1]};
  if (!IsDirectory(request.source) || !IsDirectory(request.destination))
    return UsageError("salvage: both DIRECTORY and NEW are directories");
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs({session.options().output},
                                                           {request.source, request.destination}));
  STELE_RETURN_IF_ERROR(
      internal::CheckOutputsAreNotInputs({request.destination}, {request.source}));
  STELE_ASSIGN_OR_RETURN(const CopySource source, OpenDamaged(session, request.source));
  STELE_ASSIGN_OR_RETURN(const VerifyReport report, source.database.Verify());
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, source.database.ListTables());
  if (names.empty() && report.ok()) return internal::NotFound("{} has no tables", request.source);
  if (names.empty()) {
    session.Note("No table is readable, so NEW is not created.\n");
    ReportLosses(session, report, DamageListing(report));
    return absl::OkStatus();
  }
  absl::StatusOr<Database> destination =
      OpenCopyDestination(session, request.destination, source, {.error_if_exists = true});
  if (absl::IsAlreadyExists(destination.status()))
    return internal::AlreadyExists("{} has a database: salvage needs a new directory",
                                   request.destination);
  if (!destination.ok()) return Within("destination", destination.status());
  STELE_ASSIGN_OR_RETURN(std::vector<CopyTable> tables, FindTables(request, source.database));
  STELE_RETURN_IF_ERROR(FitTables(session, request, *destination, tables));
  STELE_RETURN_IF_ERROR(MakeTables(*destination, tables));
  Listing listing = DamageListing(report);
  const absl::Status salvaged = SalvageTables(session, tables, report, listing);
  const absl::Status closed = destination->Close();
  STELE_RETURN_IF_ERROR(salvaged);
  STELE_RETURN_IF_ERROR(Within("closing the destination", closed));
  ReportLosses(session, report, listing);
  return absl::OkStatus();
}

}  // namespace stele::cli
