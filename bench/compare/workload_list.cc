#include "workload_list.h"

#include <array>

namespace stele_compare {
namespace {

constexpr std::string_view kCells = "cells/s";
constexpr std::string_view kRows = "rows/s";

// YCSB's core workloads.
constexpr Workload Ycsb(std::string_view name, const Mixture& mixture, int thread_count = 1) {
  return {.name = name,
          .unit = "ops/s",
          .data_set = DataSet::kYcsb,
          .kind = WorkloadKind::kMixed,
          .warmth = Warmth::kCached,
          .thread_count = thread_count,
          .mixture = mixture};
}
constexpr Mixture kYcsbA = {.read_percent = 50, .update_percent = 50};
constexpr Mixture kYcsbB = {.read_percent = 95, .update_percent = 5};
constexpr Mixture kYcsbC = {.read_percent = 100};
constexpr Mixture kYcsbD = {.read_percent = 95, .insert_percent = 5, .prefers_newest = true};
constexpr Mixture kYcsbE = {.scan_percent = 95, .insert_percent = 5};
constexpr Mixture kYcsbF = {.read_percent = 50, .read_modify_write_percent = 50};

constexpr auto kWorkloads = std::to_array<Workload>({
    {.name = "bulk", .unit = kCells, .data_set = DataSet::kSorted, .kind = WorkloadKind::kBulk},
    {.name = "scan_bulk", .unit = kCells, .data_set = DataSet::kSorted},
    {.name = "scan_bulk_cached",
     .unit = kCells,
     .data_set = DataSet::kSorted,
     .warmth = Warmth::kCached},
    {.name = "rand_write",
     .unit = kRows,
     .data_set = DataSet::kRandom,
     .kind = WorkloadKind::kWrite},
    {.name = "scan", .unit = kCells, .data_set = DataSet::kRandom},
    {.name = "rscan", .unit = kCells, .data_set = DataSet::kRandom, .is_reverse = true},
    {.name = "scan_cached",
     .unit = kCells,
     .data_set = DataSet::kRandom,
     .warmth = Warmth::kCached},
    {.name = "rscan_cached",
     .unit = kCells,
     .data_set = DataSet::kRandom,
     .warmth = Warmth::kCached,
     .is_reverse = true},
    {.name = "scan100",
     .unit = kCells,
     .data_set = DataSet::kRandom,
     .kind = WorkloadKind::kScanShort,
     .warmth = Warmth::kCached},
    {.name = "get_warm",
     .unit = kRows,
     .data_set = DataSet::kRandom,
     .kind = WorkloadKind::kGet,
     .warmth = Warmth::kCached},
    {.name = "get_pagecache",
     .unit = kRows,
     .data_set = DataSet::kRandom,
     .kind = WorkloadKind::kGet},
    {.name = "get_miss",
     .unit = kRows,
     .data_set = DataSet::kRandom,
     .kind = WorkloadKind::kGetMiss,
     .warmth = Warmth::kCached},
    {.name = "get_cold",
     .unit = kRows,
     .data_set = DataSet::kRandom,
     .kind = WorkloadKind::kGet,
     .warmth = Warmth::kCold},
    {.name = "scan_cold", .unit = kCells, .data_set = DataSet::kRandom, .warmth = Warmth::kCold},
    {.name = "bulk_wide", .unit = kCells, .data_set = DataSet::kWide, .kind = WorkloadKind::kBulk},
    {.name = "proj_1of25", .unit = kCells, .data_set = DataSet::kWide, .one_column = true},
    {.name = "proj_1of25_cached",
     .unit = kCells,
     .data_set = DataSet::kWide,
     .warmth = Warmth::kCached,
     .one_column = true},
    {.name = "bulk_100v",
     .unit = kCells,
     .data_set = DataSet::kVersions,
     .kind = WorkloadKind::kBulk},
    {.name = "latest_scan", .unit = kCells, .data_set = DataSet::kVersions, .latest_only = true},
    {.name = "latest_scan_cached",
     .unit = kCells,
     .data_set = DataSet::kVersions,
     .warmth = Warmth::kCached,
     .latest_only = true},
    {.name = "gc_overwrite",
     .unit = kRows,
     .data_set = DataSet::kOverwrite,
     .kind = WorkloadKind::kOverwrite},
    {.name = "gc_latest_scan",
     .unit = kCells,
     .data_set = DataSet::kOverwrite,
     .latest_only = true},
    {.name = "sync1", .unit = kRows, .data_set = DataSet::kSynced, .kind = WorkloadKind::kSync},
    {.name = "sync8",
     .unit = kRows,
     .data_set = DataSet::kSynced,
     .kind = WorkloadKind::kSync,
     .thread_count = 8},
    {.name = "ycsb-load", .unit = kRows, .data_set = DataSet::kYcsb, .kind = WorkloadKind::kWrite},
    Ycsb("ycsb-a", kYcsbA),
    Ycsb("ycsb-b", kYcsbB),
    Ycsb("ycsb-c", kYcsbC),
    Ycsb("ycsb-f", kYcsbF),
    Ycsb("ycsb-d", kYcsbD),
    Ycsb("ycsb-e", kYcsbE),
    // Engines differ in what these leave, so they come last.
    Ycsb("ycsb-a-4", kYcsbA, 4),
    Ycsb("ycsb-b-4", kYcsbB, 4),
    Ycsb("ycsb-c-4", kYcsbC, 4),
    Ycsb("ycsb-f-4", kYcsbF, 4),
    Ycsb("ycsb-d-4", kYcsbD, 4),
    Ycsb("ycsb-e-4", kYcsbE, 4),
});

}  // namespace

std::span<const Workload> Workloads() { return kWorkloads; }

}  // namespace stele_compare
