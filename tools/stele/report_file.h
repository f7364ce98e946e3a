// tools/stele/report_file.h: the file of -o for commands whose report may be a page.
//
// Threads:   confined to one thread.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "session.h"

namespace stele::cli {

// The forms of a report. Each function returns the whole report.
struct ReportForms {
  std::function<std::string()> text;
  std::function<std::string()> json;
  std::function<std::string()> page;  // HTML
};

// Takes the file of -o, which may also come before the verb, from the session. The session prints
// to standard output. Returns "" without -o.
// Errors: usage errors for a file that does not end in .html, .json or .txt, and for --format json
// with another one than .json; NotFound if its directory does not exist.
absl::StatusOr<std::string> TakeReportFile(Session& session, bool as_json);

// Writes the form of the file's ending to the file, and prints the text. Without a file, prints the
// text, or the JSON if `as_json`.
absl::Status WriteReportForms(Session& session, const std::string& path, bool as_json,
                              const ReportForms& forms);

}  // namespace stele::cli
