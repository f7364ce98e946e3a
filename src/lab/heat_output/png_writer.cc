#include "lab/heat_output/png_writer.h"

#include <png.h>

#include <csetjmp>

#include "base/status.h"
#include "lab/heat_output/palette.h"

namespace stele::internal::lab {
namespace {

void AppendPngBytes(png_structp png, png_bytep bytes, size_t count) {
  auto* const out = static_cast<std::string*>(png_get_io_ptr(png));
  out->append(reinterpret_cast<const char*>(bytes), count);
}

void FlushPng(png_structp /*png*/) {}
void IgnorePngWarning(png_structp /*png*/, png_const_charp /*message*/) {}

// Owns libpng's structures.
class PngWriter {
 public:
  PngWriter()
      : png_(png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, IgnorePngWarning)),
        info_(png_ == nullptr ? nullptr : png_create_info_struct(png_)) {}
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  bool is_ready() const { return info_ != nullptr; }
  png_structp png() const { return png_; }
  png_infop info() const { return info_; }

 private:
  png_structp png_;
  png_infop info_;
};

void SetHeader(const PngWriter& writer, const PngImage& image, std::vector<png_text>* texts) {
  png_set_IHDR(writer.png(), writer.info(), image.width, image.height, 8, PNG_COLOR_TYPE_PALETTE,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_color palette[256];
  for (size_t i = 0; i < 256; ++i) {
    const Color color = InfernoColor(i);
    palette[i] = {.red = color.red, .green = color.green, .blue = color.blue};
  }
  png_set_PLTE(writer.png(), writer.info(), palette, 256);
  png_set_text(writer.png(), writer.info(), texts->data(), static_cast<int>(texts->size()));
}

}  // namespace

absl::StatusOr<std::string> WritePng(const PngImage& image) {
  std::string out;
  std::vector<uint8_t> row(image.width);
  std::vector<png_text> texts;
  for (const auto& [keyword, text] : image.texts)
    texts.push_back({.compression = PNG_TEXT_COMPRESSION_NONE,
                     .key = const_cast<char*>(keyword.c_str()),
                     .text = const_cast<char*>(text.c_str()),
                     .text_length = text.size()});
  const PngWriter writer;
  if (!writer.is_ready()) return internal::ResourceExhausted("not enough memory for an image");
  // libpng jumps here after an error. No object is constructed between here and the end.
  if (setjmp(png_jmpbuf(writer.png())) != 0)
    return internal::ResourceExhausted("libpng cannot write an image of {} x {}", image.width,
                                       image.height);
  png_set_user_limits(writer.png(), image.width, image.height);
  png_set_write_fn(writer.png(), &out, AppendPngBytes, FlushPng);
  SetHeader(writer, image, &texts);
  png_write_info(writer.png(), writer.info());
  for (uint32_t y = 0; y < image.height; ++y) {
    image.fill_row(y, &row);
    png_write_row(writer.png(), row.data());
  }
  png_write_end(writer.png(), nullptr);
  return out;
}

}  // namespace stele::internal::lab
