#include "steled/flags.h"

#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

constexpr int kCallsLimit = 10'000;
constexpr int kStallSecondsMax = 86'400;
constexpr int kUndeleteSecondsMax = 30 * 86'400;
constexpr int kSlowMillisMax = 86'400'000;
constexpr uint32_t kTraceSampleMax = 1'000'000;
constexpr uint64_t kMemoryBudgetMin = uint64_t{1} << 20;  // as in DatabaseOptions
constexpr uint64_t kMessageBytesMin = uint64_t{1} << 20;
// The maximum that Bigtable's clients accept.
constexpr uint64_t kMessageBytesLimit = uint64_t{256} << 20;
constexpr std::string_view kUnix = "unix:";

template <typename Number>
std::optional<Number> ToNumber(std::string_view text) {
  Number number = 0;
  const std::from_chars_result parsed =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return number;
}

// Parses "512MiB", "2GiB", "1073741824".
std::optional<uint64_t> ToBytes(std::string_view text) {
  uint64_t unit = 1;
  for (const auto& [suffix, bytes] :
       {std::pair<std::string_view, uint64_t>{"KiB", uint64_t{1} << 10},
        {"MiB", uint64_t{1} << 20},
        {"GiB", uint64_t{1} << 30}}) {
    if (!text.ends_with(suffix)) continue;
    text.remove_suffix(suffix.size());
    unit = bytes;
    break;
  }
  const std::optional<uint64_t> number = ToNumber<uint64_t>(text);
  if (!number.has_value() || *number > UINT64_MAX / unit) return std::nullopt;
  return *number * unit;
}

using SetValue = absl::Status (*)(const std::string& value, Flags* flags);

template <std::string Flags::*kMember>
absl::Status SetText(const std::string& value, Flags* flags) {
  flags->*kMember = value;
  return absl::OkStatus();
}

// A switch needs no value on the command line; a variable has a value.
template <bool Flags::*kMember>
absl::Status SetSwitch(const std::string& value, Flags* flags) {
  const bool is_on = value == "1" || value == "true";
  if (!is_on && value != "0" && value != "false")
    return InvalidArgument("takes 1 or 0, not \"{}\"", value);
  flags->*kMember = is_on;
  return absl::OkStatus();
}

absl::Status SetBackupDirectory(const std::string& value, Flags* flags) {
  if (value.empty())
    return InvalidArgument(
        "takes a directory, not \"\": without the flag, backups are in DIR-backups");
  flags->backup_directory = value;
  return absl::OkStatus();
}

absl::Status SetMemoryBudget(const std::string& value, Flags* flags) {
  const std::optional<uint64_t> bytes = ToBytes(value);
  if (!bytes.has_value() || *bytes < kMemoryBudgetMin)
    return InvalidArgument("takes a size of 1MiB or more, such as 512MiB, not \"{}\"", value);
  flags->memory_budget_bytes = *bytes;
  return absl::OkStatus();
}

absl::Status SetDurability(const std::string& value, Flags* flags) {
  if (value != "disk" && value != "process")
    return InvalidArgument("takes disk or process, not \"{}\"", value);
  flags->durability = value == "disk" ? Durability::kDisk : Durability::kProcess;
  return absl::OkStatus();
}

absl::Status SetCallsMax(const std::string& value, Flags* flags) {
  const std::optional<int> count = ToNumber<int>(value);
  if (!count.has_value() || *count < 4 || *count > kCallsLimit) {
    return InvalidArgument("takes a number of 4 to {}, not \"{}\"", kCallsLimit, value);
  }
  flags->calls_max = *count;
  return absl::OkStatus();
}

absl::Status SetStallTimeout(const std::string& value, Flags* flags) {
  const std::optional<int> seconds = ToNumber<int>(value);
  if (!seconds.has_value() || *seconds < 1 || *seconds > kStallSecondsMax) {
    return InvalidArgument("takes 1 to {} seconds, not \"{}\"", kStallSecondsMax, value);
  }
  flags->stall_timeout = std::chrono::seconds(*seconds);
  return absl::OkStatus();
}

absl::Status SetUndeletePeriod(const std::string& value, Flags* flags) {
  const std::optional<int> seconds = ToNumber<int>(value);
  if (!seconds.has_value() || *seconds < 0 || *seconds > kUndeleteSecondsMax) {
    return InvalidArgument("takes 0 to {} seconds, not \"{}\"", kUndeleteSecondsMax, value);
  }
  flags->undelete_period = std::chrono::seconds(*seconds);
  return absl::OkStatus();
}

absl::Status SetLogFormat(const std::string& value, Flags* flags) {
  if (value != "text" && value != "json")
    return InvalidArgument("takes text or json, not \"{}\"", value);
  flags->log_format = value == "json" ? LogFormat::kJson : LogFormat::kText;
  return absl::OkStatus();
}

absl::Status SetSlowCall(const std::string& value, Flags* flags) {
  const std::optional<int> millis = ToNumber<int>(value);
  if (!millis.has_value() || *millis < 0 || *millis > kSlowMillisMax) {
    return InvalidArgument("takes 0 to {} milliseconds, not \"{}\"", kSlowMillisMax, value);
  }
  flags->slow_call = std::chrono::milliseconds(*millis);
  return absl::OkStatus();
}

absl::Status SetTraceSample(const std::string& value, Flags* flags) {
  const std::optional<uint32_t> sample = ToNumber<uint32_t>(value);
  if (!sample.has_value() || *sample < 1 || *sample > kTraceSampleMax)
    return InvalidArgument("takes a number of 1 to {}, not \"{}\"", kTraceSampleMax, value);
  flags->trace_sample = *sample;
  return absl::OkStatus();
}

// Returns why this is not HOST:PORT; "" if it is.
std::string_view AddressFault(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return "the port is missing";
  if (colon == 0) return "the host is missing; 127.0.0.1 is this machine, 0.0.0.0 all addresses";
  if (address.find(',') != std::string_view::npos) return "it takes one address";
  if (address.find("//") != std::string_view::npos) return "it takes no scheme";
  if (address.find_first_of(" \t\n") != std::string_view::npos) return "it has a space";
  if (address.ends_with(']')) return "the port is missing";
  const std::string_view host = address.substr(0, colon);
  const bool is_bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  const std::string_view name = is_bracketed ? host.substr(1, host.size() - 2) : host;
  if (name.find_first_of("[]") != std::string_view::npos ||
      (!is_bracketed && name.find(':') != std::string_view::npos))
    return "an IPv6 address has brackets, as in [::1]:8086";
  if (is_bracketed && name.find(':') == std::string_view::npos)
    return "only an IPv6 address has brackets";
  if (!ToNumber<uint16_t>(address.substr(colon + 1)).has_value())
    return "the port is a number of 0 to 65535";
  return "";
}

absl::Status SetMetrics(const std::string& value, Flags* flags) {
  const std::string_view fault =
      value.starts_with(kUnix) ? "these pages have no Unix socket" : AddressFault(value);
  if (!fault.empty()) return InvalidArgument("takes HOST:PORT, not \"{}\": {}", value, fault);
  flags->metrics = value;
  return absl::OkStatus();
}

absl::Status SetListen(const std::string& value, Flags* flags) {
  const std::string_view path_fault = value == kUnix ? "the path is missing" : "";
  const std::string_view fault = value.starts_with(kUnix) ? path_fault : AddressFault(value);
  if (!fault.empty())
    return InvalidArgument("takes HOST:PORT or unix:PATH, not \"{}\": {}", value, fault);
  flags->listen = value;
  return absl::OkStatus();
}

absl::Status SetMessageBytesMax(const std::string& value, Flags* flags) {
  const std::optional<uint64_t> bytes = ToBytes(value);
  if (!bytes.has_value() || *bytes < kMessageBytesMin || *bytes > kMessageBytesLimit) {
    return InvalidArgument("takes 1MiB to 256MiB, not \"{}\"", value);
  }
  flags->message_bytes_max = *bytes;
  return absl::OkStatus();
}

struct FlagSpec {
  std::string_view name;
  std::string_view argument;  // "": a switch
  std::string_view help;      // lines, without indentation
  SetValue set;
};

constexpr FlagSpec kFlags[] = {
    {"db", "DIR", "the database; created if it does not exist", &SetText<&Flags::database>},
    {"listen", "ADDRESS",
     "HOST:PORT, where port 0 takes a free one, or unix:PATH\n(127.0.0.1:8086)", &SetListen},
    {"backup-dir", "DIR", "where backups are kept (DIR-backups, next to the database)",
     &SetBackupDirectory},
    {"memory-budget", "BYTES", "memory for memtables, cache and open files, as 512MiB (256MiB)",
     &SetMemoryBudget},
    {"durability", "disk|process",
     "what an acknowledged write survives: the loss of power, or\nthe end of the process (disk)",
     &SetDurability},
    {"max-calls", "N", "data calls that run at once; more are refused with UNAVAILABLE (256)",
     &SetCallsMax},
    {"stall-timeout", "SECONDS",
     "how long a client may stop reading a response before the\ncall is ended (60)",
     &SetStallTimeout},
    {"max-message-bytes", "BYTES",
     "the largest message of a read, up to 256MiB; larger rows span several\n(4MiB less 4KiB)",
     &SetMessageBytesMax},
    {"undelete-period", "SECONDS",
     "how long UndeleteTable can restore a deleted table, which keeps\nits space until then; 0: "
     "not at all (604800)",
     &SetUndeletePeriod},
    {"strict-instances", "",
     "return NOT_FOUND for an instance that CreateInstance did not\nmake and that has no tables",
     &SetSwitch<&Flags::strict_instances>},
    {"metrics", "HOST:PORT", "serve /metrics for Prometheus and /healthz, by HTTP without TLS",
     &SetMetrics},
    {"heatmap", "",
     "serve /heatmap, the load by key range and time, at the address of\n--metrics; it shows row "
     "keys",
     &SetSwitch<&Flags::heat_map>},
    {"log-format", "text|json", "the format of the log on standard error (text)", &SetLogFormat},
    {"slow-call-ms", "N", "log calls that take N milliseconds or longer; 0: none (1000)",
     &SetSlowCall},
    {"trace", "FILE",
     "record the operations of clients for stele trace, heatmap and replay;\nan existing trace is "
     "continued",
     &SetText<&Flags::trace>},
    {"trace-sample", "N", "record one operation in N, chosen at random (1)", &SetTraceSample},
    {"allow-remote", "", "listen on an address that other machines reach; needs TLS",
     &SetSwitch<&Flags::allow_remote>},
    {"allow-plaintext", "",
     "like --allow-remote, but without TLS: everyone who can\nconnect can read and change all data",
     &SetSwitch<&Flags::allow_plaintext>},
    {"tls-cert", "FILE", "certificate chain, PEM; SIGHUP reads the three files again",
     &SetText<&Flags::tls_cert>},
    {"tls-key", "FILE", "its private key, PEM", &SetText<&Flags::tls_key>},
    {"tls-client-ca", "FILE", "accept only clients with a certificate of this authority, PEM",
     &SetText<&Flags::tls_client_ca>},
};

const FlagSpec* FindFlag(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kFlags), std::end(kFlags),
                   [name](const FlagSpec& flag) { return flag.name == name; });
  return found == std::end(kFlags) ? nullptr : found;
}

std::vector<Flags::Given>::const_iterator FindGiven(const Flags& flags, std::string_view name) {
  return std::find_if(flags.given.begin(), flags.given.end(),
                      [name](const Flags::Given& each) { return each.name == name; });
}

// `source` is the flag or variable as its user wrote it.
absl::Status SetFlag(const FlagSpec& flag, const std::string& source, const std::string& value,
                     Flags* flags) {
  if (const absl::Status status = flag.set(value, flags); !status.ok())
    return InvalidArgument("{} {}", source, TextOf(status));
  std::erase_if(flags->given,
                [&flag](const Flags::Given& given) { return given.name == flag.name; });
  flags->given.push_back({.name = std::string(flag.name), .source = source, .value = value});
  return absl::OkStatus();
}

std::string VariableOf(std::string_view flag_name) {
  std::string variable = "STELED_";
  for (const char c : flag_name) variable += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  return variable;
}

std::vector<std::string> UnknownVariables(std::span<const std::string> names) {
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    const bool is_known =
        std::any_of(std::begin(kFlags), std::end(kFlags),
                    [&name](const FlagSpec& flag) { return VariableOf(flag.name) == name; });
    if (name.starts_with("STELED_") && !is_known) unknown.push_back(name);
  }
  return unknown;
}

// Reads the variables of flags that are not among the arguments.
absl::Status ReadEnvironment(const Environment& environment, std::span<const std::string> args,
                             Flags* flags) {
  for (const FlagSpec& flag : kFlags) {
    const bool is_given = std::any_of(args.begin(), args.end(), [&flag](const std::string& arg) {
      if (!arg.starts_with('-')) return false;  // the value of a flag
      std::string_view name = arg;
      name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
      return name.substr(0, name.find('=')) == flag.name;
    });
    if (is_given) continue;
    const std::string variable = VariableOf(flag.name);
    const std::optional<std::string> value = environment(variable);
    if (value.has_value() && !value->empty())
      STELED_RETURN_IF_ERROR(SetFlag(flag, variable, *value, flags));
  }
  return absl::OkStatus();
}

// Returns an error if the host has no address.
absl::Status CheckHost(const std::string& source, const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (error != 0) return InvalidArgument("{} {}: {}", source, address, gai_strerror(error));
  freeaddrinfo(found);
  return absl::OkStatus();
}

// Checks combinations of flags.
absl::Status CheckFlags(const Flags& flags) {
  const auto source = [&flags](std::string_view name) { return SourceOf(flags, name); };
  if (flags.database.empty())
    return InvalidArgument("no database named: give its directory with --db DIR or STELED_DB");
  if (flags.tls_cert.empty() != flags.tls_key.empty()) {
    const bool lacks_key = flags.tls_key.empty();
    return InvalidArgument("{} needs {}, too", source(lacks_key ? "tls-cert" : "tls-key"),
                           lacks_key ? "--tls-key" : "--tls-cert");
  }
  if (flags.heat_map && flags.metrics.empty())
    return InvalidArgument("{} needs --metrics HOST:PORT", source("heatmap"));
  if (flags.trace_sample != 1 && flags.trace.empty())
    return InvalidArgument("{} needs --trace", source("trace-sample"));
  if (!flags.tls_client_ca.empty() && flags.tls_cert.empty()) {
    return InvalidArgument("{} needs --tls-cert and --tls-key", source("tls-client-ca"));
  }
  if (flags.allow_plaintext && !flags.tls_cert.empty()) {
    return InvalidArgument(
        "{} and {} contradict each other: with a certificate every connection uses TLS",
        source("allow-plaintext"), source("tls-cert"));
  }
  if (IsLocal(flags.listen) || flags.allow_plaintext) return absl::OkStatus();
  if (!flags.allow_remote) {
    STELED_RETURN_IF_ERROR(CheckHost(source("listen"), flags.listen));
    return InvalidArgument(
        "other machines can reach {} {}: add --allow-remote with --tls-cert and --tls-key, or "
        "--allow-plaintext, or listen on 127.0.0.1:PORT",
        source("listen"), flags.listen);
  }
  if (flags.tls_cert.empty()) {
    return InvalidArgument("{} needs --tls-cert and --tls-key; without TLS use --allow-plaintext",
                           source("allow-remote"));
  }
  return absl::OkStatus();
}

void AppendFlagHelp(const FlagSpec& flag, std::string* text) {
  constexpr size_t kColumn = 27;
  std::string line =
      fmt::format("  --{}{}{}", flag.name, flag.argument.empty() ? "" : " ", flag.argument);
  std::string_view rest = flag.help;
  if (line.size() + 2 > kColumn) {
    *text += line + "\n";
    line.clear();
  }
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    line.resize(kColumn, ' ');
    *text += fmt::format("{}{}\n", line, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    line.clear();
  }
}

}  // namespace

std::string HelpText() {
  std::string text =
      "steled serves a Stele database with the API of Cloud Bigtable (google.bigtable.v2, "
      "google.bigtable.admin.v2).\n"
      "\n"
      "usage: steled --db DIR [flags]\n"
      "\n";
  for (const FlagSpec& flag : kFlags) AppendFlagHelp(flag, &text);
  text +=
      "  --help, --version\n"
      "\n"
      "Each flag can also be set by a variable: --memory-budget 1GiB is STELED_MEMORY_BUDGET=1GiB. "
      "The command line wins.\n"
      "When the server is ready, it prints \"listening on ADDRESS\". SIGTERM, SIGINT and\n"
      "SIGQUIT shut it down cleanly; SIGUSR1 states that the machine's clock is right.\n"
      "Set BIGTABLE_EMULATOR_HOST=HOST:PORT for the clients.\n";
  return text;
}

std::vector<std::string> VariableNames() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::make_optional<std::string>(value);
  };
}

std::string BackupRootOf(const Flags& flags) {
  if (!flags.backup_directory.empty()) return flags.backup_directory;
  if (flags.database == "mem:") return {};
  std::error_code error;
  // If the working directory is unknown, the path is used as given.
  std::filesystem::path path = std::filesystem::absolute(flags.database, error);
  path = (error ? std::filesystem::path(flags.database) : path).lexically_normal();
  // The path ended with '/'.
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();
  return path.string() + "-backups";
}

namespace {

// A flag as given on the command line.
struct Written {
  std::string name;
  std::optional<std::string> value;
};

Written SplitAtEquals(std::string_view arg) {
  arg = arg.substr(arg.starts_with("--") ? 2 : 1);
  const size_t equals = arg.find('=');
  if (equals == std::string_view::npos) return {.name = std::string(arg), .value = std::nullopt};
  return {.name = std::string(arg.substr(0, equals)), .value = std::string(arg.substr(equals + 1))};
}

// Returns --help or --version if one is given, even if other arguments are wrong.
std::optional<Flags::FlagAction> FindAction(std::span<const std::string> args) {
  for (const std::string& arg : args) {
    if (arg == "--help" || arg == "-help" || arg == "-h" || arg == "--h")
      return Flags::FlagAction::kHelp;
    if (arg == "--version" || arg == "-version") return Flags::FlagAction::kVersion;
  }
  return std::nullopt;
}

absl::Status ReadArguments(std::span<const std::string> args, Flags* flags) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].starts_with('-'))
      return InvalidArgument("\"{}\" is not a flag; \"steled --help\" lists the flags", args[i]);
    Written written = SplitAtEquals(args[i]);
    const FlagSpec* const flag = FindFlag(written.name);
    if (flag == nullptr) {
      return InvalidArgument("unknown flag {}; \"steled --help\" lists the flags",
                             args[i].substr(0, args[i].find('=')));
    }
    if (!written.value.has_value() && flag->argument.empty()) written.value = "1";
    if (!written.value.has_value()) {
      // The value of a flag never begins with "--": in "--db --listen" a value is missing.
      const bool has_next = i + 1 < args.size() && !args[i + 1].starts_with("--");
      if (!has_next)
        return InvalidArgument("--{} needs a value: --{} {}", flag->name, flag->name,
                               flag->argument);
      written.value = args[++i];
    }
    const std::string source = fmt::format("--{}", flag->name);
    const auto earlier = FindGiven(*flags, flag->name);
    if (earlier != flags->given.end() && earlier->source == source)
      return InvalidArgument("{} is given twice; give it once", source);
    STELED_RETURN_IF_ERROR(SetFlag(*flag, source, *written.value, flags));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Flags> ParseFlags(std::span<const std::string> args, const Environment& environment,
                                 std::span<const std::string> variable_names) {
  Flags flags;
  if (const std::optional<Flags::FlagAction> action = FindAction(args)) {
    flags.action = *action;
    return flags;
  }
  STELED_RETURN_IF_ERROR(ReadEnvironment(environment, args, &flags));
  STELED_RETURN_IF_ERROR(ReadArguments(args, &flags));
  STELED_RETURN_IF_ERROR(CheckFlags(flags));
  flags.unknown_variables = UnknownVariables(variable_names);
  return flags;
}

std::string SourceOf(const Flags& flags, std::string_view name) {
  const auto given = FindGiven(flags, name);
  return given == flags.given.end() ? fmt::format("--{}", name) : given->source;
}

std::string GivenText(const Flags& flags) {
  std::string text;
  for (const Flags::Given& given : flags.given) {
    text += fmt::format("{}--{}", text.empty() ? "" : " ", given.name);
    const FlagSpec* const flag = FindFlag(given.name);
    const bool is_switch = flag != nullptr && flag->argument.empty();
    if (!is_switch) text += fmt::format(" {}", given.value);
    if (is_switch && given.value != "1") text += fmt::format("={}", given.value);
  }
  return text;
}

bool IsLocal(std::string_view address) {
  if (address.starts_with(kUnix)) return true;
  const size_t colon = address.rfind(':');
  const std::string_view host = address.substr(0, colon);
  const std::string_view port = colon == std::string_view::npos ? "" : address.substr(colon + 1);
  if (!ToNumber<uint16_t>(port).has_value()) return false;
  if (host == "localhost" || host == "[::1]") return true;
  const auto allowed = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  return host.starts_with("127.") && std::all_of(host.begin(), host.end(), allowed);
}

bool ServesPlaintextRemotely(const Flags& flags) {
  return !IsLocal(flags.listen) && flags.tls_cert.empty();
}

}  // namespace stele::server
