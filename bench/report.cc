#include "bench/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tidemark::bench {

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

std::string ToTable(const std::vector<Result>& results) {
  std::string table = absl::StrFormat("%-16s %-52s %12s %12s %8s %8s  %s\n", "figure", "what",
                                      "peer", "ours", "ratio", "bar", "");
  for (const Result& r : results) {
    absl::StrAppendFormat(&table, "%-16s %-52s %12.2f %12.2f %8.2f %s%7.2f  %s %s\n", r.id, r.what,
                          r.peer, r.ours, r.ratio, r.lower_is_better ? "<" : ">", r.bar,
                          r.met() ? "met" : "NOT MET", r.note);
  }
  return table;
}

std::string ToJson(const std::vector<Result>& results) {
  std::string json = "{\"results\":[";
  for (const Result& r : results) {
    // Every text here is a literal of this program: nothing to escape.
    absl::StrAppendFormat(&json,
                          "%s\n {\"id\":\"%s\",\"what\":\"%s\",\"unit\":\"%s\",\"peer\":%.4f,"
                          "\"ours\":%.4f,\"ratio\":%.4f,\"bar\":%.4f,\"met\":%s,\"note\":\"%s\"}",
                          &r == &results.front() ? "" : ",", r.id, r.what, r.unit, r.peer, r.ours,
                          r.ratio, r.bar, r.met() ? "true" : "false", r.note);
  }
  return json + "]}\n";
}

}  // namespace tidemark::bench
