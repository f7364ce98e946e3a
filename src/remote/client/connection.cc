#include "remote/client/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

// FeatureFlags with reverse_scans and last_scanned_row_responses, in base64: the features that this
// client supports.
constexpr char kFeatures[] = "CAEgAQ==";
// Reconnects soon after a server was unavailable, since RemoteCall makes the pauses.
constexpr int kReconnectMillisMin = 100;
constexpr int kReconnectMillisMax = 2'000;
// The longest time of one attempt to connect. gRPC waits 20 s for a host that does not answer.
constexpr int kConnectMillisMax = 4'000;
constexpr int kKeepaliveMillis = 30'000;
// The largest message that a server may send: the greatest value and room for its names.
constexpr int kMessageBytesMax = 257 << 20;
// A call that may be repeated gets at least this many attempts within its retry time.
constexpr int kAttemptsMin = 3;

// Letters, digits and "-_.~=" stay; other bytes become %XX.
std::string UrlEncoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || c == '=';
    if (plain) {
      result.push_back(c);
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

// True if gRPC found no server to send the call to.
bool IsConnectFailure(const grpc::Status& failed) {
  if (failed.error_code() != grpc::StatusCode::UNAVAILABLE) return false;
  const std::string message = failed.error_message();
  return message.find("failed to connect") != std::string::npos ||
         message.find("DNS resolution failed") != std::string::npos;
}

// True if the error is a server's. gRPC itself makes the other errors, without a server.
bool IsResponse(const grpc::Status& failed) {
  return failed.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED &&
         failed.error_code() != grpc::StatusCode::CANCELLED && !IsConnectFailure(failed);
}

// Returns what to do if gRPC found no credentials for Google's service; "" for other errors.
std::string_view AdviceOn(const grpc::Status& failed, const RemoteLocation& location) {
  if (!location.is_google || failed.error_message() != "Invalid credentials.") return "";
  return " Google's service needs credentials: set GOOGLE_APPLICATION_CREDENTIALS to a file of "
         "them. For a server without TLS, add endpoint=HOST:PORT to the location.";
}

std::shared_ptr<grpc::Channel> OpenChannel(const RemoteLocation& location,
                                           const std::string& endpoint) {
  grpc::ChannelArguments arguments;
  arguments.SetUserAgentPrefix("stele");
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMillisMin);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMillisMax);
  // gRPC also takes this argument for the longest time of one attempt to connect.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMillisMax);
  // Separate connections for each database: closing one must not affect another.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  // Without keepalive a waiting call would not notice that the server's machine is gone.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMillis);
  if (location.is_google) {
    credentials = grpc::GoogleDefaultCredentials();
  } else if (location.tls) {
    credentials = grpc::SslCredentials({});
  } else {
    credentials = grpc::InsecureChannelCredentials();
  }
  // Null if the machine has no default credentials: every call on the channel then fails with that
  // error.
  return grpc::CreateCustomChannel(endpoint, credentials, arguments);
}

}  // namespace

RemoteConnection::RemoteConnection(RemoteLocation location, const DatabaseOptions& options,
                                   std::shared_ptr<Waiter> waiter)
    : location_(std::move(location)),
      read_only_(options.read_only),
      clock_(options.clock),
      waiter_(waiter != nullptr ? std::move(waiter) : SystemWaiter()) {
  const std::shared_ptr<grpc::Channel> data = OpenChannel(location_, location_.data_endpoint);
  const std::shared_ptr<grpc::Channel> admin =
      location_.admin_endpoint == location_.data_endpoint
          ? data
          : OpenChannel(location_, location_.admin_endpoint);
  data_ = google::bigtable::v2::Bigtable::NewStub(data);
  admin_ = google::bigtable::admin::v2::BigtableTableAdmin::NewStub(admin);
  operations_ = google::longrunning::Operations::NewStub(admin);
}

int64_t RemoteConnection::NowMicros() const {
  return clock_ != nullptr ? clock_->Now().micros()
                           : Timestamp::From(std::chrono::system_clock::now()).micros();
}

absl::Status RemoteConnection::CheckOpen() const {
  if (!closing_.stop_requested()) return absl::OkStatus();
  return FailedPrecondition("database {}: closed", location_.ToString());
}

absl::Status RemoteConnection::CheckWritable() const {
  STELE_RETURN_IF_ERROR(CheckOpen());
  return read_only_ ? FailedPrecondition("database {}: opened with read_only", location_.ToString())
                    : absl::OkStatus();
}

RemoteCall::RemoteCall(const RemoteConnection* connection, std::string_view what,
                       std::optional<SteadyClock::time_point> deadline, std::stop_token stop)
    : connection_(*connection),
      what_(what),
      deadline_(deadline),
      stop_(std::move(stop)),
      backoff_(RandomSeed()),
      progress_at_(connection->waiter().Now()) {}

void RemoteCall::Progress() {
  failures_ = 0;
  backoff_.Reset();
  progress_at_ = connection_.waiter().Now();
}

absl::Status RemoteCall::Ended() const {
  STELE_RETURN_IF_ERROR(connection_.CheckOpen());
  if (stop_.stop_requested()) return Cancelled("{}: stopped", what_);
  if (deadline_.has_value() && connection_.waiter().Now() >= *deadline_)
    return DeadlineExceeded("{}: its deadline has passed", what_);
  return absl::OkStatus();
}

std::chrono::seconds RemoteCall::RepeatableAttempt(std::chrono::seconds most) const {
  const std::chrono::seconds retry_time = connection_.location().retry_time;
  if (retry_time == std::chrono::seconds::zero()) return most;  // no attempt is repeated
  return std::min(most, std::max(std::chrono::seconds(1), retry_time / kAttemptsMin));
}

absl::Status RemoteCall::Failure(const grpc::Status& failed) const {
  STELE_RETURN_IF_ERROR(Ended());
  const std::string tries = failures_ > 1 ? fmt::format(" ({} attempts)", failures_) : "";
  // gRPC and Abseil have the same list of codes.
  return MakeStatus(static_cast<absl::StatusCode>(failed.error_code()),
                    fmt::format("{}, {}{}: {}{}", connection_.location().ToString(), what_, tries,
                                failed.error_message(), AdviceOn(failed, connection_.location())));
}

absl::Status RemoteCall::PauseAfter(const grpc::Status& failed, bool repeatable) {
  ++failures_;
  if (IsResponse(failed)) connection_.NoteResponse();
  STELE_RETURN_IF_ERROR(Ended());
  if (!repeatable || !IsTransient(failed)) return Failure(failed);
  const SteadyClock::time_point next = connection_.waiter().Now() + backoff_.Next();
  std::chrono::seconds retry_time = connection_.location().retry_time;
  if (IsConnectFailure(failed) && !connection_.has_response())
    retry_time = std::min(retry_time, kFirstConnection);
  if (next > progress_at_ + retry_time || next > repeat_until_) return Failure(failed);
  if (deadline_.has_value() && next >= *deadline_) {
    return DeadlineExceeded("{}: its deadline comes before the next attempt; the last one: {}",
                            what_, failed.error_message());
  }
  if (!connection_.waiter().WaitUntil(next, stop_, connection_.closing())) return Ended();
  return absl::OkStatus();
}

absl::Status RemoteCall::PauseBeforePoll() {
  const SteadyClock::time_point next = connection_.waiter().Now() + backoff_.Next();
  connection_.waiter().WaitUntil(std::min(next, deadline_.value_or(next)), stop_,
                                 connection_.closing());
  failures_ = 0;
  progress_at_ = connection_.waiter().Now();
  return Ended();
}

Attempt::Attempt(const RemoteCall& call, std::string_view routing,
                 std::optional<std::chrono::seconds> limit)
    : on_stop_(call.stop(), [this] { context_.TryCancel(); }),
      on_closing_(call.connection().closing(), [this] { context_.TryCancel(); }) {
  const RemoteLocation& location = call.connection().location();
  std::string parameters = UrlEncoded(routing);
  if (!location.app_profile.empty())
    parameters += "&app_profile_id=" + UrlEncoded(location.app_profile);
  context_.AddMetadata("x-goog-request-params", parameters);
  context_.AddMetadata("bigtable-features", kFeatures);
  context_.AddMetadata("x-goog-api-client", "gl-cpp stele");
  std::optional<SteadyClock::duration> time = limit;
  if (call.deadline().has_value()) {
    const SteadyClock::duration left = *call.deadline() - call.connection().waiter().Now();
    time = time.has_value() ? std::min(*time, left) : left;
  }
  if (time.has_value()) {
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::duration_cast<std::chrono::system_clock::duration>(*time));
  }
}

}  // namespace stele::internal
