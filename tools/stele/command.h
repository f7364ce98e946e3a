// tools/stele/command.h: a command (verb) with its help text. The table of commands is in help.cc.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "session.h"

namespace stele::cli {

struct Command {
  std::string_view verb;
  std::string_view summary;  // one line for the list
  std::string_view usage;    // the arguments and their meaning
  absl::Status (*run)(Session& session, const std::vector<std::string>& args);
  bool has_own_flags = false;  // parses all words after the verb; see flags.h
};

std::span<const Command> Commands();
// Returns the command that the words begin with, or nullptr. A verb of two words, such as "import
// dynamodb", comes before a verb of one.
const Command* FindCommand(std::span<const std::string> words);
// The number of words of the verb: 1 or 2.
ptrdiff_t WordCount(const Command& command);
// Returns a UsageError with the verb's usage line.
absl::Status WrongUsage(std::string_view verb);

absl::Status RunCreateTable(Session& session, const std::vector<std::string>& args);
absl::Status RunLoad(Session& session, const std::vector<std::string>& args);
absl::Status RunLs(Session& session, const std::vector<std::string>& args);
absl::Status RunDeleteTable(Session& session, const std::vector<std::string>& args);
absl::Status RunCreateFamily(Session& session, const std::vector<std::string>& args);
absl::Status RunDeleteFamily(Session& session, const std::vector<std::string>& args);
absl::Status RunSetGcPolicy(Session& session, const std::vector<std::string>& args);
absl::Status RunSetValueType(Session& session, const std::vector<std::string>& args);
absl::Status RunSet(Session& session, const std::vector<std::string>& args);
absl::Status RunAddToCell(Session& session, const std::vector<std::string>& args);
absl::Status RunArchive(Session& session, const std::vector<std::string>& args);
absl::Status RunRead(Session& session, const std::vector<std::string>& args);
absl::Status RunLookup(Session& session, const std::vector<std::string>& args);
absl::Status RunCount(Session& session, const std::vector<std::string>& args);
absl::Status RunImport(Session& session, const std::vector<std::string>& args);
absl::Status RunImportDynamoDb(Session& session, const std::vector<std::string>& args);
absl::Status RunExportDynamoDb(Session& session, const std::vector<std::string>& args);
absl::Status RunExport(Session& session, const std::vector<std::string>& args);
absl::Status RunDeleteRow(Session& session, const std::vector<std::string>& args);
absl::Status RunDeleteColumn(Session& session, const std::vector<std::string>& args);
absl::Status RunDesign(Session& session, const std::vector<std::string>& args);
absl::Status RunDeleteAllRows(Session& session, const std::vector<std::string>& args);
absl::Status RunDropRowRange(Session& session, const std::vector<std::string>& args);
absl::Status RunFlush(Session& session, const std::vector<std::string>& args);
absl::Status RunCompact(Session& session, const std::vector<std::string>& args);
absl::Status RunStats(Session& session, const std::vector<std::string>& args);
absl::Status RunClock(Session& session, const std::vector<std::string>& args);
absl::Status RunVerify(Session& session, const std::vector<std::string>& args);
absl::Status RunCheckpoint(Session& session, const std::vector<std::string>& args);
absl::Status RunCopy(Session& session, const std::vector<std::string>& args);
absl::Status RunHeatMap(Session& session, const std::vector<std::string>& args);
absl::Status RunLint(Session& session, const std::vector<std::string>& args);
absl::Status RunKey(Session& session, const std::vector<std::string>& args);
absl::Status RunDump(Session& session, const std::vector<std::string>& args);
absl::Status RunDoctor(Session& session, const std::vector<std::string>& args);
absl::Status RunTrace(Session& session, const std::vector<std::string>& args);
absl::Status RunReplay(Session& session, const std::vector<std::string>& args);
absl::Status RunCompareDesigns(Session& session, const std::vector<std::string>& args);
absl::Status RunSalvage(Session& session, const std::vector<std::string>& args);
absl::Status RunBench(Session& session, const std::vector<std::string>& args);
absl::Status RunHelp(Session& session, const std::vector<std::string>& args);
absl::Status RunVersion(Session& session, const std::vector<std::string>& args);

}  // namespace stele::cli
