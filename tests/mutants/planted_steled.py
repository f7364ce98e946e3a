"""Planted bugs of tools/steled/, of the translation in src/wire/ and of src/remote/. run.py imports this for what it adds to the list."""
from planted import plant

PARTS = ["steled_test --gtest_filter=MutateRows.*:CommandLine.*:RowChunker.*"]
TRANSLATION = ["unit_wire"]

plant(
    "steled", PARTS, "tools/steled/read_rows.cc",
    ("a qualifier is told only with its family", "const bool new_qualifier = new_family || cell.qualifier() != qualifier_;",
     "const bool new_qualifier = new_family;"),
)
plant(
    "wire", TRANSLATION, "src/wire/filter_translation.cc",
    ("a switch that is off passes for one that is on", "if (!on) return InvalidArgument", "if (on && !on) return InvalidArgument"),
)
plant(
    "wire", TRANSLATION, "src/wire/mutation_translation.cc",
    ("a client's clock is cut in tables of microseconds, too", "is_clients_clock_ && traits_.granularity == TimestampGranularity::kMillis",
     "is_clients_clock_"),
)
plant(
    "wire", TRANSLATION, "src/wire/row_set_translation.cc",
    ("an open end is taken for a closed one", "end_closed ? RowRange::LeftOpen(start, end) : RowRange::Open(start, end)",
     "RowRange::LeftOpen(start, end)"),
)
plant(
    "steled", PARTS, "tools/steled/flags.cc",
    ("a name that begins as a loopback address is taken for one", "std::all_of(host.begin(), host.end(), allowed);", "allowed(host.front());"),
)
plant(
    "remote", ["unit_remote"], "src/remote/row_source.cc",
    ("a reversed read is taken up on the wrong side", 'reversed ? KeyRange{"", last, false} : KeyRange', 'KeyRange'),
    ("rows that came do not count against the limit", "if (rows_left_ > 0 && --rows_left_ == 0) {", "if (rows_left_ < 0) {"),
    ("what a request left out is never asked for", "ranges_ = std::move(later_);", "ranges_.clear();"),
)
plant(
    "remote", ["unit_remote"], "src/remote/read_stream.cc",
    ("a silent server is waited for", "std::chrono::system_clock::now() + silence_max_;", "std::chrono::system_clock::now() + std::chrono::hours(24);"),
)
plant(
    "wire", TRANSLATION, "src/wire/plain_entries.cc",
    ("all entries are kept, however many", "return items.size() <= PlainEntries::kCountMax;", "return items.size() < SIZE_MAX;"),
    ("a row of too many cells is cut", "HasRoom(plain->cells) && ReadMutation(", "(!HasRoom(plain->cells)) || ReadMutation("),
    ("a row's token is passed over", "    } else if (tag == BytesField(6)) {",
     "    } else if (tag == BytesField(8)) {\n      is_read = fields.Read(&mutation);\n    } else if (tag == BytesField(6)) {"),
    ("a row's profile is taken for its view", "(tag == BytesField(4)) {\n      is_read = fields.ReadTextOnce(&plain->app_profile_id);",
     "(tag == BytesField(4)) {\n      is_read = fields.ReadTextOnce(&plain->authorized_view_name);"),
    ("a row has its first cell alone", "  entry.cell_end = plain->cells.size();\n  return true;\n}\n\n}  // namespace stele::internal",
     "  entry.cell_end = plain->cells.empty() ? 0 : 1;\n  return true;\n}\n\n}  // namespace stele::internal"),
    ("names that protobuf refuses are taken", "return ReadOnce(text) && IsAscii(*text);", "return ReadOnce(text);"),
    ("of two cells in one mutation the first counts", "fields.Read(&set_cell) && !fields.Next(&tag) && ", "fields.Read(&set_cell) && "),
    ("a timestamp has no sign", "*number = static_cast<int64_t>(raw);", "*number = static_cast<int64_t>(raw & INT64_MAX);"),
)
plant(
    "wire", TRANSLATION, "src/wire/chunk_bytes.cc",
    ("a number is a byte longer than it is", "std::bit_width(number | 1)) + 6) / 7", "std::bit_width(number | 1)) + 7) / 7"),
    ("a number ends at its first byte", "static_cast<char>(number | 0x80);", "static_cast<char>(number);"),
    ("a label is written as a value", "writer.Bytes(BytesTag(5), label);", "writer.Bytes(BytesTag(6), label);"),
    ("a row that ends is taken back", "writer.Head(VarintTag(9), 1);", "writer.Head(VarintTag(8), 1);"),
    ("an empty family is none", "  void Optional(char tag, const std::optional<std::string_view>& text) {\n    if (!text.has_value()) return;",
     "  void Optional(char tag, const std::optional<std::string_view>& text) {\n    if (!text.has_value() || text->empty()) return;"),
    ("a chunk is written over the one before", "FieldWriter writer(response->data() + begin);", "FieldWriter writer(response->data());"),
)
plant(
    "remote", ["unit_remote"], "src/remote/chunk_merger.cc",
    ("a row that was cut off is read again though pieces of it were shown", "has_shown_piece_ = !is_last_piece;", "has_shown_piece_ = false;"),
    ("a row's half is kept when the next stream begins", "  DropRow();\n  return absl::OkStatus();\n}\n\nabsl::Status ChunkMerger::EndStream",
     "  return absl::OkStatus();\n}\n\nabsl::Status ChunkMerger::EndStream"),
)
plant(
    "remote", ["unit_remote"], "src/remote/bulk_writer.cc",
    ("what adds is sent twice", "IsTransient(answer) && IsRepeatable(entry)", "IsTransient(answer)"),
    ("a token is trusted for ever", "(entry.has_token && connection_.waiter().Now() < entry.begin + kTokenRepeat)", "entry.has_token"),
    ("a row is twice in a request", "if (!row_keys.insert(mutation.row_key()).second) break;", "row_keys.insert(mutation.row_key());"),
)
plant(
    "remote", ["unit_remote"], "src/remote/backoff.cc",
    ("pauses stay short", "pause_ = std::min(2 * pause_, kPauseMax);", ""),
)

BACKUPS = ["steled_test --gtest_filter=Backup.*"]

plant(
    "steled", BACKUPS, "tools/steled/backup_directory.cc",
    ("a backup keeps the other tables", "if (name != stored_table) STELED_RETURN_IF_ERROR(copy.DeleteTable(name));", "(void)name;"),
    ("what a crash cut off stays", "if (folder.starts_with(kHiddenPrefix)) {", "if (folder.starts_with('~')) {"),
    ("what begins with a dot is removed", "if (folder.starts_with(kHiddenPrefix)) {", "if (folder.starts_with('.')) {"),
    ("two servers share a backup directory", "LOCK_EX | LOCK_NB", "LOCK_SH | LOCK_NB"),
)
plant(
    "steled", BACKUPS, "tools/steled/backups.cc",
    ("an end five hours ahead will do", "constexpr hours kLifeMin(6);", "constexpr hours kLifeMin(5);"),
    ("a copy is copied", "if (!source->backup().source_backup().empty()) {", "if (source->backup().name().empty()) {"),
    ("a restored table is protected as its source was", "property != kBackupProperty && property != kDeletionProtection", "property != kBackupProperty"),
    ("an expired backup is listed", "if (name.starts_with(prefix) && !IsExpired(entry.backup) &&", "if (name.starts_with(prefix) &&"),
)
plant(
    "steled", BACKUPS, "tools/steled/table_copy.cc",
    ("what a rule condemns is left out", ".apply_gc = false, .fill_cache", ".apply_gc = true, .fill_cache"),
    ("a row's later parts are loaded, too", "if (changes->is_folded || is_loaded_) return", "if (changes->is_folded) return"),
)
plant(
    "steled", BACKUPS, "tools/steled/open_tables.cc",
    ("a hidden table is found", "if (hidden_.contains(stored_name) || IsClosedLocked(stored_name)) return", "if (IsClosedLocked(stored_name)) return"),
)

INSTANCES = ["steled_test --gtest_filter=InstanceTest.*:InstanceRecords.*:CallTest.*:DataTest.Distinct*"]

plant(
    "steled", INSTANCES, "tools/steled/instances.cc",
    ("an instance goes with its protected tables", "    STELED_RETURN_IF_ERROR(CheckDeletable(name, stored_prefix));\n", ""),
    ("the last cluster goes", "if (present.size() == 1) return", "if (present.empty()) return"),
    ("the cluster that nobody made is lost with the first that is made",
     "    changes.emplace_back(ClusterKey(other.name()), other.SerializeAsString());\n  }\n  STELED_RETURN_IF_ERROR(records_.Apply(changes));\n  return cluster;",
     "  }\n  STELED_RETURN_IF_ERROR(records_.Apply(changes));\n  return cluster;"),
)
plant(
    "steled", INSTANCES, "tools/steled/app_profiles.cc",
    ("an old etag is taken", "request.app_profile().etag() != etag)", "request.app_profile().etag() == \"never\")"),
)
plant(
    "steled", INSTANCES, "tools/steled/iam_policies.cc",
    ("a policy outlives its table", "if (policy.has_value()) changes.emplace_back(RecordKey(resource), std::nullopt);", "(void)policy;"),
)
plant(
    "steled", INSTANCES, "tools/steled/open_tables.cc",
    ("a family that was made later is not known", "if (found != by_wire_name_.end()) by_wire_name_.erase(found);", "(void)found;"),
)
plant(
    "steled", INSTANCES, "tools/steled/metrics.cc",
    ("every call is counted as OK", "    CallsOf(code).Increment();\n    seconds_", "    CallsOf(absl::StatusCode::kOk).Increment();\n    seconds_"),
    ("a call never ends", "    running_.Decrement();\n", ""),
)

CALLS = ["steled_test --gtest_filter=MethodTable*:Routes.*:ReadableText.*:Reflection.*:Metrics*:Health.*:CallTest.*"]

plant(
    "steled", CALLS, "tools/steled/method_table.cc",
    ("a status goes with the bytes of any row key", "return Readable(method(call));", "return method(call);"),
    ("what cannot be parsed is served", "if (request->ParseFromString(message)) return absl::OkStatus();",
     "if (request->ParsePartialFromString(message) || true) return absl::OkStatus();"),
)
plant(
    "steled", CALLS, "tools/steled/reflection_service.cc",
    ("a file that the stream has seen comes again", "if (!is_new && i > 0) continue;", "(void)is_new;"),
)
plant(
    "steled", CALLS, "tools/steled/health_service.cc",
    ("the seventeenth client watches, too", "if (watcher_count_ == kWatchersMax) {", "if (watcher_count_ > kWatchersMax) {"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/http2_connection.cc",
    ("a stream that nobody reads is sent to without end", "const auto is_free = [stream] { return stream->CanSend(); };", "const auto is_free = [stream] { return stream != nullptr; };"),
    ("answers that nobody reads are not charged", "if (bytes < kChargedBytes) return true;", "if (bytes > 0) return true;"),
    ("a paused call is not told that there is room", "    room_.notify_all();\n    ResumeIfDue(stream);\n", "    room_.notify_all();\n"),
    ("a paused call is not told that nobody listens", "  ResumeIfDue(&stream);\n  streams_.erase(found);", "  streams_.erase(found);"),
    ("who the server cuts off hears that he gave up himself", "if (stream.is_ending) return", "if (stream.is_ending && status.ok()) return"),
    ("an answer that was cut passes for whole", "if (!absl::IsCancelled(status) && !(status.ok() && stream.has_lost_message)) return status;", "if (!absl::IsCancelled(status)) return status;"),
    ("a deadline is counted as the client's change of mind", "if (stream.deadline.has_value() && std::chrono::steady_clock::now() >= *stream.deadline) {", "if (false) {"),
    ("what a request reserved stays", "  host_.ReleaseRequestBytes(std::exchange(stream->request_bytes, 0));\n  stream->is_done = true;", "  stream->is_done = true;"),
    ("a call that is given up is not told", "if (stream.has_begun && !stream.is_done) stopped_.push_back(stream.stop);", ""),
    ("the rest of a refused request is waited for", "if (stream != nullptr && !stream->request_ended) nghttp2_submit_rst_stream", "if (stream == nullptr) nghttp2_submit_rst_stream"),
    ("a byte now and then keeps a request", "if (!is_first && stream->paced_bytes < kPaceBytes) return;", ""),
    ("a stream without a request is not charged", "  stream->request_bytes = kept_bytes;\n", "  host_.ReleaseRequestBytes(kept_bytes);\n"),
    ("what was refused keeps what it reserved", "    host_.ReleaseRequestBytes(std::exchange(stream->request_bytes, 0));\n    stream->request.Drop();", "    stream->request.Drop();"),
    ("a request that ends inside of a message is taken", "if (stream->request.IsInside())", "if (false)"),
    ("headers have no bound", "if (stream->header_bytes > Http2Connection::kHeaderBytesMax)", "if (false)"),
    ("a connection's end is not read with its bytes", "(is_ending || !read.is_all)", "!read.is_all"),
    ("a message is sent over and over", "    stream->unsent_offset = 0;\n", ""),
    ("answers that nobody reads have no most", "kOutboundFramesMax = 10'000;", "kOutboundFramesMax = 1'000'000'000;"),
    ("a connection is closed over the end of its answer", "if (is_open && !IsWanted()) Linger();", "is_open = is_open && IsWanted();"),
    ("who reads is cut off like who does not", "      nghttp2_option_set_max_outbound_ack(option, kOutboundFramesMax);\n", ""),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/http2_patience.cc",
    ("a stream that nobody reads is kept", "stream->unsent_mark < patience.since && ", "false && "),
    ("a silent client is not asked", "    is_asked_ = true;\n", ""),
    ("a request that stopped in its middle is waited for", "const bool is_paced = !has_bytes || stream->waits_since >= since;", "const bool is_paced = true;"),
    ("a call that runs is taken for one that stopped", "if (stream->has_begun || stream->status.has_value()) continue;", "if (stream->status.has_value()) continue;"),
    ("a request may take any time", "if (is_paced && stream->begun_at >= begun_since) continue;", "if (is_paced) continue;"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/http2_end.cc",
    ("the end does not wait for what is on its way", "while (!is_closed_ && socket_->UndeliveredBytes() > 0 &&", "while (false &&"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/transport.cc",
    ("calls beyond the most are not counted", "        host_.OnRefused(call.path(), admitted.code());\n", ""),
    ("a call is begun that nobody waits for", "    STELED_RETURN_IF_ERROR(CheckAwaited(*this));\n", ""),
    ("calls have no most", "if (PlacesTaken(call) >= most) {", "if (false) {"),
    ("a connection may have all places", "if (IsLimited(call) && *call.connection()->call_count() >= (most + 1) / 2) {", "if (false) {"),
    ("a paused call keeps its place", "      LeavePlace(*call);  // before", "      if (!call->IsPaused()) LeavePlace(*call);  // before"),
    ("the deadline of a paused call is not looked at", "*deadline <= now) late", "*deadline <= now - std::chrono::hours(1)) late"),
    ("connections have no most", "if (connections_.size() >= options_.connections_max) continue;", ""),
    ("of calls that came together one is run", "        Defer(std::move(call));", "        call.Finish(absl::OkStatus());"),
    ("a call that waits wakes nobody", "      waiting_.push_back(std::move(call));\n    }\n    poller_.Wake();", "      waiting_.push_back(std::move(call));\n    }"),
    ("the end waits for no call", "if (!call_ended_.wait_until(lock, end, is_idle)) {", "if (true) {"),
    ("calls begin while the server ends", "if (is_draining_) return MakeStatus", "if (false) return MakeStatus"),
    ("a lost connection stays", "    if (ready == Http2Connection::Ready::kOver) Remove(id);", ""),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/call_threads.cc",
    ("the last that waits for events ends", "(count_ <= kIdleMax || waiting_.load() == 0)", "count_ <= kIdleMax"),
    ("while calls run nobody waits for events", "  if (waiting_.load() > 0 || free_count_.load() == 0) return;", "  if (!is_short) return;"),
    ("a call that goes on keeps its seat", "    FreeSeat(&seats_[i]);\n", ""),
    ("the watch sleeps while calls begin", "      call_began_.notify_all();\n", ""),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/grpc_protocol.cc",
    ("a percent sign is not encoded", "c <= '~' && c != '%'", "c <= '~'"),
    ("a message may have any length", "if (length_ > message_bytes_max_)", "if (false)"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/listening_socket.cc",
    ("a client for whom there is no descriptor waits", "const int turned_away = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);", "const int turned_away = -1;"),
)
plant(
    "steled", ["steled_test --gtest_filter=RowSender*:TakesScanned*"], "tools/steled/row_sender.cc",
    ("rows go after what was scanned behind them", "if (chunker_.has_rows()) {", "if (false) {"),
    ("how far it came is told within a row", " && !chunker_.in_row()) {", ") {"),
    ("a row that was found waits", "  if (taken && !was_sent_ && IsDue(now)) taken = chunker_.Flush();\n", ""),
)
