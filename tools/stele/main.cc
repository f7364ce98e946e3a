// tools/stele/main.cc: the stele command: global flags, the call of the verb, exit statuses.
//
// Errors:    One line on standard error that begins with "stele: ". The exit status is 1, or 2 for
//            wrong usage. It is 3 if the command succeeded and left records out, or has findings.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "compare/signal_waiter.h"
#include "help_text.h"
#include "io/posix_descriptor.h"

namespace stele::cli {
namespace {

// cbt's flags for connecting to a server. They take a value, and have no effect on a database in a
// directory.
constexpr std::array<std::string_view, 10> kIgnoredFlags = {
    "project",   "instance",       "creds",         "access-token", "auth-token",
    "cert-file", "admin-endpoint", "data-endpoint", "timeout",      "user-agent"};

constexpr int64_t kWaitSecondsMax = 86'400;
constexpr int64_t kTraceSampleMax = 1'000'000;
constexpr int kSkippedStatus = 3;

bool IsIgnored(std::string_view name) {
  for (const std::string_view ignored : kIgnoredFlags) {
    if (name == ignored) return true;
  }
  return false;
}

// Removes one flag and its value from the arguments at `index`: -name VALUE or -name=VALUE, with
// one dash or two.
absl::Status TakeFlag(const std::vector<std::string>& args, size_t& index, GlobalOptions& options) {
  std::string name = args[index].substr(args[index].starts_with("--") ? 2 : 1);
  std::string value;
  if (const size_t equals = name.find('='); equals != std::string::npos) {
    value = name.substr(equals + 1);
    name.resize(equals);
  } else if (index + 1 < args.size()) {
    value = args[++index];
  } else {
    return UsageError(fmt::format("flag {} needs a value", args[index]));
  }
  ++index;
  if (name == "db") {
    options.database = value;
    options.has_database_flag = true;
  } else if (name == "o") {
    if (!options.output.empty()) return UsageError("flag -o is given twice");
    options.output = value;
  } else if (name == "format") {
    STELE_ASSIGN_OR_RETURN(options.format, ParseFormat(value));
    options.has_format_flag = true;
  } else if (name == "on-damage") {
    if (value != "before" && value != "around")
      return UsageError("--on-damage must be before or around");
    options.on_damage = value == "before" ? OnDamage::kReadBefore : OnDamage::kReadAround;
  } else if (name == "wait") {
    STELE_ASSIGN_OR_RETURN(options.wait_seconds, ParseNumber("number of seconds to wait", value));
    if (options.wait_seconds < 0 || options.wait_seconds > kWaitSecondsMax)
      return UsageError(fmt::format("--wait must be 0 to {} seconds", kWaitSecondsMax));
    options.has_wait_flag = true;
  } else if (name == "trace") {
    if (value.empty()) return UsageError("--trace needs the name of a file");
    options.trace = value;
  } else if (name == "trace-sample") {
    STELE_ASSIGN_OR_RETURN(options.trace_sample, ParseNumber("--trace-sample", value));
    if (options.trace_sample < 1 || options.trace_sample > kTraceSampleMax)
      return UsageError(fmt::format("--trace-sample must be 1 to {}", kTraceSampleMax));
  } else if (!IsIgnored(name)) {
    return UsageError(fmt::format("unknown flag -{}; \"stele help\" lists the flags", name));
  }
  return absl::OkStatus();
}

bool MayFollowVerb(std::string_view arg) {
  return arg == "--format" || arg.starts_with("--format=") || arg == "-o";
}

bool HasOwnFlags(std::span<const std::string> words) {
  const Command* const command = FindCommand(words);
  return command != nullptr && command->has_own_flags;
}

// True if "--help" is among the words of a verb, before "--", or "-h" is the only one.
bool AsksForHelp(std::span<const std::string> words) {
  if (words.size() == 2 && words.back() == "-h") return true;
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--help") != end;
}

// Flags come before the verb. --format and -o may also come after it. "--" ends the flags. The
// lab's verbs parse the words after them.
absl::StatusOr<std::vector<std::string>> TakeFlags(const std::vector<std::string>& args,
                                                   GlobalOptions& options) {
  std::vector<std::string> rest;
  size_t index = 0;
  while (index < args.size() && args[index].starts_with('-') && args[index] != "-" &&
         args[index] != "--") {
    if (args[index] == "-h" || args[index] == "-help" || args[index] == "--help")
      return std::vector<std::string>{"help"};
    if (args[index] == "--version") return std::vector<std::string>{"version"};
    STELE_RETURN_IF_ERROR(TakeFlag(args, index, options));
  }
  if (const Command* const command = FindCommand(std::span(args).subspan(index));
      command != nullptr && AsksForHelp(std::span(args).subspan(index)))
    return std::vector<std::string>{"help", std::string(command->verb)};
  if (HasOwnFlags(std::span(args).subspan(index)))
    return std::vector<std::string>(args.begin() + static_cast<ptrdiff_t>(index), args.end());
  bool plain = false;
  while (index < args.size()) {
    if (!plain && args[index] == "--") {
      plain = true;
      ++index;
    } else if (!plain && MayFollowVerb(args[index])) {
      STELE_RETURN_IF_ERROR(TakeFlag(args, index, options));
    } else {
      rest.push_back(args[index++]);
    }
  }
  return rest;
}

// Returns the number of bytes at the start of `text` that control a terminal: a control character,
// or U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069, which change the direction of text.
size_t HiddenBytes(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  if (byte(0) == 0x7f || (byte(0) < 0x20 && text[0] != '\n' && text[0] != '\t')) return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;
  if (byte(0) != 0xe2) return 0;
  const bool is_mark = byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f);
  const bool is_embedding = byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae;
  const bool is_isolate = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return is_mark || is_embedding || is_isolate ? 3 : 0;
}

// Returns the text with these bytes as \xNN.
std::string Shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t hidden_bytes = HiddenBytes(text);
    for (size_t i = 0; i < hidden_bytes; ++i)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    if (hidden_bytes == 0) out.push_back(text[0]);
    text.remove_prefix(std::max<size_t>(1, hidden_bytes));
  }
  return out;
}

int Report(const absl::Status& status) {
  if (status.ok()) return 0;
  const std::string line = fmt::format("stele: {}\n", Shown(internal::ToStd(status.message())));
  std::fwrite(line.data(), 1, line.size(), stderr);
  return IsUsageError(status) ? 2 : 1;
}

absl::Status RunVerb(Session& session, const std::vector<std::string>& words) {
  const Command* const command = FindCommand(words);
  if (command == nullptr)
    return UsageError(
        fmt::format("Unknown command \"{}\"; \"stele help\" lists the commands", words[0]));
  return command->run(session, {words.begin() + WordCount(*command), words.end()});
}

int Main(int argc, char** argv) {
  internal::OpenStandardDescriptors();
  // An error is one line. gRPC would print its own lines before it, unless the user asks for them.
  setenv("GRPC_VERBOSITY", "NONE", /*replace=*/0);
  GlobalOptions options;
  if (const char* database = std::getenv("STELE_DB")) options.database = database;
  const auto words = TakeFlags(std::vector<std::string>(argv + 1, argv + argc), options);
  if (!words.ok()) return Report(words.status());
  if (words->empty()) {
    std::fputs(HelpText().c_str(), stderr);
    return 2;
  }
  Session session(std::move(options));
  const absl::Status ran = RunVerb(session, *words);
  const absl::Status finished = session.Finish(ran.ok());
  const int exit_status = Report(ran.ok() ? finished : ran);
  if (session.signal() != 0) EndBySignal(session.signal());
  return exit_status == 0 && session.has_skipped() ? kSkippedStatus : exit_status;
}

}  // namespace
}  // namespace stele::cli

int main(int argc, char** argv) { return stele::cli::Main(argc, argv); }
