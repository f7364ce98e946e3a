// steled/systemd_notify.h: notifies systemd of the server's state if systemd started it
// (Type=notify).
//
// Errors:    none: without systemd it does nothing.
// Threads:   thread-safe.
// Source:    sd_notify(3).
#pragma once

#include <string>

namespace stele::server {

// `status` is one line for `systemctl status`.
void NotifyReady(const std::string& status);
void NotifyReloading();
void NotifyStopping();

}  // namespace stele::server
