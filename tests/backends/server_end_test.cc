// Tests a scan of stele::remote while its server shuts down and starts again: no row is lost,
// repeated or partial.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "backends/backends.h"
#include "stele/remote.h"

namespace stele {
namespace {

// Much more data than the connection buffers, in rows that take several messages.
constexpr int kRowCount = 150;
constexpr int kCellCount = 4;
constexpr size_t kCellBytes = 150'000;

std::string RowKeyOf(int number) { return "row" + std::to_string(1000 + number); }

class ServerEndTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "stele-server-end-XXXXXX";
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    ASSERT_NO_FATAL_FAILURE(StartOnPortToKeep());
    absl::StatusOr<Database> database =
        remote::Open("bigtable://p/i?endpoint=" + address_ + "&retry_seconds=600");
    ASSERT_TRUE(database.ok()) << database.status();
    table_ = database->CreateTable("t", Schema().AddFamily("f")).value();
    const std::string value(kCellBytes, 'v');
    for (int i = 0; i < kRowCount; ++i) {
      RowMutation row(RowKeyOf(i));
      for (int j = 0; j < kCellCount; ++j)
        row.SetCell("f", std::to_string(j), Timestamp::FromMicros(1000), value);
      ASSERT_TRUE(table_.Apply(row).ok());
    }
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Start(const std::string& listen) {
    const char* const program = std::getenv("STELED_COMMAND");
    ASSERT_NE(program, nullptr) << "STELED_COMMAND is not set: run this through ctest";
    server_.emplace(std::vector<std::string>{program, "--db", directory_ + "/db", "--listen",
                                             listen, "--durability", "process"});
  }
  // Connections of other programs get ports from 32768 on by default, so none takes the port of the
  // server while it is down.
  void StartOnPortToKeep() {
    constexpr int kFirstPort = 10'000;  // free_port.py uses those from 16,384 on
    constexpr int kPortCount = 6'000;
    for (int i = 0; i < 100 && address_.empty(); ++i) {
      const int port = kFirstPort + (getpid() + i) % kPortCount;
      ASSERT_NO_FATAL_FAILURE(Start("127.0.0.1:" + std::to_string(port)));
      address_ = server_->address();
    }
    ASSERT_NE(address_, "");
  }
  void EndAndStartAgain() {
    EXPECT_EQ(server_->Terminate(), 0);
    Start(address_);
    EXPECT_EQ(server_->address(), address_);
  }

  std::string directory_;
  std::string address_;
  std::optional<ChildServer> server_;
  Table table_;
};

// Reads rows in order and returns the first fault.
class Scan {
 public:
  Scan(const Table& table, bool is_reverse)
      : is_reverse_(is_reverse),
        reader_(table.ReadRows(RowRange::All(), Filter::PassAll(), {.reverse = is_reverse})) {}

  // Reads this many rows, or all remaining rows if there are fewer.
  void Read(int row_count) {
    for (; row_count > 0 && reader_.Next(); --row_count, ++next_) {
      EXPECT_EQ(reader_.row().row_key(), RowKeyOf(is_reverse_ ? kRowCount - 1 - next_ : next_));
      size_t bytes = 0;
      for (const CellView& cell : reader_.row().cells()) bytes += cell.value().size();
      EXPECT_EQ(bytes, kCellCount * kCellBytes) << next_;
    }
  }
  void ReadToTheEnd() {
    Read(2 * kRowCount);
    EXPECT_TRUE(reader_.status().ok()) << reader_.status();
    EXPECT_EQ(next_, kRowCount);
  }

 private:
  const bool is_reverse_;
  RowReader reader_;
  int next_ = 0;
};

// The server waits for calls during its grace period and then cancels them: here in the middle of a
// row, because the client does not read.
TEST_F(ServerEndTest, AScanThatStandsStillGoesOnAtTheNextServer) {
  Scan forward(table_, false);
  Scan reverse(table_, true);
  forward.Read(3);
  reverse.Read(20);
  EndAndStartAgain();
  forward.ReadToTheEnd();
  reverse.ReadToTheEnd();
}

// The scan may finish before the server ends.
TEST_F(ServerEndTest, AScanReadsOnWhileItsServerEndsAndAnotherBegins) {
  Scan forward(table_, false);
  forward.Read(3);
  std::jthread operators_hand([&] { EndAndStartAgain(); });
  forward.ReadToTheEnd();
  Scan(table_, true).ReadToTheEnd();
}

}  // namespace
}  // namespace stele
