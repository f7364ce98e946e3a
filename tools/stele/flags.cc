#include "flags.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "arguments.h"
#include "base/status.h"

namespace stele::cli {
namespace {

bool IsFlag(std::string_view arg) { return arg.starts_with("--") || arg.starts_with("-o"); }

bool IsBeforeVerb(std::string_view name) {
  static constexpr std::string_view kNames[] = {"db", "on-damage", "wait", "trace", "trace-sample"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Returns the flag with this name, or nullptr.
const FlagSpec* FindSpec(std::span<const FlagSpec> specs, std::string_view name) {
  static constexpr FlagSpec kOfEveryVerb[] = {{"format"}, {"o"}};
  for (const std::span<const FlagSpec> list : {specs, std::span<const FlagSpec>(kOfEveryVerb)}) {
    for (const FlagSpec& spec : list) {
      if (spec.name == name) return &spec;
    }
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<Flags> Flags::Parse(std::span<const std::string> args,
                                   std::span<const FlagSpec> specs) {
  Flags flags;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--") {
      flags.words_.insert(flags.words_.end(), args.begin() + static_cast<ptrdiff_t>(i) + 1,
                          args.end());
      break;
    }
    if (!IsFlag(args[i])) {
      flags.words_.push_back(args[i]);
      continue;
    }
    const std::string text = args[i].substr(args[i].starts_with("--") ? 2 : 1);
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const FlagSpec* const spec = FindSpec(specs, name);
    if (spec == nullptr && IsBeforeVerb(name))
      return UsageError(fmt::format("--{} goes before the verb: stele --{} ... VERB", name, name));
    if (spec == nullptr) {
      return UsageError(fmt::format("unknown flag {}; \"stele help COMMAND\" lists the flags",
                                    internal::Printable(args[i].substr(0, args[i].find('=')))));
    }
    std::string value;
    if (equals != std::string::npos) {
      if (!spec->has_value) return UsageError(fmt::format("flag --{} has no value", name));
      value = text.substr(equals + 1);
    } else if (spec->has_value) {
      if (i + 1 == args.size()) return UsageError(fmt::format("flag --{} needs a value", name));
      value = args[++i];
    }
    if (flags.has(name) && !spec->may_repeat)
      return UsageError(fmt::format("flag --{} is given twice", name));
    flags.values_.emplace(name, std::move(value));
  }
  return flags;
}

std::optional<std::string> Flags::Find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::string Flags::Get(std::string_view name, std::string_view otherwise) const {
  return Find(name).value_or(std::string(otherwise));
}

std::vector<std::string> Flags::All(std::string_view name) const {
  std::vector<std::string> all;
  const auto [begin, end] = values_.equal_range(name);
  for (auto value = begin; value != end; ++value) all.push_back(value->second);
  return all;
}

absl::Status TakeOutput(Session& session, const std::optional<std::string>& output,
                        const std::optional<std::string>& format,
                        std::initializer_list<Format> accepted, std::string_view names) {
  if (output.has_value()) {
    if (!session.options().output.empty()) return UsageError("flag -o is given twice");
    session.SetOutput(*output);
  }
  if (format.has_value() && session.options().has_format_flag)
    return UsageError("flag --format is given twice");
  const absl::StatusOr<Format> parsed =
      format.has_value() ? ParseFormat(*format) : session.options().format;
  if (!parsed.ok() || std::find(accepted.begin(), accepted.end(), *parsed) == accepted.end())
    return UsageError(fmt::format("--format of this command must be {}", names));
  session.SetFormat(*parsed);
  return absl::OkStatus();
}

absl::StatusOr<bool> TakeOutputFlags(Session& session, const Flags& flags) {
  STELE_RETURN_IF_ERROR(TakeOutput(session, flags.Find("o"), flags.Find("format"),
                                   {Format::kText, Format::kJson}, "text or json"));
  return session.options().format == Format::kJson;
}

absl::StatusOr<uint64_t> NumberFlag(const Flags& flags, std::string_view name, int64_t least,
                                    int64_t most, uint64_t otherwise) {
  const auto text = flags.Find(name);
  if (!text.has_value()) return otherwise;
  const auto number = ParseNumber(name, *text);
  if (!number.ok() || *number < least || *number > most)
    return UsageError(fmt::format("--{} must be a number from {} to {}", name, least, most));
  return static_cast<uint64_t>(*number);
}

absl::StatusOr<uint64_t> ParseSkipBad(const Flags& flags, std::string_view things) {
  const auto skip = flags.Find("skip-bad");
  if (skip.has_value() != flags.has("bad-file"))
    return UsageError("--skip-bad and --bad-file need each other");
  if (!skip.has_value()) return 0;
  if (*skip == "all") return std::numeric_limits<uint64_t>::max();
  STELE_ASSIGN_OR_RETURN(const int64_t count, ParseNumber("skip-bad", *skip));
  if (count < 0)
    return UsageError(fmt::format("--skip-bad must be a number of {}, or all", things));
  return static_cast<uint64_t>(count);
}

absl::StatusOr<std::map<std::string, std::string>> ParseInputs(
    const std::vector<std::string>& values) {
  std::map<std::string, std::string> inputs;
  for (const std::string& text : values) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return UsageError("--input must be NAME=PATH");
    if (!inputs.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      return UsageError("--input names an input twice");
  }
  return inputs;
}

}  // namespace stele::cli
