// Tests which name a misspelt one is taken for.
#include "lab/values/near_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stele::internal::lab {
namespace {

TEST(NearNameTest, FindsTheNameThatDiffersLeast) {
  const std::vector<std::string> names = {"user", "time", "customer", "PK", "SK", "timestamp"};
  EXPECT_EQ(NearName("usr", names), "user") << "inserted";
  EXPECT_EQ(NearName("userr", names), "user") << "deleted";
  EXPECT_EQ(NearName("usur", names), "user") << "replaced";
  EXPECT_EQ(NearName("tiem", names), "time") << "swapped";
  EXPECT_EQ(NearName("User", names), "user") << "case";
  EXPECT_EQ(NearName("pk", names), "PK") << "case";
  EXPECT_EQ(NearName("cusotmre", names), "customer") << "swapped twice";
  EXPECT_EQ(NearName("times", {"timed", "time", "times2"}), "timed") << "the first of the nearest";
}

TEST(NearNameTest, ANameThatIsThereOrFarHasNone) {
  const std::vector<std::string> names = {"user", "users", "PK", "SK", "customer"};
  EXPECT_EQ(NearName("users", names), "");
  EXPECT_EQ(NearName("AK", names), "") << "short names must be the same";
  EXPECT_EQ(NearName("usxx", names), "") << "two characters of four";
  EXPECT_EQ(NearName("cstmr", names), "") << "three characters";
  EXPECT_EQ(NearName("", names), "");
  EXPECT_EQ(NearName("user", {}), "");
  EXPECT_EQ(NearName(std::string(65, 'a'), {std::string(64, 'a')}), "") << "not compared";
  EXPECT_EQ(NearName(std::string(63, 'a'), {std::string(64, 'a')}), std::string(64, 'a'));
}

}  // namespace
}  // namespace stele::internal::lab
