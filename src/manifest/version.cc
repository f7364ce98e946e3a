#include "manifest/version.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

// Checks references from newest to oldest. A map from the first row of each interval of rows to the
// least sequence among the references checked so far there. Each call of Descend merges its range
// into one interval, so a whole stack costs n log n.
class NewestFirstCheck {
 public:
  NewestFirstCheck() { least_[""] = UINT64_MAX; }

  // Returns false if [first, last] is not below the sequences of all rows in the range so far. The
  // range must outlive this object.
  bool Descend(const KeyRange& range, uint64_t first, uint64_t last) {
    const auto begin = Cut(range.start);
    const auto end = range.unbounded_end ? least_.end() : Cut(range.end);
    for (auto it = begin; it != end; ++it) {
      if (last >= it->second) return false;
    }
    least_.erase(std::next(begin), end);
    begin->second = first;
    return true;
  }

 private:
  using StackSpans = std::map<std::string_view, uint64_t>;
  StackSpans::iterator Cut(std::string_view row_key) {
    const auto after = least_.upper_bound(row_key);
    const auto before = std::prev(after);
    if (before->first == row_key) return before;
    return least_.emplace_hint(after, row_key, before->second);
  }
  StackSpans least_;
};

// Checks that tablets cover the row space, ascending, without gap or overlap.
absl::Status CheckTiling(const SharedSequence<Tablet>& tablets) {
  std::string_view expected_start;
  bool open = true;
  for (const Tablet& tablet : tablets) {
    if (!open || tablet.range.start != expected_start || tablet.range.IsEmpty()) {
      return InvalidArgument("tablet {} does not begin where the one before it ends",
                             RangeText(tablet.range));
    }
    open = !tablet.range.unbounded_end;
    expected_start = tablet.range.end;
  }
  if (open) return InvalidArgument("the tablets end before the end of the table");
  return absl::OkStatus();
}

}  // namespace

std::string RangeText(const KeyRange& range) {
  return fmt::format("[\"{}\", {})", Printable(range.start),
                     range.unbounded_end ? "end" : fmt::format("\"{}\"", Printable(range.end)));
}

size_t TableState::TabletIndexOf(std::string_view row_key) const {
  const auto after = std::upper_bound(
      tablets.begin(), tablets.end(), row_key,
      [](std::string_view row, const Tablet& tablet) { return row < tablet.range.start; });
  // The first tablet begins with the first possible row.
  return static_cast<size_t>(after - tablets.begin()) - 1;
}

const Tablet* TableState::FindTablet(const KeyRange& range) const {
  const Tablet& tablet = tablets[TabletIndexOf(range.start)];
  return tablet.range == range ? &tablet : nullptr;
}

const TableState* Version::FindTable(std::string_view name) const {
  const uint32_t* const id = ids_by_name.Find(std::string(name));
  if (id == nullptr) return nullptr;
  const auto it = tables.find(*id);
  return it == tables.end() ? nullptr : it->second.get();
}

std::map<uint64_t, std::shared_ptr<const SstableFile>> Version::Files() const {
  std::map<uint64_t, std::shared_ptr<const SstableFile>> files;
  for (const auto& [id, table] : tables) {
    for (const Tablet& tablet : table->tablets) {
      for (const SstableReference& reference : tablet.stack)
        files.emplace(reference.file->number, reference.file);
    }
  }
  return files;
}

std::shared_ptr<const TableDefinition> MakeDefinition(uint32_t table_id, std::string name,
                                                      uint64_t epoch, const Schema& schema,
                                                      const std::vector<FamilyEntry>& families) {
  auto definition = std::make_shared<TableDefinition>();
  definition->id = table_id;
  definition->name = std::move(name);
  definition->epoch = epoch;
  definition->schema = schema;
  definition->families = FamilyList(families);
  for (uint32_t family_index = 1; family_index <= definition->families.size(); ++family_index) {
    const FamilySchema* family = schema.family(definition->families[family_index].name);
    definition->family_schemas.push_back(family == nullptr ? FamilySchema() : *family);
    definition->retentions.push_back(family == nullptr ? Retention() : Retention(family->gc));
  }
  return definition;
}

std::vector<bool> FamiliesOfUnknownOrdinals(const TableDefinition& definition,
                                            uint64_t newer_since) {
  std::vector<bool> unknown(definition.families.size());
  for (uint32_t family_index = 1; family_index <= definition.families.size(); ++family_index) {
    unknown[family_index - 1] = definition.families[family_index].unfenced_through >= newer_since;
  }
  return unknown;
}

absl::Status CheckStack(const Tablet& tablet, const Version& version) {
  NewestFirstCheck newest_first;
  for (const SstableReference& reference : tablet.stack) {
    if (reference.file == nullptr)
      return InvalidArgument("tablet {}: a reference without a file", RangeText(tablet.range));
    const auto wrong = [&](std::string_view what) {
      return InvalidArgument("tablet {}: reference to file {}, rows {}, sequences {}-{}: {}",
                             RangeText(tablet.range), reference.file->number,
                             RangeText(reference.range), reference.sequence_first,
                             reference.sequence_last, what);
    };
    if (reference.range.IsEmpty() || !tablet.range.Covers(reference.range))
      return wrong("its rows are outside the tablet");
    if (reference.sequence_first > reference.sequence_last)
      return wrong("its last sequence is below its first");
    if (reference.sequence_last > version.last_sequence)
      return wrong("its sequences are above the last assigned one");
    if (reference.file->number >= version.next_file_number)
      return wrong("its number was never assigned");
    if (!newest_first.Descend(reference.range, reference.sequence_first, reference.sequence_last)) {
      return wrong("its sequences are not below those of the newer references");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDefinition(const TableDefinition& definition, const Version& version) {
  if (definition.id >= version.next_table_id) return InvalidArgument("its id was never assigned");
  if (definition.retentions.size() != definition.families.size() ||
      definition.schema.families().size() != definition.families.size()) {
    return InvalidArgument("its families and its schema differ");
  }
  if (definition.id == kTokenTableId) return absl::OkStatus();  // its ids are defined by the format
  for (const uint32_t id : definition.families.ids()) {
    if (id == 0 || id >= version.next_family_id)
      return InvalidArgument("family id {} was never assigned", id);
  }
  return absl::OkStatus();
}

absl::Status CheckTable(const TableState& table, const Version& version) {
  const std::string context =
      fmt::format("table {} \"{}\"", table.definition->id, Printable(table.definition->name));
  STELE_RETURN_IF_ERROR(WithContext(CheckDefinition(*table.definition, version), context));
  STELE_RETURN_IF_ERROR(WithContext(CheckTiling(table.tablets), context));
  for (const Tablet& tablet : table.tablets)
    STELE_RETURN_IF_ERROR(WithContext(CheckStack(tablet, version), context));
  return absl::OkStatus();
}

absl::Status CheckVersion(const Version& version) {
  std::map<std::string_view, uint32_t> ids_by_name;
  std::map<uint32_t, uint32_t> tables_by_family;
  std::map<uint64_t, std::pair<uint32_t, const SstableFile*>> files;
  for (const auto& [id, table] : version.tables) {
    if (table->definition == nullptr || table->definition->id != id)
      return InvalidArgument("table {} has another table's definition", id);
    STELE_RETURN_IF_ERROR(CheckTable(*table, version));
    if (!ids_by_name.emplace(table->definition->name, id).second) {
      return InvalidArgument("tables {} and {} have the same name",
                             ids_by_name[table->definition->name], id);
    }
    for (const uint32_t family : table->definition->families.ids()) {
      if (!tables_by_family.emplace(family, id).second)
        return InvalidArgument("tables {} and {} share a family id", tables_by_family[family], id);
    }
    for (const Tablet& tablet : table->tablets) {
      for (const SstableReference& reference : tablet.stack) {
        const std::pair<uint32_t, const SstableFile*> owner(id, reference.file.get());
        if (files.emplace(reference.file->number, owner).first->second != owner) {
          return InvalidArgument("file {} is described twice", reference.file->number);
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace stele::internal
