// steled/logged_server.h: a server process whose log a test reads.
//
// Threads:   confined.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "steled/server_fixture.h"

namespace stele::server {

class LoggedServer {
 public:
  LoggedServer(const std::string& database, std::vector<std::string> flags);
  ~LoggedServer();
  LoggedServer(const LoggedServer&) = delete;
  LoggedServer& operator=(const LoggedServer&) = delete;

  ServerProcess& process() { return *process_; }
  // Waits for the next line. "" if the log has ended, or if none comes within five minutes.
  std::string NextLine();
  // Waits for a line that contains `text`, and drops those before it. "" if the log ends first.
  std::string NextLineWith(const std::string& text);
  // Ends the server and returns its exit status. The log can still be read.
  int Terminate() { return process_->Terminate(); }

 private:
  std::unique_ptr<ServerProcess> process_;
  int log_ = -1;  // the end of a pipe
};

}  // namespace stele::server
