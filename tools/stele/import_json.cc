#include "import_json.h"

#include <string>
#include <utility>

#include "base/status.h"
#include "lab/values/row_events.h"
#include "row_text.h"

namespace stele::cli {
namespace {

class ImportCells {
 public:
  explicit ImportCells(ImportRow* row) : row_(*row) {}

  static absl::Status DecodeBase64(std::string_view text, std::string* out) {
    STELE_ASSIGN_OR_RETURN(*out, cli::DecodeBase64(text));
    return absl::OkStatus();
  }
  void Clear() { row_.cells.clear(); }
  absl::Status Add(internal::lab::RowLineCell cell) {
    row_.cells.push_back({.family = std::move(cell.family),
                          .qualifier = std::move(cell.qualifier),
                          .timestamp = cell.timestamp,
                          .value = std::move(cell.value)});
    return absl::OkStatus();
  }

 private:
  ImportRow& row_;
};

}  // namespace

absl::Status ParseRowJson(std::string_view line, ImportRow* row) {
  ImportCells cells(row);
  cells.Clear();
  return internal::lab::ReadRowLine(line, &cells, &row->row_key);
}

}  // namespace stele::cli
