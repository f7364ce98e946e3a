#include "columns.h"

#include <algorithm>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "session.h"

namespace stele::cli {

absl::StatusOr<Columns> Columns::Parse(std::string_view text) {
  Columns columns;
  if (text.find_first_of("\\^$*+?()[]{}|") != std::string_view::npos) return NotOffered("columns= with a regular expression");
  for (const std::string& part : Split(text, ',')) {
    const std::vector<std::string> names = Split(part, ':');
    if (names.size() > 2) return UsageError(fmt::format("bad format for column \"{}\"", part));
    Item item;
    if (names.size() == 1) {
      item.qualifier = names[0];
    } else {
      if (!names[0].empty()) item.family = names[0];
      if (!names[1].empty()) item.qualifier = names[1];
    }
    columns.items_.push_back(std::move(item));
  }
  return columns;
}

bool Columns::Contains(const CellView& cell) const {
  return items_.empty() || std::any_of(items_.begin(), items_.end(), [&](const Item& item) {
           return (!item.family.has_value() || *item.family == cell.family()) &&
                  (!item.qualifier.has_value() || *item.qualifier == cell.qualifier());
         });
}

Filter Columns::MakeFilter(std::optional<int> versions) const {
  std::vector<Filter> chain;
  if (items_.size() == 1 && items_[0].family.has_value()) {
    const Item& item = items_[0];
    chain.push_back(item.qualifier.has_value() ? Filter::Column(*item.family, *item.qualifier) : Filter::Family(*item.family));
  }
  if (versions.has_value()) chain.push_back(Filter::Latest(*versions));
  if (chain.empty()) return Filter::PassAll();
  return chain.size() == 1 ? chain[0] : Filter::Chain(std::move(chain));
}

}  // namespace stele::cli
