// lab/export_fixture.h: writes exports of DynamoDB for tests: data files, manifests and sums.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "lab/input/md5.h"

namespace stele::internal::lab {

// A directory that is removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string path = (std::filesystem::temp_directory_path() / "stele_lab_XXXXXX").string();
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string File(std::string_view name) const { return (path_ / name).string(); }
  std::string Write(std::string_view name, std::string_view bytes) const {
    const std::string path = File(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::filesystem::path path_;
};

inline std::string Gzip(std::string_view bytes) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// An item with all ten types; `n` makes items differ.
inline std::string ItemOfAllTypes(int n) {
  const std::string number = std::to_string(n);
  return R"({"Item":{"PK":{"S":"user)" + number + R"("},"SK":{"S":"a#b"},)" +
         R"("text":{"S":"caf\u00e9 \"x\"\n\u0001"},"number":{"N":"-1.50E+3)" +
         R"("},"bytes":{"B":"AP8="},"yes":{"BOOL":true},"none":{"NULL":true},)" +
         R"("list":{"L":[{"S":"a"},{"N":")" + number + R"("},{"L":[]},{"M":{}}]},)" +
         R"("map":{"M":{"$x":{"B":"AA=="},"a":{"SS":["y","x"]},"n":{"NULL":true}}},)" +
         R"("ss":{"SS":["b","a#%"]},"ns":{"NS":["10","9","-1"]},"bs":{"BS":["AQ==","AA=="]}}})";
}

// The lines of each data file.
using DataLines = std::vector<std::vector<std::string>>;

// An export in AWSDynamoDB/ID below a temporary directory.
class ExportFixture {
 public:
  explicit ExportFixture(const DataLines& files, std::string type = "FULL_EXPORT",
                         std::string id = "0173-abc")
      : id_(std::move(id)), type_(std::move(type)) {
    Write(files);
  }

  void Write(const DataLines& files) {
    std::string list;
    size_t item_sum = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      std::string text;
      for (const std::string& line : files[i]) text += line + "\n";
      item_sum += files[i].size();
      const std::string name = "part" + std::to_string(i) + ".json.gz";
      const std::string bytes = Gzip(text);
      directory_.Write(Below("data/" + name), bytes);
      list += R"({"itemCount":)" + std::to_string(files[i].size()) + R"(,"md5Checksum":")" +
              Md5Base64(bytes) + R"(","etag":"x-1","dataFileS3Key":"pre/AWSDynamoDB/)" + id_ +
              "/data/" + name + "\"}\n";
    }
    WriteManifest("manifest-files", list);
    WriteManifest("manifest-summary",
                  R"({"tableArn":"arn:aws:dynamodb:eu-west-1:1:table/)" + table_ +
                      R"(","itemCount":)" + std::to_string(item_sum) +
                      R"(,"exportTime":"2024-11-20T00:00:00.000Z",)" + R"("exportFromTime":")" +
                      from_ + R"(","exportToTime":")" + to_ +
                      R"(","outputFormat":"DYNAMODB_JSON","exportType":")" + type_ + "\"}");
  }
  // Writes NAME.json and its sum.
  void WriteManifest(const std::string& name, const std::string& text) {
    directory_.Write(Below(name + ".json"), text);
    directory_.Write(Below(name + ".md5"), Md5Base64(text));
  }
  // For the next Write(), as are the times. Default: game.
  void SetTable(std::string table) { table_ = std::move(table); }
  void SetTimes(std::string from, std::string to) {
    from_ = std::move(from);
    to_ = std::move(to);
  }

  std::string path() const { return directory_.File("AWSDynamoDB/" + id_); }
  std::string root() const { return directory_.File("."); }
  std::string Below(const std::string& name) const { return "AWSDynamoDB/" + id_ + "/" + name; }
  TemporaryDirectory& directory() { return directory_; }

 private:
  TemporaryDirectory directory_;
  std::string id_;
  std::string type_;
  std::string table_ = "game";
  std::string from_ = "2024-11-20T00:00:00Z";
  std::string to_ = "2024-11-21T00:00:00Z";
};

}  // namespace stele::internal::lab
