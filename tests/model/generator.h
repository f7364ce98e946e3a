// tests/model/generator.h: generates random histories.
// Keys, qualifiers and timestamps come from small alphabets, so that writes collide. Each seed
// prefers some operations to others, so that rare operations are tested too.
//
// Threads:   Thread-compatible. The same seed and length give the same history.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "model/history_runner.h"
#include "model/operation.h"

namespace stele::internal {

// kEventful: a database with minimum sizes. Between random operations come scripts that each cause
// one event of the engine (generator_events.cc).
enum class HistoryKind : uint8_t { kAnything, kEventful };

class HistoryGenerator {
 public:
  explicit HistoryGenerator(uint64_t seed, HistoryKind kind = HistoryKind::kAnything);

  // Makes a history of about `operation_count` operations. Each entry of a bulk write or of a batch
  // counts as one.
  History Make(size_t operation_count);
  // Returns the options of the engine that belong to this seed.
  RunnerOptions Options();

 private:
  struct TableInfo {
    std::vector<std::string> families;
    std::map<std::string, std::string> types;  // types of the aggregate families
    bool micros = false;
  };
  struct CompactionPick {
    double weight = 0;
    void (HistoryGenerator::*add)() = nullptr;
  };

  uint64_t Below(uint64_t bound) {
    return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_);
  }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  void Add(std::string_view name, std::vector<Term> arguments) {
    history_.emplace_back(name, std::move(arguments));
  }

  std::string TableName();
  std::string Family(const std::string& table);
  std::string PlainFamily(const std::string& table);
  std::string Key();
  std::string Qualifier();
  int64_t Micros(const std::string& table);
  Term Value();
  Term Rule(int depth);
  Term Durability() { return OneIn(durable_one_in_) ? "d" : "p"; }
  Term Set(const std::string& table, const std::string& family);
  Term Addition(const std::string& table, const std::string& family, const std::string& type);
  Term NewFamily(std::string_view word, const std::string& family, TableInfo* info);
  Term Change(const std::string& table);
  Term Row(const std::string& table);
  Term Branch(const std::string& table, const std::string& row_key);
  Term ModifyRule(const std::string& table);
  Term Range();
  Term QualifierRange();
  Term TextFilter(const std::string& table, int samples_max);
  Term Filter(const std::string& table, int depth, int samples_max = 2);
  Term GcFlag() { return OneIn(4) ? "0" : "1"; }
  Term SnapshotName();

  void AddApply();
  void AddBulk();
  void AddBatch();
  void AddLoad();
  void AddUnderToken();
  void AddCheckAndMutate();
  void AddReadModifyWrite();
  void AddReadRow();
  void AddReadMany();
  void AddScan();
  void AddSnapshot();
  void AddRelease();
  void AddMaintenance();
  void AddCompact();
  void AddDropRange();
  void AddCreate();
  void AddDeleteTable();
  void AddFamilies();
  void AddClock();
  void AddReopen();
  void AddCrash();
  void AddCheckpoint();

  // These functions make the scripts of eventful histories. Each uses a table that nothing else
  // writes to.
  void AddEvent();
  void AddOwnTable(const std::string& table, const Term& rule);
  void AddRetry();
  void AddGcFence();
  void AddStricterRule();
  void AddFallToHistory();
  void AddExpiry();
  void AddDiscard();
  void AddSpill();
  void AddGrowth();
  void AddRepeat();
  void AddDropBesideJob();

  const HistoryKind kind_;
  std::mt19937_64 random_;
  History history_;
  size_t written_ = 0;  // entries
  std::vector<std::string> keys_;
  std::vector<std::string> qualifiers_;
  std::map<std::string, TableInfo> tables_;  // the expected tables
  std::vector<std::string> snapshots_;
  std::vector<Term> under_tokens_;  // some of the writes under tokens, to repeat them
  int64_t now_ = 1'000'000'000;
  uint64_t durable_one_in_ = 20;
  uint64_t big_value_one_in_ = 100;
  uint64_t checkpoint_count_ = 0;
  uint64_t event_count_ = 0;
};

}  // namespace stele::internal
