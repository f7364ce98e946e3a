#include "flags.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

#include "errors.h"

namespace stele::server {
namespace {

constexpr int kCallsLimit = 10'000;
constexpr int kStallSecondsMax = 86'400;
constexpr uint64_t kMessageBytesLeast = uint64_t{1} << 20;
constexpr uint64_t kMessageBytesLimit = uint64_t{256} << 20;  // what Bigtable's own clients take

template <typename Number>
std::optional<Number> ToNumber(std::string_view text) {
  Number number = 0;
  const std::from_chars_result parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// "512MiB", "2GiB", "1073741824".
std::optional<uint64_t> ToBytes(std::string_view text) {
  uint64_t unit = 1;
  for (const auto& [suffix, bytes] :
       {std::pair<std::string_view, uint64_t>{"KiB", uint64_t{1} << 10}, {"MiB", uint64_t{1} << 20}, {"GiB", uint64_t{1} << 30}}) {
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

// A switch is on without a value, and takes one from the environment.
template <bool Flags::*kMember>
absl::Status SetSwitch(const std::string& value, Flags* flags) {
  const bool is_on = value == "1" || value == "true";
  if (!is_on && value != "0" && value != "false") return InvalidArgument("takes 1 or 0, not \"{}\"", value);
  flags->*kMember = is_on;
  return absl::OkStatus();
}

absl::Status SetMemoryBudget(const std::string& value, Flags* flags) {
  const std::optional<uint64_t> bytes = ToBytes(value);
  if (!bytes.has_value()) return InvalidArgument("takes a size such as 512MiB, not \"{}\"", value);
  flags->memory_budget_bytes = *bytes;
  return absl::OkStatus();
}

absl::Status SetDurability(const std::string& value, Flags* flags) {
  if (value != "disk" && value != "process") return InvalidArgument("takes disk or process, not \"{}\"", value);
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

absl::Status SetMessageBytesMax(const std::string& value, Flags* flags) {
  const std::optional<uint64_t> bytes = ToBytes(value);
  if (!bytes.has_value() || *bytes < kMessageBytesLeast || *bytes > kMessageBytesLimit) {
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
    {"listen", "ADDRESS", "HOST:PORT, where port 0 takes a free one, or unix:PATH\n(127.0.0.1:8086)", &SetText<&Flags::listen>},
    {"backup-dir", "DIR", "where backups are kept (DIR-backups, beside the database)", &SetText<&Flags::backup_directory>},
    {"memory-budget", "BYTES", "memory for memtables, cache and open files, as 512MiB (256MiB)", &SetMemoryBudget},
    {"durability", "disk|process", "what an acknowledged write survives: the loss of power, or\nthe end of the process (disk)",
     &SetDurability},
    {"max-calls", "N", "data calls that run at once; more are refused with UNAVAILABLE (256)", &SetCallsMax},
    {"stall-timeout", "SECONDS", "how long a client may leave an answer unread before the\ncall is ended (60)", &SetStallTimeout},
    {"max-message-bytes", "BYTES", "the largest message of a read, up to 256MiB; larger rows span several\n(4MiB less 4KiB)",
     &SetMessageBytesMax},
    {"metrics", "HOST:PORT", "serve /metrics for Prometheus and /healthz, by HTTP without TLS", &SetText<&Flags::metrics>},
    {"allow-remote", "", "listen on an address that other machines reach; needs TLS", &SetSwitch<&Flags::allow_remote>},
    {"allow-plaintext", "", "like --allow-remote, but without TLS: everyone who can\nconnect can read and change all data",
     &SetSwitch<&Flags::allow_plaintext>},
    {"tls-cert", "FILE", "certificate chain, PEM; SIGHUP reads the three files again", &SetText<&Flags::tls_cert>},
    {"tls-key", "FILE", "its private key, PEM", &SetText<&Flags::tls_key>},
    {"tls-client-ca", "FILE", "accept only clients with a certificate of this authority, PEM", &SetText<&Flags::tls_client_ca>},
};

const FlagSpec* FindFlag(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kFlags), std::end(kFlags), [name](const FlagSpec& flag) { return flag.name == name; });
  return found == std::end(kFlags) ? nullptr : found;
}

// `source`: the flag or variable as its user wrote it.
absl::Status SetFlag(const FlagSpec& flag, std::string_view source, const std::string& value, Flags* flags) {
  const absl::Status status = flag.set(value, flags);
  return status.ok() ? status : InvalidArgument("{} {}", source, TextOf(status));
}

std::string VariableOf(std::string_view flag_name) {
  std::string variable = "STELED_";
  for (const char c : flag_name) variable += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  return variable;
}

absl::Status ReadEnvironment(const Environment& environment, Flags* flags) {
  for (const FlagSpec& flag : kFlags) {
    const std::string variable = VariableOf(flag.name);
    const std::optional<std::string> value = environment(variable);
    if (value.has_value() && !value->empty()) STELED_RETURN_IF_ERROR(SetFlag(flag, variable, *value, flags));
  }
  return absl::OkStatus();
}

// One address and no more: the HTTP library would take a list, and letters behind a port.
bool IsHostPort(std::string_view address) {
  const size_t colon = address.rfind(':');
  return colon != std::string_view::npos && colon > 0 && address.find(',') == std::string_view::npos &&
         ToNumber<uint16_t>(address.substr(colon + 1)).has_value();
}

// Flags that need each other.
absl::Status CheckFlags(const Flags& flags) {
  if (flags.database.empty()) return InvalidArgument("no database named: give its directory with --db DIR");
  if (flags.listen == "unix:") return InvalidArgument("--listen unix:PATH needs a path");
  if (flags.tls_cert.empty() != flags.tls_key.empty()) return InvalidArgument("--tls-cert and --tls-key go together");
  if (!flags.tls_client_ca.empty() && flags.tls_cert.empty()) return InvalidArgument("--tls-client-ca needs --tls-cert and --tls-key");
  if (flags.allow_plaintext && !flags.tls_cert.empty()) {
    return InvalidArgument("--allow-plaintext and --tls-cert contradict each other: with a certificate every connection uses TLS");
  }
  if (!flags.metrics.empty() && !IsHostPort(flags.metrics)) {
    return InvalidArgument("--metrics takes HOST:PORT, not \"{}\"", flags.metrics);
  }
  if (IsLocal(flags.listen) || flags.allow_plaintext) return absl::OkStatus();
  if (!flags.allow_remote) {
    return InvalidArgument(
        "other machines can reach --listen {}: add --allow-remote with --tls-cert and --tls-key, or --allow-plaintext, "
        "or listen on 127.0.0.1:PORT",
        flags.listen);
  }
  if (flags.tls_cert.empty()) {
    return InvalidArgument("--allow-remote needs --tls-cert and --tls-key; without TLS use --allow-plaintext");
  }
  return absl::OkStatus();
}

void AppendFlagHelp(const FlagSpec& flag, std::string* text) {
  constexpr size_t kColumn = 27;
  std::string line = fmt::format("  --{}{}{}", flag.name, flag.argument.empty() ? "" : " ", flag.argument);
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
      "steled serves a Stele database with the API of Cloud Bigtable (google.bigtable.v2, google.bigtable.admin.v2).\n"
      "\n"
      "usage: steled --db DIR [flags]\n"
      "\n";
  for (const FlagSpec& flag : kFlags) AppendFlagHelp(flag, &text);
  text +=
      "  --help, --version\n"
      "\n"
      "Each flag can also be set by a variable: --memory-budget 1GiB is STELED_MEMORY_BUDGET=1GiB. The command line wins.\n"
      "When the server is ready, it prints \"listening on ADDRESS\". SIGTERM and SIGINT shut it\n"
      "down cleanly. Set BIGTABLE_EMULATOR_HOST=HOST:PORT for the clients.\n";
  return text;
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
  // Where the working directory cannot be told the path is taken as it is.
  std::filesystem::path path = std::filesystem::absolute(flags.database, error);
  path = (error ? std::filesystem::path(flags.database) : path).lexically_normal();
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();  // it ended with '/'
  return path.string() + "-backups";
}

namespace {

// A flag as it was written.
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

}  // namespace

absl::StatusOr<Flags> ParseFlags(std::span<const std::string> args, const Environment& environment) {
  Flags flags;
  STELED_RETURN_IF_ERROR(ReadEnvironment(environment, &flags));
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].starts_with('-')) return InvalidArgument("\"{}\" is not a flag; \"steled --help\" lists the flags", args[i]);
    Written written = SplitAtEquals(args[i]);
    if (written.name == "help" || written.name == "h") flags.wish = Flags::Wish::kHelp;
    if (written.name == "version") flags.wish = Flags::Wish::kVersion;
    if (flags.wish != Flags::Wish::kServe) return flags;
    const FlagSpec* const flag = FindFlag(written.name);
    if (flag == nullptr) return InvalidArgument("unknown flag --{}; \"steled --help\" lists the flags", written.name);
    if (!written.value.has_value() && flag->argument.empty()) written.value = "1";
    if (!written.value.has_value()) {
      // A flag is never the value of another: "--db --listen" lacks a value.
      const bool has_next = i + 1 < args.size() && !args[i + 1].starts_with("--");
      if (!has_next) return InvalidArgument("--{} needs a value: --{} {}", flag->name, flag->name, flag->argument);
      written.value = args[++i];
    }
    STELED_RETURN_IF_ERROR(SetFlag(*flag, fmt::format("--{}", flag->name), *written.value, &flags));
  }
  STELED_RETURN_IF_ERROR(CheckFlags(flags));
  return flags;
}

bool IsLocal(std::string_view address) {
  if (address.starts_with("unix:")) return true;
  const size_t colon = address.rfind(':');
  const std::string_view host = address.substr(0, colon);
  const std::string_view port = colon == std::string_view::npos ? "" : address.substr(colon + 1);
  if (!ToNumber<uint16_t>(port).has_value()) return false;
  if (host == "localhost" || host == "[::1]") return true;
  const auto allowed = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  return host.starts_with("127.") && std::all_of(host.begin(), host.end(), allowed);
}

bool ServesPlaintextRemotely(const Flags& flags) { return !IsLocal(flags.listen) && flags.tls_cert.empty(); }

}  // namespace stele::server
