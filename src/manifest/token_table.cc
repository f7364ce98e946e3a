#include "manifest/token_table.h"

#include <chrono>

#include "model/token_use.h"

namespace stele::internal {
namespace {

std::shared_ptr<const TableDefinition> MakeTokenTableDefinition() {
  // A rule keeps a cell that is exactly as old as its limit, but a token of that age has expired.
  // So the limit is a microsecond less.
  const GcRule rule = GcRule::MaxAge(std::chrono::microseconds(kTokenMemoryMicros - 1));
  Schema schema;
  schema.AddFamily({.name = kTokenFamilyName, .gc = rule})
      .SetGranularity(TimestampGranularity::kMicros);
  return MakeDefinition(kTokenTableId, "(idempotency tokens)", 1, schema,
                        {{.id = kTokenFamilyId, .name = kTokenFamilyName}});
}

}  // namespace

const std::shared_ptr<const TableDefinition>& TokenTableDefinition() {
  static const auto& definition =
      *new std::shared_ptr<const TableDefinition>(MakeTokenTableDefinition());
  return definition;
}

std::shared_ptr<const TableState> EmptyTokenTable() {
  auto table = std::make_shared<TableState>();
  table->definition = TokenTableDefinition();
  table->tablets = {Tablet{.range = KeyRange::All(), .stack = {}}};
  return table;
}

}  // namespace stele::internal
