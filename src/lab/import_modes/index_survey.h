// import_modes/index_survey.h: finds the row key of an index table: the types of its attributes,
// and their layout.
//
// In DynamoDB, an index declares the types of its attributes, and lacks items with other types. A
// data model has the declared types. An export does not, so the types are those of most items. The
// order of the items does not matter.
//
// Threads:   confined to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/mapping/key_layout.h"
#include "lab/values/item.h"
#include "stele/lab/dynamodb.h"

namespace stele::internal::lab {

class IndexSurvey {
 public:
  // `names`: the attributes of the row key, first those of the index. `delimiter` as in KeySurvey.
  IndexSurvey(stele::lab::DynamoDbIndex index, std::vector<std::string> names, bool is_ordered,
              std::string delimiter);

  // Adds an item, if it has the attributes of the index. `sample` names it in notes. Adds a note to
  // `report` for an item whose attributes cannot be keys.
  void Add(const Item& item, std::string_view sample, stele::lab::DynamoDbImportReport* report);
  // Chooses the layout. Adds notes about an index without items, and about items of other types.
  // Errors: those of KeySurvey::Choose.
  absl::StatusOr<KeyLayout> Choose(stele::lab::DynamoDbImportReport* report) const;

 private:
  // The types of the attributes of the index. Without a sort key, the second one is S.
  using Types = std::pair<AttributeType, AttributeType>;
  static constexpr size_t kSamplesMax = 3;

  // The items whose attributes have the same types.
  struct Group {
    explicit Group(KeySurvey keys) : survey(std::move(keys)) {}

    KeySurvey survey;
    uint64_t count = 0;
    std::vector<std::string> samples;
  };

  void NoteNoKey(std::string_view sample, stele::lab::DynamoDbImportReport* report) const;
  std::map<Types, Group>::const_iterator ChosenGroup() const;
  std::string TextOf(const Types& types) const;

  const stele::lab::DynamoDbIndex index_;
  const KeySurvey empty_;
  std::map<Types, Group> groups_;
};

}  // namespace stele::internal::lab
