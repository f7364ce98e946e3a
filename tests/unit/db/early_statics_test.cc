// Tests that no static of the engine is initialized by a call on an open database. If a process
// forks while another thread initializes one, its child waits for the end of that forever.
#include <cxxabi.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "support/base_sanitized.h"
#include "support/db_contract.h"

// Sanitizers have the function that is replaced here.
#ifndef STELE_SANITIZED
namespace {

std::atomic<bool> g_counts{false};
std::atomic<int> g_initialized{0};

bool IsOfThisProgram(void* code) {
  Dl_info caller{};
  Dl_info own{};
  return ::dladdr(code, &caller) != 0 &&
         ::dladdr(reinterpret_cast<void*>(&g_initialized), &own) != 0 &&
         caller.dli_fbase == own.dli_fbase;
}

}  // namespace

// Replaces the function that each initialization of a local static calls first.
extern "C" int __cxa_guard_acquire(__cxxabiv1::__guard* guard) {
  using Acquire = int (*)(__cxxabiv1::__guard*);
  static constinit std::atomic<Acquire> next{nullptr};
  if (next.load() == nullptr)
    next.store(reinterpret_cast<Acquire>(::dlsym(RTLD_NEXT, "__cxa_guard_acquire")));
  const int is_first = next.load()(guard);
  if (is_first != 0 && g_counts.load() && IsOfThisProgram(__builtin_return_address(0)))
    g_initialized.fetch_add(1);
  return is_first;
}

namespace stele::internal {
namespace {

constexpr char kChild[] = "STELE_EARLY_STATICS_CHILD";

// Runs in a process of its own, where no other test has initialized anything.
TEST(EarlyStaticsTest, CallsOnAnOpenDatabaseInitializeNone) {
  if (::getenv(kChild) == nullptr) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv(kChild, "1", 1);
      ::execl("/proc/self/exe", "unit_db", "--gtest_filter=EarlyStaticsTest.*", nullptr);
      ::_exit(1);
    }
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return;
  }
  g_counts.store(true);
  static const std::string counted(static_cast<size_t>(::getpid() > 0), 'x');
  g_counts.store(false);
  ASSERT_EQ(counted, "x");
  ASSERT_EQ(g_initialized.exchange(0), 1) << "initializations are counted";
  ContractDatabase store;
  Table table = store.MakeTable(Schema().AddFamily("f"));
  g_counts.store(true);
  for (int row = 0; row < 10; ++row) {
    EXPECT_TRUE(table.Apply(RowMutation("row" + std::to_string(row)).SetCell("f", "q", "v")).ok());
    EXPECT_TRUE(table.Flush().ok());
  }
  EXPECT_TRUE(table.ReadRow("row1").ok());
  EXPECT_TRUE(table.Exists("row2").value_or(false));
  for (RowReader rows = table.ReadRows(); rows.Next();) EXPECT_FALSE(rows.row().cells().empty());
  EXPECT_TRUE(
      table.CheckAndMutateRow("row1", {}, RowMutation().DeleteFromRow(), RowMutation()).ok());
  EXPECT_TRUE(
      table.ReadModifyWriteRow("row3", {ReadModifyWriteRule::AppendValue("f", "q", "w")}).ok());
  EXPECT_TRUE(store.database().WaitForIdle().ok());
  EXPECT_TRUE(Table().name().empty());
  g_counts.store(false);
  EXPECT_EQ(g_initialized.load(), 0);
}

}  // namespace
}  // namespace stele::internal
#endif  // STELE_SANITIZED
