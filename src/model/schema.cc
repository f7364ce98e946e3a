#include "stele/schema.h"

#include <algorithm>

namespace stele {
inline namespace v0 {
namespace {

// The position after the families with this name, where `name` is inserted.
auto AfterName(const std::vector<FamilySchema>& families, std::string_view name) {
  return std::upper_bound(
      families.begin(), families.end(), name,
      [](std::string_view a, const FamilySchema& b) { return a < std::string_view(b.name); });
}

}  // namespace

Schema& Schema::AddFamily(std::string name, GcRule gc) {
  return AddFamily(FamilySchema{.name = std::move(name), .gc = std::move(gc)});
}

Schema& Schema::AddFamily(FamilySchema family) {
  const auto place = AfterName(families_, family.name);
  families_.insert(place, std::move(family));
  return *this;
}

Schema& Schema::SetGranularity(TimestampGranularity granularity) {
  granularity_ = granularity;
  return *this;
}

Schema& Schema::SetCompression(Compression compression) {
  compression_ = compression;
  return *this;
}

Schema& Schema::AddSplit(std::string row_key) {
  const auto place = std::lower_bound(splits_.begin(), splits_.end(), row_key);
  if (place == splits_.end() || *place != row_key) splits_.insert(place, std::move(row_key));
  return *this;
}

Schema& Schema::SetProperty(std::string key, std::string value) {
  properties_.insert_or_assign(std::move(key), std::move(value));
  return *this;
}

Schema& Schema::SetLimits(TableLimits limits) {
  limits_ = limits;
  return *this;
}

const FamilySchema* Schema::family(std::string_view name) const {
  const auto place = AfterName(families_, name);
  if (place == families_.begin() || std::prev(place)->name != name) return nullptr;
  return &*std::prev(place);
}

FamilyChange FamilyChange::Create(FamilySchema family) {
  return FamilyChange(Kind::kCreate, std::move(family));
}

FamilyChange FamilyChange::Update(std::string name, GcRule gc) {
  return FamilyChange(Kind::kUpdate, FamilySchema{.name = std::move(name), .gc = std::move(gc)});
}

FamilyChange FamilyChange::Drop(std::string name) {
  return FamilyChange(Kind::kDrop, FamilySchema{.name = std::move(name)});
}

}  // namespace v0
}  // namespace stele
