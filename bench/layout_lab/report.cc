#include "report.h"

#include <fmt/format.h>

#include <cstdio>

namespace stele::layout_lab {
namespace {

std::string CodecText(const Combination& c) {
  return std::string(CodecKindName(c.codec)) + (c.has_dictionary ? "+dict" : "");
}

std::string Millions(double per_second) {
  return per_second == 0 ? "-" : fmt::format("{:.2f}", per_second / 1e6);
}
std::string Micros(double us) { return us == 0 ? "-" : fmt::format("{:.2f}", us); }

}  // namespace

void PrintHeading() {
  std::fputs(fmt::format("{:<10} {:<8} {:<7} {:>4} {:<11} {:>6} {:>6} {:>6} {:>7} {:>8} {:>7} "
                         "{:>8} {:>8} {:>8} {:>8} {:>8}\n"
                         "{:<10} {:<8} {:<7} {:>4} {:<11} {:>6} {:>6} {:>6} {:>7} {:>8} {:>7} "
                         "{:>8} {:>8} {:>8} {:>8} {:>8}\n",
                         "data", "sections", "plain", "page", "codec", "bytes", "index", "heads",
                         "encode", "get", "scan", "scan", "project", "project", "latest", "latest",
                         "", "", "", "KiB", "", "%", "%", "%", "MB/s", "us", "MB/s", "Mcells/s",
                         "Mcells/s", "get us", "Mcells/s", "get us")
                 .c_str(),
             stdout);
}

void PrintLine(const Combination& c) {
  const Figures& f = c.figures;
  const auto percent = [&](uint64_t bytes) {
    return 100.0 * static_cast<double>(bytes) / static_cast<double>(c.user_bytes);
  };
  std::fputs(
      fmt::format("{:<10} {:<8} {:<7} {:>4} {:<11} {:>6.2f} {:>6.3f} {:>6.2f} {:>7.0f} {:>8} "
                  "{:>7.0f} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
                  c.data_set, SectionsName(c.sections), PlainName(c.plain), c.page_bytes >> 10,
                  CodecText(c), percent(f.TotalBytes()), percent(f.index_bytes),
                  percent(f.head_bytes), f.encode_mb_s, Micros(f.get_us), f.scan_mb_s,
                  Millions(f.scan_cells_s), Millions(f.project_cells_s), Micros(f.project_get_us),
                  Millions(f.latest_cells_s), Micros(f.latest_get_us))
          .c_str(),
      stdout);
  std::fflush(stdout);
}

bool WriteJson(const std::string& path, int repetitions,
               const std::vector<Combination>& combinations) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  std::string out = fmt::format("{{\"best_of\": {}, \"combinations\": [", repetitions);
  const char* separator = "\n";
  for (const Combination& c : combinations) {
    const Figures& f = c.figures;
    out += fmt::format(
        "{}  {{\"data\": \"{}\", \"sections\": \"{}\", \"section_count\": {}, \"plain\": \"{}\", "
        "\"page_bytes\": {}, \"codec\": \"{}\", "
        "\"dictionary\": {}, \"user_bytes\": {}, \"total_bytes\": {}, \"index_bytes\": {}, "
        "\"dictionary_bytes\": {}, \"head_bytes\": {}, "
        "\"pages\": {}, \"encode_mb_s\": {:.1f}, \"get_us\": {:.3f}, \"scan_mb_s\": {:.1f}, "
        "\"scan_cells_s\": {:.0f}, "
        "\"project_cells_s\": {:.0f}, \"project_get_us\": {:.3f}, \"latest_cells_s\": {:.0f}, "
        "\"latest_get_us\": {:.3f}}}",
        separator, c.data_set, SectionsName(c.sections), c.section_count, PlainName(c.plain),
        c.page_bytes, CodecKindName(c.codec), c.has_dictionary, c.user_bytes, f.TotalBytes(),
        f.index_bytes, f.dictionary_bytes, f.head_bytes, f.page_count, f.encode_mb_s, f.get_us,
        f.scan_mb_s, f.scan_cells_s, f.project_cells_s, f.project_get_us, f.latest_cells_s,
        f.latest_get_us);
    separator = ",\n";
  }
  out += "\n]}\n";
  const bool is_written = std::fwrite(out.data(), 1, out.size(), file) == out.size();
  return std::fclose(file) == 0 && is_written;
}

}  // namespace stele::layout_lab
