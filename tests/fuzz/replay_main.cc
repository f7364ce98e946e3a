// tests/fuzz/replay_main.cc: runs a fuzz target without libFuzzer, on every file of a corpus
// directory and then on a fixed list of mutations of them.
//
// Finds: a decoder that reads out of bounds, loops or aborts on damaged bytes. The sanitizer, the
// signal or ctest's time limit reports the failure. The same seed gives the same inputs, so a
// failure can be repeated. After a crash the input is in <program>.last.
//
// Use:       <name>_fuzz CORPUS_DIRECTORY [mutation_count [seed]]
//            A single file instead of a directory is run once, without mutations.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using stele::internal::Random;

constexpr uint64_t kMutationsDefault = 20'000;
constexpr uint64_t kSeedDefault = 1;
constexpr size_t kInputBytesMax = 64 << 10;

std::string ReadWhole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Makes one change as damage or a forger does: a bit, a byte, a length-like sequence of 0xff, a
// cut, a repetition, or a splice.
void MutateOnce(const std::vector<std::string>& corpus, Random& random, std::string& input) {
  if (input.empty()) {
    input.assign(1 + random.Below(64), static_cast<char>(random.Below(256)));
    return;
  }
  const size_t at = random.Below(input.size());
  const size_t run = 1 + random.Below(std::min<size_t>(16, input.size() - at));
  switch (random.Below(8)) {
    case 0:
      input[at] = static_cast<char>(input[at] ^ (1 << random.Below(8)));
      break;
    case 1:
      input[at] = static_cast<char>(random.Below(256));
      break;
    case 2:
      input.replace(at, run, run, static_cast<char>(0xff));
      break;
    case 3:
      input.replace(at, run, run, '\0');
      break;
    case 4:
      input.resize(at);
      break;
    case 5:
      input.erase(at, run);
      break;
    case 6:
      input.insert(at, std::string(input, at, run));
      break;
    default: {
      const std::string& other = corpus[random.Below(corpus.size())];
      input.resize(at);
      if (!other.empty()) input.append(other, random.Below(other.size()), std::string::npos);
    }
  }
  if (input.size() > kInputBytesMax) input.resize(kInputBytesMax);
}

// Keeps the current input on disk. If the target ends the process, the file has the input that
// caused it.
class LastInput {
 public:
  explicit LastInput(const std::string& path)
      : descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {}
  ~LastInput() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  LastInput(const LastInput&) = delete;
  LastInput& operator=(const LastInput&) = delete;

  bool Record(const std::string& input) {
    const auto bytes = static_cast<ssize_t>(input.size());
    return pwrite(descriptor_, input.data(), input.size(), 0) == bytes &&
           ftruncate(descriptor_, bytes) == 0;
  }

 private:
  const int descriptor_;
};

bool RunOne(LastInput& last_input, const std::string& input) {
  if (!last_input.Record(input)) {
    std::perror("cannot record the input");
    return false;
  }
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  return true;
}

std::vector<std::string> LoadCorpus(const std::filesystem::path& place) {
  std::error_code error;
  if (!std::filesystem::is_directory(place, error)) return {ReadWhole(place)};
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const auto& path : paths) corpus.push_back(ReadWhole(path));
  return corpus;
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path place = argc > 1 ? argv[1] : "";
  std::error_code error;
  if (argc < 2 || !std::filesystem::exists(place, error)) {
    std::fprintf(stderr,
                 "usage: %s CORPUS_FOLDER|FILE [mutation_count [seed]]; '%s' does not exist\n",
                 argv[0], place.c_str());
    return 2;
  }
  const std::vector<std::string> corpus = LoadCorpus(place);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no file in %s, nothing to run\n", argv[0], place.c_str());
    return 2;
  }
  const bool is_folder = std::filesystem::is_directory(place, error);
  const uint64_t mutation_count = !is_folder ? 0
                                  : argc > 2 ? std::strtoull(argv[2], nullptr, 10)
                                             : kMutationsDefault;
  const uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : kSeedDefault;
  LastInput last_input(std::string(argv[0]) + ".last");

  for (const std::string& input : corpus) {
    if (!RunOne(last_input, input)) return 2;
  }
  Random random(seed);
  for (uint64_t i = 0; i < mutation_count; ++i) {
    std::string input = corpus[random.Below(corpus.size())];
    for (uint64_t changes = 1 + random.Below(4); changes > 0; --changes)
      MutateOnce(corpus, random, input);
    if (!RunOne(last_input, input)) return 2;
  }
  std::printf("%zu corpus files, %llu mutations, seed %llu\n", corpus.size(),
              static_cast<unsigned long long>(mutation_count),
              static_cast<unsigned long long>(seed));
  return 0;
}
