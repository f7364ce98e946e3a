#include "support/read_fixture.h"

#include <utility>

#include "base/invariant.h"
#include "base/status.h"
#include "io/file_names.h"
#include "support/cell_text.h"
#include "support/memtable_fill.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

class HandmadeSstable final : public PinnedSstable {
 public:
  HandmadeSstable(std::shared_ptr<SstableReader> reader, absl::Status status)
      : reader_(std::move(reader)), status_(std::move(status)) {}
  const std::shared_ptr<SstableReader>& reader() const override { return reader_; }
  absl::Status open_status() const override { return status_; }

 private:
  const std::shared_ptr<SstableReader> reader_;
  const absl::Status status_;
};

// Sets the read point, as one member or as its parts, whichever the options have.
template <typename Options>
void SetReadPoint(Options* options, uint64_t sequence, int64_t now) {
  if constexpr (requires { options->point; }) {
    options->point = {.view = nullptr, .sequence = sequence, .now = now};
  } else {
    options->sequence = sequence;
    options->now = now;
  }
}

std::shared_ptr<const TableDefinition> MakeTestDefinition(const std::vector<GcRule>& rules) {
  Schema schema;
  std::vector<FamilyEntry> families;
  for (uint32_t family_index = 1; family_index <= TestFamilies().size(); ++family_index) {
    const FamilyEntry& family = TestFamilies()[family_index];
    schema.AddFamily(family.name,
                     family_index <= rules.size() ? rules[family_index - 1] : GcRule::None());
    families.push_back(family);
  }
  return MakeDefinition(1, "t", 1, schema, families);
}

}  // namespace

HandmadeTable::HandmadeTable(const std::vector<std::string>& splits,
                             const std::vector<GcRule>& rules)
    : view_(std::make_shared<TableView>()) {
  auto state = std::make_shared<TableState>();
  state->definition = MakeTestDefinition(rules);
  std::vector<Tablet> tablets(1);
  for (const std::string& split : splits) {
    tablets.back().range.end = split;
    tablets.push_back({KeyRange{split, "", false}, {}});
  }
  tablets.back().range.unbounded_end = true;
  std::vector<ViewTablet> view_tablets;
  for (const Tablet& tablet : tablets) view_tablets.push_back({.range = tablet.range});
  view_->tablets = std::move(view_tablets);
  state->tablets = std::move(tablets);
  view_->state = std::move(state);
}

void HandmadeTable::AddReference(std::shared_ptr<const SstableFile> file,
                                 std::shared_ptr<const PinnedSstable> pinned,
                                 const KeyRange& seen) {
  const KeyRange rows{file->summary.first_row, file->summary.last_row + '\0', false};
  std::vector<ViewTablet> tablets = view_->tablets.Slice(0, view_->tablets.size());
  for (ViewTablet& tablet : tablets) {
    const KeyRange range = Intersect(Intersect(seen, tablet.range), rows);
    if (range.IsEmpty()) continue;
    const bool narrowed =
        !(range.Contains(file->summary.first_row) && range.Contains(file->summary.last_row));
    tablet.stack.insert(
        tablet.stack.begin(),
        {.reference = {file, range, sequence_, sequence_}, .file = pinned, .narrowed = narrowed});
  }
  view_->tablets = std::move(tablets);
}

void HandmadeTable::AddFile(std::string_view lines, const KeyRange& seen) {
  AddFile(ParseRows(lines), seen, 256);  // several row groups even in a small file
}

void HandmadeTable::AddFile(const OwnedRows& rows, const KeyRange& seen, uint32_t row_group_bytes) {
  STELE_CHECK(newest_ == nullptr);
  ++sequence_;
  auto file = std::make_shared<SstableFile>();
  file->number = ++file_number_;
  SstableBuilderOptions options;
  options.file_id = file->number;
  options.family_ids = TestFamilies().ids();
  options.row_group_bytes = row_group_bytes;
  const std::string path = JoinPath("/", SstableName(file->number));
  absl::StatusOr<SstableSummary> summary = WriteSstable(files_.get(), path, rows, options);
  STELE_CHECK(summary.ok());
  file->summary = *std::move(summary);
  absl::StatusOr<std::shared_ptr<SstableReader>> reader = OpenSstableFile(files_.get(), path);
  STELE_CHECK(reader.ok());
  AddReference(file, std::make_shared<HandmadeSstable>(*std::move(reader), absl::OkStatus()), seen);
}

void HandmadeTable::AddLostFile(std::string_view lines, absl::Status why, const KeyRange& seen) {
  ++sequence_;
  const OwnedRows rows = ParseRows(lines);
  auto file = std::make_shared<SstableFile>();
  file->number = ++file_number_;
  file->summary.rows = rows.size();
  file->summary.first_row = rows.front().row_key;
  file->summary.last_row = rows.back().row_key;
  AddReference(file, std::make_shared<HandmadeSstable>(nullptr, std::move(why)), seen);
}

void HandmadeTable::AddMemtable(std::string_view lines) {
  newest_ = std::make_shared<Memtable>(TestFamilies());
  view_->memtables.insert(view_->memtables.begin(), newest_);
  Commit(lines);
}

void HandmadeTable::Commit(std::string_view lines) {
  ApplyLines(newest_.get(), ++sequence_, lines);
}

RowStreamOptions HandmadeTable::Options(const Filter& filter, int64_t now) const {
  absl::StatusOr<FilterProgram> program =
      FilterProgram::Compile(filter, view_->definition().families);
  STELE_CHECK(program.ok());
  RowStreamOptions options{
      .table = view_, .ranges = {KeyRange::All()}, .program = *std::move(program)};
  SetReadPoint(&options, sequence_, now);
  return options;
}

std::string ShowPiece(const RowView& row) {
  std::string text(row.row_key());
  for (const CellView& cell : row.cells()) {
    text += fmt::format(" {}:{}@{}={}", cell.family(), cell.qualifier(), cell.timestamp().micros(),
                        cell.value());
  }
  return text + (row.is_last_piece() ? "" : " +");
}

std::string Show(RowStream* stream) {
  std::string text;
  while (stream->Next()) text += (text.empty() ? "" : "; ") + ShowPiece(stream->row());
  if (stream->status().ok()) return text;
  return text + (text.empty() ? "" : "; ") + absl::StatusCodeToString(stream->status().code());
}

std::string Show(const HandmadeTable& table, RowStreamOptions options) {
  return Show(table.Open(std::move(options)).get());
}

}  // namespace stele::internal
