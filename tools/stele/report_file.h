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
// Errors: a usage error for a file that does not end in .html, .json or .txt, or is the file of
// --trace; NotFound if its directory does not exist.
absl::StatusOr<std::string> TakeReportFile(Session& session);

// Prints the text, or the JSON if `as_json`. If `path` is not empty, also writes the form that its
// ending names to this file.
absl::Status WriteReportForms(Session& session, const std::string& path, bool as_json,
                              const ReportForms& forms);

}  // namespace stele::cli
