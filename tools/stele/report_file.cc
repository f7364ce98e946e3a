#include "report_file.h"

#include "base/status.h"
#include "lab_files.h"

namespace stele::cli {

absl::StatusOr<std::string> TakeReportFile(Session& session) {
  const std::string path = session.options().output;
  STELE_RETURN_IF_ERROR(CheckAreDifferent({path, session.options().trace}));
  session.SetOutput("");
  if (path.empty()) return path;
  if (!path.ends_with(".html") && !path.ends_with(".json") && !path.ends_with(".txt"))
    return UsageError(
        fmt::format("-o {}: the file must end in .html, .json or .txt", internal::Printable(path)));
  STELE_RETURN_IF_ERROR(CheckOutputDirectories({path}));
  return path;
}

absl::Status WriteReportForms(Session& session, const std::string& path, bool as_json,
                              const ReportForms& forms) {
  session.Print(as_json ? forms.json() : forms.text());
  if (path.empty()) return absl::OkStatus();
  const auto& form = path.ends_with(".html")   ? forms.page
                     : path.ends_with(".json") ? forms.json
                                               : forms.text;
  STELE_RETURN_IF_ERROR(ReplaceFile(path, form()));
  if (!as_json) session.Print(fmt::format("wrote {}\n", internal::Printable(path)));
  return absl::OkStatus();
}

}  // namespace stele::cli
