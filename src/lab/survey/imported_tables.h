// survey/imported_tables.h: the rule DDB-TABLE-PER-PERIOD: several tables of a database were
// imported from DynamoDB, and should be one.
//
// Threads:   pure functions.
#pragma once

#include <optional>
#include <string>

#include "lab/survey/item_survey.h"
#include "stele/database.h"
#include "stele/schema.h"

namespace stele::internal::lab {

// `name` and `schema` are those of the table that is being imported. Returns nothing if the
// database cannot be read, or has no properties.
std::optional<ItemFinding> FindTablesPerPeriod(const Database& database, const std::string& name,
                                               const Schema& schema);

}  // namespace stele::internal::lab
