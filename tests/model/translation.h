// model/translation.h: the words of a history as arguments of the public API, and its answers as cells of the reference.
//
// Threads:   pure functions.
#pragma once

#include "model/operation.h"
#include "model/reference_store.h"
#include "stele/stele.h"

namespace stele::internal {

ValueType ToValueType(std::string_view type);
GcRule ToGcRule(const Term& rule);
Schema ToSchema(const Term& create);
std::vector<FamilyChange> ToFamilyChanges(const Term& families);
// Of row(T,K,CHANGE..).
RowMutation ToMutation(const Term& row);
Filter ToFilter(const Term& filter);
RowRange ToRowRange(const Term& range);
RowSet ToRowSet(const Term& rows);
WriteOptions ToWriteOptions(const Term& durability);

ReferenceRow ToReferenceRow(std::span<const CellView> cells);
// For messages: one line a cell, long values cut.
std::string ToText(const ReferenceRow& row);

}  // namespace stele::internal
