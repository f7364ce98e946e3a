#include "lab/logical/written_records.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "lab/design/map_fields.h"
#include "lab/design/row_mapping.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kWrittenBytesMax = size_t{256} << 20;
constexpr size_t kBytesPerEntry = 192;  // of a row or a field, without its text

}  // namespace

absl::Status WrittenRecords::Count(size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kWrittenBytesMax) return absl::OkStatus();
  return InvalidArgument(
      "the rows that the trace writes, and their records, have more than {} bytes: divide the "
      "trace",
      kWrittenBytesMax);
}

absl::Status WrittenRecords::AddRow(const std::string& row_key) {
  if (!rows_.try_emplace(row_key).second) return absl::OkStatus();
  return Count(kBytesPerEntry + row_key.size());
}

absl::Status WrittenRecords::ReadInputs() {
  if (rows_.empty()) return absl::OkStatus();
  for (const QueryInputs& use : query_inputs_) {
    const std::string& name = use.query().write_input;
    if (use.query().read.has_value()) continue;
    const auto& inputs = use.model().inputs;
    const auto design_input = std::find_if(
        inputs.begin(), inputs.end(), [&](const DesignInput& input) { return input.name == name; });
    const auto input = RecordInput::FindOf(use.model(), *design_input, given_);
    std::error_code error;
    const bool is_readable = input.ok() && std::filesystem::exists(input->path(), error);
    if (!is_readable && given_.contains(name))
      return input.ok() ? NotFound("{} does not exist", Printable(input->path())) : input.status();
    if (!is_readable) {
      notes_.push_back(fmt::format(
          "the input {} has no file, so its writes have only the fields of the row key", name));
      continue;
    }
    STELE_RETURN_IF_ERROR(ReadInput(use, *input));
  }
  return absl::OkStatus();
}

absl::Status WrittenRecords::ReadInput(const QueryInputs& use, const RecordInput& input) {
  for (size_t file = 0; file < input.file_count(); ++file) {
    STELE_ASSIGN_OR_RETURN(const auto reader, input.Open(file));
    while (true) {
      STELE_ASSIGN_OR_RETURN(const bool any, reader->Next());
      if (!any) break;
      if (stop_.stop_requested()) return Cancelled("the conversion was stopped");
      // A bad record is no row of the table, as in a load that skips it.
      if (reader->status().ok()) STELE_RETURN_IF_ERROR(TakeRecord(use, reader->fields()));
    }
  }
  return absl::OkStatus();
}

absl::Status WrittenRecords::TakeRecord(const QueryInputs& use, const FieldSource& source) {
  const auto row_key = MapKey(use.table(), source);
  if (!row_key.ok()) return absl::OkStatus();
  const auto row = rows_.find(*row_key);
  if (row == rows_.end() || row->second.query != nullptr) return absl::OkStatus();
  std::set<std::string, std::less<>> fields;
  use.AddFieldsTo(&fields);
  stele::lab::Design::Record record;
  size_t bytes = 0;
  for (const std::string& field : fields) {
    const auto text = source.Text(field);
    if (!text.has_value()) continue;
    bytes += kBytesPerEntry + field.size() + text->size();
    record.emplace(field, *text);
  }
  if (!use.Check(source, MapFields(record)).ok()) return absl::OkStatus();
  row->second = {.query = &use.query(), .record = std::move(record)};
  return Count(bytes);
}

}  // namespace stele::internal::lab
