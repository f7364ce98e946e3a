// The server as a process: it ends in order.
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

using Rows = std::vector<std::string>;

TEST(Process, AnEndInOrderKeepsTheDatabaseForTheNext) {
  const ScratchDirectory directory;
  {
    ServerProcess server(directory.path() + "/db");
    Client client(server.address());
    ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
    ASSERT_TRUE(client.Set("t", "r", "f:a", 1000, "v").ok());
    EXPECT_EQ(server.Terminate(), 0);
  }
  ServerProcess server(directory.path() + "/db");
  EXPECT_EQ(Client(server.address()).Read("t"), Rows({"r f:a@1000=v"}));
  EXPECT_EQ(server.Terminate(), 0);
}

}  // namespace
}  // namespace stele::server
