#include "rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/status.h"
#include "calls.h"
#include "compare/measure.h"
#include "connection.h"
#include "message.h"
#include "remote/wire/table_admin.pb.h"

namespace stele_load {

using stele_compare::Figure;
using stele_compare::Latencies;
using stele_compare::Mix;

namespace admin = ::google::bigtable::admin::v2;

namespace {

constexpr size_t kPoolBytes = size_t{16} << 20;
constexpr char kInstance[] = "projects/bench/instances/bench";

// Parses the responses, in the order of connections and requests.
std::string ReadAnswers(Kind kind, const std::vector<Part>& parts, Figure* figure) {
  Reading reading(kind);
  for (const Part& part : parts) {
    if (!part.status.ok()) return part.status.ToString();
    for (const std::string& answer : part.answers) {
      if (std::string error = reading.Take(answer); !error.empty()) return error;
    }
  }
  reading.Finish();
  figure->hash = reading.hash();
  figure->cell_count = reading.tally().cells();
  return "";
}

// Makes a call that is not timed.
absl::Status Ask(Connection* connection, const char* path,
                 const google::protobuf::MessageLite& request) {
  std::string answer;
  return connection->Call(path, Serialised(request), &answer);
}

class Rounds {
 public:
  Rounds(const Plan& plan, const std::function<void(const Result&)>& on_result)
      : plan_(plan), on_result_(on_result), pool_(kPoolBytes) {}

  Outcome Run() {
    for (const Contender& contender : plan_.contenders) {
      servers_.push_back(std::make_unique<RunningServer>(contender));
      if (servers_.back()->address().empty()) {
        outcome_.failures.push_back(
            fmt::format("{} did not come up: {}", contender.name, contender.settings));
        return std::move(outcome_);
      }
    }
    for (round_ = 1; round_ <= plan_.rounds; ++round_) {
      for (const uint64_t connections : plan_.connections) RunWorkloads(connections);
    }
    return std::move(outcome_);
  }

 private:
  bool IsAsked(const Workload& workload) const {
    return plan_.only.empty() ||
           std::find(plan_.only.begin(), plan_.only.end(), workload.name) != plan_.only.end();
  }
  std::string TableName(const std::string& id) const {
    return fmt::format("{}/tables/{}", kInstance, id);
  }

  void RunWorkloads(uint64_t connections) {
    const std::string filled = fmt::format("filled-{}-{}", round_, connections);
    const std::string empty = fmt::format("empty-{}-{}", round_, connections);
    for (const std::string& table : {filled, empty})
      ForEachServer([&](Connection* connection) { return CreateTable(table, connection); });
    for (const Workload& workload : Workloads()) {
      const bool fills = workload.kind == Kind::kMutateRows;  // the other workloads need it
      if (!IsAsked(workload) && !fills) continue;
      const std::string& table = workload.kind == Kind::kMutateRow ? empty : filled;
      RunOnAll(workload, {.kind = workload.kind,
                          .instance = kInstance,
                          .table = TableName(table),
                          .rows = plan_.rows,
                          .connections = connections,
                          .seed = static_cast<uint64_t>(round_)});
    }
    for (const std::string& table : {filled, empty})
      ForEachServer([&](Connection* connection) { return DeleteTable(table, connection); });
  }

  template <typename Call>
  void ForEachServer(const Call& call) {
    for (size_t i = 0; i < servers_.size(); ++i) {
      Connection connection(servers_[i]->address());
      if (const absl::Status status = call(&connection); !status.ok()) {
        outcome_.failures.push_back(
            fmt::format("{}: {}", plan_.contenders[i].name, status.ToString()));
      }
    }
  }
  absl::Status CreateTable(const std::string& id, Connection* connection) const {
    admin::CreateTableRequest request;
    request.set_parent(kInstance);
    request.set_table_id(id);
    for (const char* const family : {"0", "1"})
      (*request.mutable_table()->mutable_column_families())[family];
    return Ask(connection, "/google.bigtable.admin.v2.BigtableTableAdmin/CreateTable", request);
  }
  absl::Status DeleteTable(const std::string& id, Connection* connection) const {
    admin::DeleteTableRequest request;
    request.set_name(TableName(id));
    return Ask(connection, "/google.bigtable.admin.v2.BigtableTableAdmin/DeleteTable", request);
  }

  void RunOnAll(const Workload& workload, const struct Run& run) {
    std::vector<Part> parts(run.connections);
    stele_compare::RowMaker maker(pool_, stele_compare::DataSet::kRandom);
    for (uint64_t i = 0; i < run.connections; ++i) parts[i].script = ScriptOf(run, i, &maker);
    std::vector<Result> results(servers_.size());
    for (size_t i = 0; i < servers_.size(); ++i) {
      const size_t turn = (i + static_cast<size_t>(round_)) % servers_.size();
      results[turn] = {&workload, run.connections, plan_.contenders[turn].name, round_, {}, 0};
      RunOnOne(run, *servers_[turn], &parts, &results[turn]);
      Keep(results[turn]);
    }
    for (const Result& result : results) CompareAnswers(results[0], result);
  }

  void CompareAnswers(const Result& one, const Result& other) {
    if (one.figure.hash == other.figure.hash && one.figure.cell_count == other.figure.cell_count)
      return;
    outcome_.failures.push_back(
        fmt::format("{}: {} cells, hash {:016x}; {}: {} cells, hash {:016x}", NameOf(one),
                    one.figure.cell_count, one.figure.hash, NameOf(other), other.figure.cell_count,
                    other.figure.hash));
  }
  static std::string NameOf(const Result& result) {
    return fmt::format("{} from {} connections, {}, round {}", result.workload->name,
                       result.connections, result.contender, result.round);
  }

  void Keep(const Result& result) {
    if (result.figure.error[0] != '\0')
      outcome_.failures.push_back(fmt::format("{}: {}", NameOf(result), result.figure.error));
    if (!IsAsked(*result.workload)) return;
    outcome_.results.push_back(result);
    on_result_(result);
  }

  static void RunOnOne(const struct Run& run, const RunningServer& server, std::vector<Part>* parts,
                       Result* result) {
    Figure& figure = result->figure;
    Latencies latencies(0);
    for (Part& part : *parts) {
      part.answers.assign(part.script.requests.size(), {});
      part.latencies = Latencies(part.script.requests.size());
      part.status = absl::OkStatus();
      figure.operation_count += part.script.operation_count;
    }
    const CpuTime cpu_before = server.Cpu();
    const double own_cpu_before = stele_compare::CpuSeconds();
    figure.seconds = SendAll(server.address(), MethodOf(run.kind), *parts);
    result->client_cpu_seconds = stele_compare::CpuSeconds() - own_cpu_before;
    figure.settle_seconds = server.Settle();
    const CpuTime cpu = server.Cpu();
    figure.cpu_seconds = cpu.total_seconds - cpu_before.total_seconds;
    result->server_kernel_seconds = cpu.kernel_seconds - cpu_before.kernel_seconds;
    figure.rss_bytes = server.PeakBytes();
    figure.value = static_cast<double>(figure.operation_count) / figure.seconds;
    for (const Part& part : *parts) latencies.Append(part.latencies);
    latencies.Read(&figure);
    std::string error = ReadAnswers(run.kind, *parts, &figure);
    if (error.empty() && !IsRead(run.kind)) error = AddTable(run.table, server, &figure);
    stele_compare::SetText(figure.error, sizeof figure.error, error);
  }

  // Adds the present contents of the table to the figure's hash.
  static std::string AddTable(const std::string& table, const RunningServer& server,
                              Figure* figure) {
    std::vector<Part> parts(1);
    parts[0].script.requests = {WholeTable(table)};
    parts[0].answers.resize(1);
    SendAll(server.address(), MethodOf(Kind::kScan), parts);
    const uint64_t of_answers = figure->hash;
    std::string error = ReadAnswers(Kind::kScan, parts, figure);
    figure->hash = Mix(figure->hash ^ of_answers);
    return error;
  }

  const Plan& plan_;
  const std::function<void(const Result&)>& on_result_;
  const stele_compare::Pool pool_;
  std::vector<std::unique_ptr<RunningServer>> servers_;
  int round_ = 0;
  Outcome outcome_;
};

}  // namespace

Outcome RunRounds(const Plan& plan, const std::function<void(const Result&)>& on_result) {
  return Rounds(plan, on_result).Run();
}

}  // namespace stele_load
