// Tests `stele key`: the vectors of its functions, input and output forms, and wrong command lines.
#include "cli/command_fixture.h"

namespace stele {
namespace {

class KeyTest : public CommandTest {
 protected:
  // Expects one line of output for each word after the function.
  void Expect(const std::vector<std::string>& args, const std::string& lines) const {
    std::vector<std::string> all = {"key"};
    all.insert(all.end(), args.begin(), args.end());
    EXPECT_EQ(Output(all), lines) << args[0];
  }
};

TEST_F(KeyTest, Vectors) {
  Expect({"join", "phone", "4c410523", "20200501"}, "phone#4c410523#20200501\n");
  Expect({"join", "--escape", "a#b", "5%"}, "a%23b#5%25\n");
  Expect({"split", "--escape", "a%23b#5%25"}, "a#b\n5%\n");
  Expect({"split", "--delimiter", "|", "a|b", "c"}, "a\nb\nc\n");
  Expect({"pad", "5", "42"}, "00042\n");
  Expect({"pad", "3", "000042"}, "042\n");
  Expect({"rev-ts", "1425330757685", "0", "9223372036854775807"},
         "9223370611524018122\n9223372036854775807\n0000000000000000000\n");
  Expect({"rev-date", "20200501", "2020-05-01"}, "79799498\n79799498\n");
  Expect({"rev-digits", "10023", "100"}, "32001\n001\n");
  Expect({"rev-digits", "--width", "8", "10023"}, "32001000\n");
  Expect({"rev-domain", "maps.google.com", "Drive.Google.com:8080/A/b", "10.0.0.1"},
         "com.google.maps\ncom.google.drive:8080/A/b\n10.0.0.1\n");
  Expect({"salt", "10", "a", "user1", "client-17", "4c410523"}, "4\n4\n5\n8\n");
  Expect({"salt", "16", "user1", "hats"}, "08\n15\n");
  Expect({"salt", "100", ""}, "45\n");
  Expect({"salt", "--key", "10", "user1"}, "4#user1\n");
  Expect({"bucket-time", "--width", "1h", "1423523569918"}, "1423522800000\n");
  Expect({"bucket-time", "--width=1d", "--unit", "s", "1423523569"}, "1423440000\n");
  Expect({"prefix-end", "user1#", "a\xff", "a\\xff", "\\xff\\xff"}, "user1$\nb\nb\n\n");
  Expect({"prefix-end", "--from-hex", "61ff", "--hex"}, "62\n");
}

TEST_F(KeyTest, FieldsAreEncodedAndDecoded) {
  const std::vector<std::string> fields = {"--fields",
                                           "id:string,code:int64:ordered_code,at:timestamp"};
  const auto with = [&](std::vector<std::string> args) {
    args.insert(args.end(), fields.begin(), fields.end());
    return args;
  };
  Expect(with({"encode", "--hex", "id=a\\x00b", "at=1970-01-01T00:00:00.000001Z", "code=5"}),
         "6100ff62000185000181\n");
  Expect(with({"decode", "--from-hex", "6100ff62000185000181"}),
         "id=\"a\\x00b\" code=5 at=1970-01-01T00:00:00.000001Z\n");
  Expect(with({"decode", "--format", "json", "--from-hex", "61000185000181"}),
         "{\"id\":\"a\",\"code\":5,\"at\":\"1970-01-01T00:00:00.000001Z\"}\n");
  const std::string schema = WriteFile(
      "schema.json", R"({"row_key_schema":{"encoding":"delimited","delimiter":"#","fields":[)"
                     R"({"name":"shop","type":"string"},{"name":"key","type":"bytes"}]}})");
  Expect({"encode", "--schema", schema, "shop=hats", "key=\\xff"}, "hats#\\xff\n");
  Expect({"decode", "--schema", schema, "hats#\\xff"}, "shop=hats key=\"\\xff\"\n");
#ifdef STELE_HAS_LAB
  const std::string yaml = WriteFile("schema.yaml",
                                     "row_key_schema:\n"
                                     "  encoding: ordered_code   # or delimited, singleton\n"
                                     "  fields:\n"
                                     "    - {name: id, type: string, from: \"{client}\"}\n"
                                     "    - {name: code, type: int64, encoding: ordered_code}\n");
  Expect({"encode", "--schema", yaml, "id=a", "code=5", "--hex"}, "61000185\n");
  Expect({"decode", "--schema", yaml, "--from-hex", "61000185"}, "id=a code=5\n");
  const std::string wrong = WriteFile("wrong.yaml", "fields:\n  - {name: id, type: float}\n");
  ExpectError({"key", "encode", "--schema", wrong, "id=a"}, 1,
              wrong + ":2:22: type must be one of string, bytes, int64, timestamp");
#endif
  ExpectError({"key", "decode", "--schema", schema, "hats"}, 1, "byte 4: the key ends after 1");
  ExpectError({"key", "encode", "--schema", schema, "shop=a#", "key=b"}, 1, "ordered_code");
  ExpectError({"key", "encode", "--schema", schema, "shoe=a"}, 2, "no field \"shoe\"");
  ExpectError({"key", "encode", "--schema", Path("none"), "a=b"}, 1, "none");
}

// Only a field that is given as empty is empty.
TEST_F(KeyTest, AMissingFieldIsAnError) {
  const std::string fields = "id:string,raw:bytes,code:int64,at:timestamp";
  const auto encode = [&](std::vector<std::string> values) {
    values.insert(values.begin(), {"key", "encode", "--fields", fields, "--hex"});
    return values;
  };
  ExpectError(encode({"raw=a", "code=5", "at=1"}), 2,
              "the field \"id\" is missing: add id=VALUE, or id= if it is empty");
  ExpectError(encode({"id=a", "code=5", "at=1"}), 2,
              "the field \"raw\" is missing: add raw=VALUE, or raw= if it is empty");
  ExpectError(encode({"id=a", "raw=b", "at=1"}), 2,
              "the field \"code\" is missing: add code=VALUE");
  ExpectError(encode({"id=a", "raw=b", "code=5"}), 2, "the field \"at\" is missing: add at=VALUE");
  // A name that the schema does not have is reported first, since it may be a wrong spelling.
  ExpectError(encode({"ID=a", "raw=b", "code=5", "at=1"}), 2, "no field \"ID\"");
  Expect({"encode", "--fields", "id:string,code:int64", "--hex", "id=", "code=5"}, "0000000185\n");
  ExpectError({"key", "encode", "--fields", "id:string"}, 2, "the field \"id\" is missing");
  ExpectError({"key", "encode", "--fields", "id:float"}, 2, "stele: unknown type \"float\"");
  Expect({"encode", "--fields", "id:string", "--hex", "id="}, "0000\n");
}

TEST_F(KeyTest, WrongInputHasStatus1AndAWrongCommandLine2) {
  ExpectError({"key", "pad", "2", "100"}, 1, "does not fit into 2");
  ExpectError({"key", "pad", "3", "-1"}, 1, "not a number of decimal digits");
  ExpectError({"key", "rev-date", "2020-02-30"}, 1, "does not exist");
  ExpectError({"key", "rev-domain", "a..b"}, 1, "empty label");
  ExpectError({"key", "join", "a#b", "c"}, 1, "contains the delimiter");
  ExpectError({"key", "prefix-end", "a\\q"}, 1, "write a byte as \\xNN");
  ExpectError({"key", "prefix-end", "--from-hex", "6"}, 1, "two hex digits");
  ExpectError({"key"}, 2, "usage: stele key");
  ExpectError({"key", "--hex"}, 2, "usage: stele key");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"key", "turn", "a"}, std::vector<std::string>{"key", "turn"},
        std::vector<std::string>{"key", "turn", "--wrong"},
        std::vector<std::string>{"key", "--hex", "turn", "a"}})
    ExpectError(words, 2, "\"turn\" is not a function of stele key; \"stele help key\" lists them");
  ExpectError({"key", "pad", "5"}, 2, "needs more words");
  ExpectError({"key", "pad", "wide", "5"}, 2, "not a small whole number");
  ExpectError({"key", "pad", "5", "42", "--width", "5"}, 2, "unknown flag --width");
  ExpectError({"key", "split", "a", "--escape", "--escape"}, 2, "given twice");
  ExpectError({"key", "split", "a", "--delimiter"}, 2, "needs a value");
  ExpectError({"key", "split", "a", "--escape=1"}, 2, "has no value");
  ExpectError({"key", "split", "a", "--format", "csv"}, 2, "must be text or json");
}

TEST_F(KeyTest, FlagsOutputAndHostileKeys) {
  const std::string path = Path("keys");
  EXPECT_EQ(Output({"key", "-o", path, "pad", "5", "42"}), "");
  Expect({"split", "--", "--x#y"}, "--x\ny\n");
  // Escape sequences and text that turns around never reach a terminal.
  Expect({"split", "\x1b[2J#\xe2\x80\xae#\xc3\xa4#\\\\"},
         "\\x1b[2J\n\\xe2\\x80\\xae\n\xc3\xa4\n\\\\\n");
  Expect({"split", "a#\xff", "--format", "json"}, "{\"key\":\"a\"}\n{\"key_base64\":\"/w==\"}\n");
  const std::string kinds =
      Output({"key", "inspect", "42#1425330757685#9223370611524018122#a.com#79799498#deadbeef01#"});
  for (const char* const kind : {"digits, 2", "time in ms, 2015-03-02T21:12:37.685000Z",
                                 "reversed time in ms, 2015-03-02T21:12:37.685000Z", "host name",
                                 "reversed date, 20200501", "hex, 10 digits", "empty"})
    EXPECT_NE(kinds.find(kind), std::string::npos) << kind << "\n" << kinds;
}

}  // namespace
}  // namespace stele
