#include "flags.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "errors.h"

namespace stele::server {
namespace {

constexpr int kCallsLimit = 10'000;
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

absl::Status SetFlag(std::string_view name, const std::string& value, Flags* flags) {
  if (name == "db") {
    flags->database = value;
  } else if (name == "backup-dir") {
    flags->backup_directory = value;
  } else if (name == "listen") {
    flags->listen = value;
  } else if (name == "metrics") {
    flags->metrics = value;
  } else if (name == "tls-cert") {
    flags->tls_cert = value;
  } else if (name == "tls-key") {
    flags->tls_key = value;
  } else if (name == "tls-client-ca") {
    flags->tls_client_ca = value;
  } else if (name == "memory-budget") {
    const std::optional<uint64_t> bytes = ToBytes(value);
    if (!bytes.has_value()) return InvalidArgument("--memory-budget takes bytes, as 512MiB, not \"{}\"", value);
    flags->memory_budget_bytes = *bytes;
  } else if (name == "durability") {
    if (value != "disk" && value != "process") return InvalidArgument("--durability takes disk or process, not \"{}\"", value);
    flags->durability = value == "disk" ? Durability::kDisk : Durability::kProcess;
  } else if (name == "max-calls") {
    const std::optional<int> count = ToNumber<int>(value);
    if (!count.has_value() || *count < 4 || *count > kCallsLimit) {
      return InvalidArgument("--max-calls takes a number of 4 to {}, not \"{}\"", kCallsLimit, value);
    }
    flags->calls_max = *count;
  } else if (name == "max-message-bytes") {
    const std::optional<uint64_t> bytes = ToBytes(value);
    if (!bytes.has_value() || *bytes < kMessageBytesLeast || *bytes > kMessageBytesLimit) {
      return InvalidArgument("--max-message-bytes takes 1MiB to 256MiB, not \"{}\"", value);
    }
    flags->message_bytes_max = *bytes;
  } else {
    return InvalidArgument("unknown flag --{}; \"steled --help\" lists the flags", name);
  }
  return absl::OkStatus();
}

// Flags that need each other.
absl::Status CheckFlags(const Flags& flags) {
  if (flags.database.empty()) return InvalidArgument("no database named: give its directory with --db DIR");
  if (flags.tls_cert.empty() != flags.tls_key.empty()) return InvalidArgument("--tls-cert and --tls-key go together");
  if (!flags.tls_client_ca.empty() && flags.tls_cert.empty()) return InvalidArgument("--tls-client-ca needs --tls-cert and --tls-key");
  if (!flags.metrics.empty() && !IsLoopback(flags.metrics)) {
    return InvalidArgument("--metrics {} can be reached from other machines, and has no TLS: say 127.0.0.1:PORT", flags.metrics);
  }
  if (IsLoopback(flags.listen)) return absl::OkStatus();
  if (!flags.allow_remote) {
    return InvalidArgument(
        "--listen {} can be reached from other machines: say --allow-remote, with --tls-cert and --tls-key, "
        "or listen on 127.0.0.1:PORT",
        flags.listen);
  }
  if (flags.tls_cert.empty()) return InvalidArgument("--allow-remote needs --tls-cert and --tls-key");
  return absl::OkStatus();
}

}  // namespace

const std::string_view kHelpText =
    "steled serves a Stele database with the API of Cloud Bigtable (google.bigtable.v2, google.bigtable.admin.v2).\n"
    "\n"
    "usage: steled --db DIR [flags]\n"
    "\n"
    "  --db DIR                 the database; made if it is not there\n"
    "  --listen HOST:PORT       where to listen; port 0 takes a free one (127.0.0.1:8086)\n"
    "  --backup-dir DIR         where backups are kept (DIR-backups, beside the database)\n"
    "  --memory-budget BYTES    memory for memtables, cache and open files, as 512MiB (256MiB)\n"
    "  --durability disk|process\n"
    "                           what an acknowledged write survives: the loss of power, or the end of the process (disk)\n"
    "  --max-calls N            calls that are served at once; more are refused with RESOURCE_EXHAUSTED (256)\n"
    "  --max-message-bytes BYTES\n"
    "                           the largest message of a read; larger rows span several (4MiB less 4KiB, at most 256MiB)\n"
    "  --metrics HOST:PORT      figures for Prometheus, by HTTP at /metrics; on this machine's own addresses only\n"
    "  --allow-remote           listen on an address that other machines reach; needs the next two\n"
    "  --tls-cert FILE          certificate chain, PEM\n"
    "  --tls-key FILE           its private key, PEM\n"
    "  --tls-client-ca FILE     only clients with a certificate of this authority, PEM\n"
    "  --help, --version\n"
    "\n"
    "Once it serves it prints one line, \"listening on HOST:PORT\". SIGTERM and SIGINT end it in order.\n"
    "Clients find it by BIGTABLE_EMULATOR_HOST=HOST:PORT.\n";

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

absl::StatusOr<Flags> ParseFlags(std::span<const std::string> args) {
  Flags flags;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].starts_with('-')) return InvalidArgument("\"{}\" is no flag; \"steled --help\" lists the flags", args[i]);
    std::string name = args[i].substr(args[i].starts_with("--") ? 2 : 1);
    if (name == "help" || name == "h") flags.wish = Flags::Wish::kHelp;
    if (name == "version") flags.wish = Flags::Wish::kVersion;
    if (flags.wish != Flags::Wish::kServe) return flags;
    if (name == "allow-remote") {
      flags.allow_remote = true;
      continue;
    }
    std::string value;
    if (const size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (i + 1 < args.size()) {
      value = args[++i];
    } else {
      return InvalidArgument("flag {} needs a value", args[i]);
    }
    STELED_RETURN_IF_ERROR(SetFlag(name, value, &flags));
  }
  STELED_RETURN_IF_ERROR(CheckFlags(flags));
  return flags;
}

bool IsLoopback(std::string_view listen) {
  const size_t colon = listen.rfind(':');
  const std::string_view host = listen.substr(0, colon);
  // Behind a comma the metrics' listener would take another address.
  const std::string_view port = colon == std::string_view::npos ? "" : listen.substr(colon + 1);
  if (!ToNumber<uint16_t>(port).has_value()) return false;
  if (host == "localhost" || host == "[::1]") return true;
  const auto allowed = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  return host.starts_with("127.") && std::all_of(host.begin(), host.end(), allowed);
}

}  // namespace stele::server
