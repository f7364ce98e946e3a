#include "model/shrink.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stele::internal {
namespace {

class Shrinker {
 public:
  Shrinker(History history, const std::function<bool(const History&)>& fails,
           std::chrono::steady_clock::time_point deadline)
      : history_(std::move(history)), fails_(fails), deadline_(deadline) {}

  History Run() {
    size_t before;
    do {
      before = ToText(history_).size();
      DropOperations();
      for (size_t i = 0; i < history_.size() && InTime(); ++i) DropParts({i});
    } while (InTime() && ToText(history_).size() < before);
    return history_;
  }

 private:
  bool InTime() const { return std::chrono::steady_clock::now() < deadline_; }

  bool Try(History candidate) {
    if (!InTime() || !fails_(candidate)) return false;
    history_ = std::move(candidate);
    return true;
  }

  void DropOperations() {
    for (size_t chunk = std::max<size_t>(history_.size() / 2, 1);; chunk /= 2) {
      for (size_t begin = 0; begin < history_.size() && InTime();) {
        History candidate = history_;
        const size_t end = std::min(begin + chunk, candidate.size());
        candidate.erase(candidate.begin() + static_cast<ptrdiff_t>(begin),
                        candidate.begin() + static_cast<ptrdiff_t>(end));
        if (!Try(std::move(candidate))) begin = end;
      }
      if (chunk <= 1) return;
    }
  }

  // Returns the number of leading arguments that a term requires.
  static size_t ArgumentsNeeded(const Term& term) {
    constexpr std::array<std::pair<std::string_view, size_t>, 9> kOpenEnded = {{{"row", 2},
                                                                                {"bulk", 1},
                                                                                {"load", 1},
                                                                                {"batch", 1},
                                                                                {"families", 1},
                                                                                {"create", 4},
                                                                                {"splits", 0},
                                                                                {"rows", 0},
                                                                                {"rmw", 4}}};
    for (const auto& [name, needed] : kOpenEnded) {
      if (term.Is(name)) return needed;
    }
    return term.size();
  }

  static Term& At(History& history, const std::vector<size_t>& path) {
    Term* term = &history[path[0]];
    for (size_t i = 1; i < path.size(); ++i) term = &term->arguments[path[i]];
    return *term;
  }

  void DropParts(const std::vector<size_t>& path) {
    for (size_t i = At(history_, path).size(); i > ArgumentsNeeded(At(history_, path)) && InTime();
         --i) {
      History candidate = history_;
      std::vector<Term>& arguments = At(candidate, path).arguments;
      arguments.erase(arguments.begin() + static_cast<ptrdiff_t>(i - 1));
      Try(std::move(candidate));
    }
    for (const std::string_view simpler : {"1:1", "all", "none", "p"}) Simplify(path, simpler);
    for (size_t i = 0; i < At(history_, path).size() && InTime(); ++i) {
      std::vector<size_t> child = path;
      child.push_back(i);
      DropParts(child);
    }
  }

  // Makes values short, and filters and rules trivial, where the history still fails with them.
  void Simplify(const std::vector<size_t>& path, std::string_view simpler) {
    const Term& term = At(history_, path);
    constexpr std::array<std::string_view, 7> kFilters = {"latest", "col",   "colrange", "ts",
                                                          "limit",  "chain", "text"};
    const bool is_value = term.arguments.empty() && term.name.find(':') != std::string::npos;
    const bool is_filter =
        std::find(kFilters.begin(), kFilters.end(), term.name) != kFilters.end() ||
        (term.Is("fam") && term.size() == 1);
    const bool is_rule = term.Is("n") || term.Is("age") ||
                         (term.Is("all") && !term.arguments.empty()) || term.Is("any");
    const bool fits = (simpler == "1:1" && is_value && term.name.size() > 3) ||
                      (simpler == "all" && is_filter) || (simpler == "none" && is_rule) ||
                      (simpler == "p" && term.Is("d"));
    if (!fits) return;
    History candidate = history_;
    At(candidate, path) = Term(simpler);
    Try(std::move(candidate));
  }

  History history_;
  const std::function<bool(const History&)>& fails_;
  const std::chrono::steady_clock::time_point deadline_;
};

}  // namespace

History Shrink(History history, const std::function<bool(const History&)>& fails,
               std::chrono::seconds time_max) {
  return Shrinker(std::move(history), fails, std::chrono::steady_clock::now() + time_max).Run();
}

}  // namespace stele::internal
