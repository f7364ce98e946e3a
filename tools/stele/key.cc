// tools/stele/key.cc: the verb key: the functions of stele/keys.h for the command line.
#include "key.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/status.h"
#include "command.h"
#include "key_bytes.h"
#include "key_text.h"

namespace stele::cli {
namespace {

using Results = absl::StatusOr<std::vector<std::string>>;

constexpr size_t kLineBytesMax = size_t{64} << 20;

// Reads a line of standard input without its newline. Returns false at the end.
absl::StatusOr<bool> ReadLine(std::string& line) {
  line.clear();
  int c = 0;
  while ((c = std::getc(stdin)) != EOF && c != '\n') {
    if (line.size() == kLineBytesMax)
      return internal::InvalidArgument("a line of standard input has more than {} bytes",
                                       kLineBytesMax);
    line += static_cast<char>(c);
  }
  if (std::ferror(stdin) != 0) return internal::ErrnoStatus("read", "standard input", errno);
  return c != EOF || !line.empty();
}

absl::StatusOr<std::string> BytesOf(const KeyRun& run, std::string_view text) {
  return run.flags.has("from-hex") ? BytesOfHex(text) : UnescapedKey(text);
}

// Reads a number of the command line, such as a width.
absl::StatusOr<int> SmallNumber(std::string_view name, std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return UsageError(
      fmt::format("{} \"{}\" is not a small whole number", name, internal::Printable(text)));
}

absl::StatusOr<int64_t> LargeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return internal::InvalidArgument("\"{}\" is not a whole number of 64 bits",
                                   internal::Printable(text));
}

Results One(absl::StatusOr<std::string> result) {
  if (!result.ok()) return result.status();
  return std::vector<std::string>{*std::move(result)};
}

absl::StatusOr<std::string> DelimiterOf(const KeyRun& run) {
  return UnescapedKey(run.flags.Get("delimiter", "#"));
}

absl::StatusOr<std::string> JoinParts(const KeyRun& run, std::span<const std::string> parts) {
  STELE_ASSIGN_OR_RETURN(const std::string delimiter, DelimiterOf(run));
  const std::vector<std::string_view> views(parts.begin(), parts.end());
  return run.flags.has("escape") ? keys::JoinEscaped(views, delimiter)
                                 : keys::Join(views, delimiter);
}

// The words are the parts of one key. Each line of standard input has the parts of one key,
// separated by tabs.
absl::Status RunJoin(const KeyRun& run) {
  if (run.words.size() == 1 && run.words[0] == "-") {
    return ForEachKey(run, 0, [&](const std::string& line) -> Results {
      std::vector<std::string> parts;
      for (const std::string_view part : keys::Split(line, "\t")) parts.emplace_back(part);
      return One(JoinParts(run, parts));
    });
  }
  std::vector<std::string> parts;
  for (const std::string& word : run.words) {
    STELE_ASSIGN_OR_RETURN(std::string part, BytesOf(run, word));
    parts.push_back(std::move(part));
  }
  STELE_ASSIGN_OR_RETURN(const std::string row_key, JoinParts(run, parts));
  PrintKey(run, row_key);
  return absl::OkStatus();
}

absl::Status RunSplit(const KeyRun& run) {
  STELE_ASSIGN_OR_RETURN(const std::string delimiter, DelimiterOf(run));
  return ForEachKey(run, 0, [&](const std::string& row_key) -> Results {
    if (run.flags.has("escape")) return keys::SplitEscaped(row_key, delimiter);
    std::vector<std::string> parts;
    for (const std::string_view part : keys::Split(row_key, delimiter)) parts.emplace_back(part);
    return parts;
  });
}

absl::Status RunPad(const KeyRun& run) {
  STELE_ASSIGN_OR_RETURN(const int width, SmallNumber("the width", run.words[0]));
  return ForEachKey(run, 1, [&](const std::string& text) { return One(keys::Pad(text, width)); });
}

absl::Status RunReverseTimestamp(const KeyRun& run) {
  return ForEachKey(run, 0, [](const std::string& text) -> Results {
    STELE_ASSIGN_OR_RETURN(const int64_t number, LargeNumber(text));
    return One(keys::ReverseMillis(number));
  });
}

absl::Status RunReverseDate(const KeyRun& run) {
  return ForEachKey(run, 0, [](const std::string& text) {
    return One(keys::ReverseDate(std::string_view(text)));
  });
}

absl::Status RunReverseDigits(const KeyRun& run) {
  int width = 0;
  if (const auto text = run.flags.Find("width")) {
    STELE_ASSIGN_OR_RETURN(width, SmallNumber("--width", *text));
    if (width == 0) return UsageError("--width 0: a width is from 1 to 4096");
  }
  return ForEachKey(run, 0,
                    [&](const std::string& text) { return One(keys::ReverseDigits(text, width)); });
}

absl::Status RunReverseDomain(const KeyRun& run) {
  return ForEachKey(run, 0, [](const std::string& text) { return One(keys::ReverseDomain(text)); });
}

absl::Status RunSalt(const KeyRun& run) {
  STELE_ASSIGN_OR_RETURN(const int buckets, SmallNumber("the number of buckets", run.words[0]));
  return ForEachKey(run, 1, [&](const std::string& row_key) -> Results {
    STELE_ASSIGN_OR_RETURN(std::string bucket, keys::SaltBucket(row_key, buckets));
    if (run.flags.has("key")) bucket.append("#").append(row_key);
    return std::vector<std::string>{std::move(bucket)};
  });
}

absl::Status RunBucketTime(const KeyRun& run) {
  const auto width_text = run.flags.Find("width");
  if (!width_text.has_value()) return UsageError("bucket-time needs --width, for example 15m");
  STELE_ASSIGN_OR_RETURN(const auto width, ParseWidth(*width_text));
  const std::string unit_text = run.flags.Get("unit", "ms");
  keys::TimeUnit unit = keys::TimeUnit::kMillis;
  if (unit_text == "s") {
    unit = keys::TimeUnit::kSeconds;
  } else if (unit_text == "us") {
    unit = keys::TimeUnit::kMicros;
  } else if (unit_text != "ms") {
    return UsageError(
        fmt::format("--unit must be s, ms or us, not \"{}\"", internal::Printable(unit_text)));
  }
  return ForEachKey(run, 0, [&](const std::string& text) -> Results {
    STELE_ASSIGN_OR_RETURN(const int64_t time, LargeNumber(text));
    STELE_ASSIGN_OR_RETURN(const int64_t bucket, keys::BucketTime(time, width, unit));
    return std::vector<std::string>{std::to_string(bucket)};
  });
}

absl::Status RunPrefixEnd(const KeyRun& run) {
  return ForEachKey(
      run, 0, [](const std::string& prefix) { return One(keys::PrefixEnd(prefix).value_or("")); });
}

absl::Status RunInspect(const KeyRun& run) {
  STELE_ASSIGN_OR_RETURN(const std::string delimiter, DelimiterOf(run));
  return ForEachKey(run, 0, [&](const std::string& row_key) -> Results {
    std::string text = fmt::format("{}  {} bytes\n", EscapedKey(row_key), row_key.size());
    for (const std::string_view segment : keys::Split(row_key, delimiter))
      text += fmt::format("  {}  {}\n", EscapedKey(segment), KindOfSegment(segment));
    run.session.Print(text);
    return std::vector<std::string>();
  });
}

struct KeyFunction {
  std::string_view name;
  std::vector<FlagSpec> flags;
  size_t words_min;
  absl::Status (*run)(const KeyRun& run);
};

const std::vector<KeyFunction>& KeyFunctions() {
  static const FlagSpec kHex = {"hex", false};
  static const FlagSpec kFromHex = {"from-hex", false};
  static const FlagSpec kEscape = {"escape", false};
  static const std::vector<KeyFunction> functions = {
      {"join", {kHex, kFromHex, kEscape, {"delimiter"}}, 1, RunJoin},
      {"split", {kHex, kFromHex, kEscape, {"delimiter"}}, 1, RunSplit},
      {"pad", {kHex, kFromHex}, 2, RunPad},
      {"rev-ts", {kHex, kFromHex}, 1, RunReverseTimestamp},
      {"rev-date", {kHex, kFromHex}, 1, RunReverseDate},
      {"rev-digits", {kHex, kFromHex, {"width"}}, 1, RunReverseDigits},
      {"rev-domain", {kHex, kFromHex}, 1, RunReverseDomain},
      {"salt", {kHex, kFromHex, {"key", false}}, 2, RunSalt},
      {"bucket-time", {kHex, kFromHex, {"width"}, {"unit"}}, 1, RunBucketTime},
      {"prefix-end", {kHex, kFromHex}, 1, RunPrefixEnd},
      {"inspect", {kFromHex, {"delimiter"}}, 1, RunInspect},
      {"encode", {kHex, {"schema"}, {"fields"}, {"encoding"}, {"delimiter"}}, 0, RunKeyEncode},
      {"decode", {kFromHex, {"schema"}, {"fields"}, {"encoding"}, {"delimiter"}}, 1, RunKeyDecode}};
  return functions;
}

}  // namespace

absl::Status ForEachKey(const KeyRun& run, size_t first,
                        const std::function<Results(const std::string& bytes)>& convert) {
  const auto convert_one = [&](std::string_view text) -> absl::Status {
    STELE_ASSIGN_OR_RETURN(const std::string bytes, BytesOf(run, text));
    STELE_ASSIGN_OR_RETURN(const std::vector<std::string> results, convert(bytes));
    for (const std::string& result : results) PrintKey(run, result);
    return absl::OkStatus();
  };
  if (run.words.size() != first + 1 || run.words[first] != "-") {
    for (size_t i = first; i < run.words.size(); ++i)
      STELE_RETURN_IF_ERROR(convert_one(run.words[i]));
    return absl::OkStatus();
  }
  return ForEachLine(convert_one);
}

absl::Status ForEachLine(const std::function<absl::Status(const std::string& line)>& convert) {
  std::string line;
  for (uint64_t number = 1;; ++number) {
    STELE_ASSIGN_OR_RETURN(const bool any, ReadLine(line));
    if (!any) return absl::OkStatus();
    const absl::Status status = convert(line);
    if (!status.ok()) {
      return absl::Status(status.code(), fmt::format("standard input:{}: {}", number,
                                                     internal::ToStd(status.message())));
    }
  }
}

void PrintKey(const KeyRun& run, std::string_view bytes) {
  if (run.as_json) {
    Json object = Json::object();
    SetBytes(object, "key", bytes);
    run.session.Print(JsonText(object) + "\n");
  } else {
    run.session.Print((run.flags.has("hex") ? HexText(bytes) : EscapedKey(bytes)) + "\n");
  }
}

absl::Status RunKey(Session& session, const std::vector<std::string>& args) {
  std::string unknown = args.empty() || args[0].starts_with("-") ? "" : args[0];
  // Flags may come before the name of the function, so the flags of each function are tried.
  for (const KeyFunction& function : KeyFunctions()) {
    auto flags = Flags::Parse(args, function.flags);
    const bool is_named = !args.empty() && args[0] == function.name;
    if (!flags.ok() && is_named) return flags.status();
    if (!flags.ok() || flags->words().empty()) continue;
    unknown = flags->words()[0];
    if (unknown != function.name) continue;
    STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, *flags));
    const KeyRun run{session, *flags, {flags->words().begin() + 1, flags->words().end()}, as_json};
    if (run.words.size() < function.words_min)
      return UsageError(
          fmt::format("key {} needs more words; see \"stele help key\"", function.name));
    if (as_json && function.name == "inspect")
      return UsageError("key inspect prints text for people, and has no JSON form");
    return function.run(run);
  }
  if (unknown.empty()) return WrongUsage("key");
  return UsageError(
      fmt::format("\"{}\" is not a function of stele key; \"stele help key\" lists them",
                  internal::Printable(unknown)));
}

}  // namespace stele::cli
