// tests/model/translation.h: converts the words of a history to arguments of the public API, and
// its results to cells of the reference.
//
// Threads:   Pure functions.
#pragma once

#include "model/operation.h"
#include "model/reference_store.h"
#include "stele/stele.h"

namespace stele::internal {

ValueType ToValueType(std::string_view type);
GcRule ToGcRule(const Term& rule);
Schema ToSchema(const Term& create);
std::vector<FamilyChange> ToFamilyChanges(const Term& families);
// `row` is row(T,K,CHANGE..).
RowMutation ToMutation(const Term& row);
Filter ToFilter(const Term& filter);
RowRange ToRowRange(const Term& range);
RowSet ToRowSet(const Term& rows);
WriteOptions ToWriteOptions(const Term& durability);

ReferenceRow ToReferenceRow(std::span<const CellView> cells);
// For messages: one line per cell; long values are cut.
std::string ToText(const ReferenceRow& row);

}  // namespace stele::internal
