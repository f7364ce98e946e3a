// bench/layout_lab/main.cc: measures which page size, codec, dictionary and sections suit an
// SSTable.
//
//   stele_layout_lab [--data DIR] [--sets S,W,V,covid,covid-days,geonames] [--pages 2,4,8,16,32]
//                    [--sections one,split,families] [--codecs none,lz4,lz4hc,zstd-1,zstd-3]
//                    [--plain head,rows,nothing] [--repetitions N] [--scale N] [--json FILE]
//
// The program cuts, encodes and reads every data set in every combination, on one thread, from
// memory. It first checks that each layout returns exactly the cells of the data set. Times are CPU
// time, the best of --repetitions. `split` and `families` are omitted if they result in the same
// sections as the previous setting. --plain selects the part of a page that stays uncompressed: the
// whole head, the part that finds a row, or nothing.
// MB are 10^6 bytes. Percentages and MB/s refer to user bytes: row keys once, and the family,
// qualifier, timestamp and value of every cell.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "data_set.h"
#include "layout.h"
#include "measure.h"
#include "report.h"

namespace stele::layout_lab {
namespace {

struct Settings {
  std::string data_directory = "data";
  std::string sets = "S,W,V,covid,covid-days,geonames";
  std::string pages = "2,4,8,16,32";
  std::string sections = "one,split,families";
  std::string codecs = "none,lz4,zstd-1,zstd-3";
  std::string plain = "head,rows,nothing";
  std::string json;
  int repetitions = 3;
  uint32_t scale = 1;
};

std::vector<std::string> SplitList(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

bool Contains(std::string_view list, std::string_view name) {
  const std::vector<std::string> parts = SplitList(list);
  return std::find(parts.begin(), parts.end(), name) != parts.end();
}

Settings ReadArguments(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) Die("an option without a value; see the head of bench/layout_lab/main.cc");
    const char* value = argv[i + 1];
    if (name == "--data") {
      settings.data_directory = value;
    } else if (name == "--sets") {
      settings.sets = value;
    } else if (name == "--pages") {
      settings.pages = value;
    } else if (name == "--sections") {
      settings.sections = value;
    } else if (name == "--codecs") {
      settings.codecs = value;
    } else if (name == "--plain") {
      settings.plain = value;
    } else if (name == "--json") {
      settings.json = value;
    } else if (name == "--repetitions") {
      settings.repetitions = std::max(1, std::atoi(value));
    } else if (name == "--scale") {
      settings.scale = static_cast<uint32_t>(std::max(1, std::atoi(value)));
    } else {
      Die("an option that is not known; see the head of bench/layout_lab/main.cc");
    }
  }
  return settings;
}

class Lab {
 public:
  explicit Lab(Settings settings) : settings_(std::move(settings)) {}

  void Run() {
    PrintHeading();
    for (const std::string& name : SplitList(settings_.sets)) {
      absl::StatusOr<DataSet> set = LoadDataSet(name, settings_.data_directory, settings_.scale);
      if (!set.ok()) Die(std::string(set.status().message()));
      RunDataSet(*set);
    }
    if (!settings_.json.empty() && !WriteJson(settings_.json, settings_.repetitions, done_))
      Die("the JSON file cannot be written");
  }

 private:
  void RunDataSet(const DataSet& set) {
    const Expectation expected = Expect(set);
    std::vector<size_t> section_counts;
    for (const Sections sections : {Sections::kOne, Sections::kSplit, Sections::kFamilies}) {
      const size_t section_count = ScopesOf(set, sections).size();
      const bool is_new = std::find(section_counts.begin(), section_counts.end(), section_count) ==
                          section_counts.end();
      section_counts.push_back(section_count);
      if (!is_new || !Contains(settings_.sections, SectionsName(sections))) continue;
      for (const std::string& kib : SplitList(settings_.pages)) {
        const size_t page_bytes = static_cast<size_t>(std::max(1, std::atoi(kib.c_str()))) << 10;
        const std::vector<RawSection> raw = CutSections(set, sections, page_bytes);
        Combination combination{.data_set = set.name,
                                .sections = sections,
                                .page_bytes = page_bytes,
                                .user_bytes = set.UserBytes()};
        for (const Plain plain : {Plain::kHead, Plain::kRows, Plain::kNothing}) {
          if (!Contains(settings_.plain, PlainName(plain))) continue;
          combination.plain = plain;
          RunCodecs(set, expected, raw, combination);
        }
      }
    }
  }

  void RunCodecs(const DataSet& set, const Expectation& expected,
                 const std::vector<RawSection>& raw, Combination combination) {
    std::vector<std::string> dictionaries;
    for (const RawSection& section : raw)
      dictionaries.push_back(TrainSectionDictionary(section, combination.plain));
    for (const CodecKind codec : {CodecKind::kNone, CodecKind::kLz4, CodecKind::kLz4Hc,
                                  CodecKind::kZstd1, CodecKind::kZstd3}) {
      if (!Contains(settings_.codecs, CodecKindName(codec))) continue;
      for (const bool has_dictionary : {false, true}) {
        if (codec == CodecKind::kNone && (has_dictionary || combination.plain != Plain::kHead))
          continue;
        combination.codec = codec;
        combination.has_dictionary = has_dictionary;
        RunCombination(set, expected, raw, dictionaries, combination);
      }
    }
  }

  void RunCombination(const DataSet& set, const Expectation& expected,
                      const std::vector<RawSection>& raw,
                      const std::vector<std::string>& dictionaries, Combination combination) {
    const double begin = ThreadSeconds();
    std::vector<Section> sections;
    for (size_t i = 0; i < raw.size(); ++i) {
      sections.emplace_back(set, raw[i], combination.codec,
                            combination.has_dictionary ? dictionaries[i] : "", combination.plain);
    }
    const double encode_seconds = ThreadSeconds() - begin;
    Verify(set, expected, sections);
    combination.figures = Measure(set, expected, sections, settings_.repetitions);
    combination.figures.encode_mb_s =
        static_cast<double>(combination.user_bytes) / 1e6 / encode_seconds;
    combination.section_count = sections.size();
    PrintLine(combination);
    done_.push_back(combination);
  }

  const Settings settings_;
  std::vector<Combination> done_;
};

}  // namespace
}  // namespace stele::layout_lab

int main(int argc, char** argv) {
  stele::layout_lab::Lab(stele::layout_lab::ReadArguments(argc, argv)).Run();
  return 0;
}
