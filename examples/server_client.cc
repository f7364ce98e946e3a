// Uses a database on a server: the same classes, opened by stele::remote::Open.
//
// Start a server first, then run this program with its address:
//   steled --db /tmp/stele-example --listen 127.0.0.1:8086
//   server_client 127.0.0.1:8086
#include <stele/remote.h>
#include <stele/stele.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <string>

absl::Status Run(const std::string& address) {
  // "demo" and "local" are the names of a project and an instance. steled accepts any.
  absl::StatusOr<stele::Database> database =
      stele::remote::Open("bigtable://demo/local?endpoint=" + address);
  if (!database.ok()) return database.status();

  stele::Schema schema;
  schema.AddFamily("cf", stele::GcRule::MaxNumVersions(1));
  absl::StatusOr<stele::Table> table = database->CreateTable("greetings", schema);
  if (absl::IsAlreadyExists(table.status())) table = database->OpenTable("greetings");
  if (!table.ok()) return table.status();

  // A call over the network should have a deadline. The token makes a retry of this write safe.
  stele::WriteOptions write;
  write.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  write.idempotency_token = "greeting-0001";
  stele::RowMutation mutation("hello");
  mutation.SetCell("cf", "text", "Hello from a client");
  if (absl::Status status = table->Apply(mutation, write); !status.ok()) return status;

  stele::ReadOptions read;
  read.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  absl::StatusOr<std::optional<stele::Cell>> text = table->ReadCell("hello", "cf", "text", read);
  if (!text.ok()) return text.status();
  if (!text->has_value()) return absl::NotFoundError("the row has no text");
  std::cout << (*text)->value() << "\n";

  // A server has no snapshots, checkpoints or batches of several mutations: such calls return
  // Unimplemented.
  std::cout << "snapshot: " << database->GetSnapshot().status() << "\n";
  return database->Close();
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: server_client HOST:PORT\n";
    return 2;
  }
  const absl::Status status = Run(argv[1]);
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
