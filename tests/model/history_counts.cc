// HistoryRunner: counts the kinds of reads, writes, changes and filters that were compared with the
// reference.
#include <fmt/format.h>

#include <set>

#include "model/access.h"
#include "model/filter_node.h"
#include "model/history_runner.h"
#include "model/translation.h"

namespace stele::internal {
namespace {

constexpr std::string_view kFilterKinds[] = {
    "all",           "none",         "latest",      "family_regex", "column_regex", "family",
    "column",        "column_range", "value_range", "timestamps",   "row_regex",    "value_regex",
    "value_bitmask", "row_limit",    "row_offset",  "sample",       "strip",        "label",
    "sink",          "condition",    "chain",       "interleave"};
static_assert(std::size(kFilterKinds) == static_cast<size_t>(FilterKind::kInterleave) + 1);

void AddKinds(const FilterNode& node, bool is_nested, std::set<std::string>* kinds) {
  const std::string_view kind = kFilterKinds[static_cast<size_t>(node.kind)];
  kinds->insert(fmt::format("filter {}", kind));
  if (is_nested) kinds->insert(fmt::format("nested filter {}", kind));
  for (const Filter& filter : node.children) AddKinds(Access::Node(filter), true, kinds);
}

}  // namespace

const ReferenceStore::TokenUse* HistoryRunner::TokenState(const std::string& token,
                                                          int64_t entry) const {
  const auto it = reference_.tokens.find(token);
  if (token.empty() || it == reference_.tokens.end()) return nullptr;
  const auto use = it->second.find(entry);
  return use != it->second.end() &&
                 ReferenceStore::IsRemembered(use->second.used_at, reference_.commit_time())
             ? &use->second
             : nullptr;
}

void HistoryRunner::CountRead(const Term& operation, const ReadContext& context) {
  if (!context.met_rows) return;
  std::set<std::string> kinds = {"read " + operation.name};
  if (context.options.reverse) kinds.insert("read reverse");
  if (context.options.limit > 0) kinds.insert("read limited");
  if (context.met_pieces) kinds.insert("read in pieces");
  if (context.is_snapshot) kinds.insert("read of a snapshot");
  if (!context.options.apply_gc) kinds.insert("read raw");
  if (!context.options.fill_cache) kinds.insert("read past the cache");
  if (operation.Is("scan")) {
    for (const Term& range : operation[1].arguments) kinds.insert("rows " + range.name);
  }
  AddKinds(Access::Node(ToFilter(context.filter)), false, &kinds);
  for (const std::string& kind : kinds) ++coverage_[kind];
}

void HistoryRunner::CountWrite(const Term& write, bool is_repeat) {
  if (is_repeat) return CountRepeat(write);
  if (write.Is("tok")) return CountWrite(write[2], false);
  ++coverage_["write " + write.name];
  std::set<std::string> tables;
  for (const Term& part : write.arguments) {
    if (!part.Is("row")) continue;
    CountChanges(part);
    tables.insert(part.Text(0));
  }
  if (tables.size() > 1) ++coverage_["write to several tables"];
}

void HistoryRunner::CountConditional(const Term& operation, bool matched) {
  if (operation.Is("cam") && operation[matched ? 4 : 5].size() == 2) {
    ++coverage_["write cam, empty branch under a token"];
    return;
  }
  ++coverage_[operation.Is("cam") ? "(rows checked and changed)" : "(rows read and modified)"];
  if (operation.Is("cam")) {
    ++coverage_[matched ? "write cam, matched" : "write cam, not matched"];
    CountChanges(operation[matched ? 4 : 5]);
    return;
  }
  for (size_t i = 3; i < operation.size(); ++i) ++coverage_["write rmw, " + operation[i].name];
}

void HistoryRunner::CountChanges(const Term& row) {
  const auto table = reference_.tables.find(row.Text(0));
  for (size_t i = 2; i < row.size(); ++i) {
    const Term& change = row[i];
    std::string kind = "change " + change.name;
    if (change.Is("delrange") && change.Text(3) == "*") kind += " without an end";
    if (change.Is("merge")) kind += " of a " + change[3].name;
    if (change.Is("add") && table != reference_.tables.end()) {
      const auto type = table->second.types.find(change.Text(0));
      kind += " to " + (type == table->second.types.end() ? "" : type->second);
    }
    ++coverage_[kind];
  }
}

void HistoryRunner::CountRepeat(const Term& write) {
  const Term& plain = write.Is("tok") ? write[2] : write;
  ++coverage_["repeat of " + plain.name];
  const auto born = tokens_born_.find(token_);
  if (born == tokens_born_.end()) return;
  if (born->second.first != reopenings_)
    ++coverage_[fmt::format("repeat of {} after reopening", plain.name)];
  if (born->second.second != crashes_)
    ++coverage_[fmt::format("repeat of {} after a crash", plain.name)];
}

}  // namespace stele::internal
