// What a benchmark says: one measured ratio beside its bar.
#ifndef TIDEMARK_BENCH_REPORT_H_
#define TIDEMARK_BENCH_REPORT_H_

#include <string>
#include <vector>

namespace tidemark::bench {

// `ratio` is ours against the peer's in the same run (or the figure itself when `peer` is empty).
struct Result {
  std::string id;    // "P1 cpu"
  std::string what;  // in words
  std::string unit;  // of ours and peer
  double peer = 0;
  double ours = 0;
  double ratio = 0;
  double bar = 0;
  bool lower_is_better = true;
  std::string note;  // what a reader must know to judge the figure
  bool met() const { return lower_is_better ? ratio <= bar : ratio >= bar; }
};

// The middle value; of an even number the lower of the two middle ones. `values` is not empty.
double Median(std::vector<double> values);

// A table for people.
std::string ToTable(const std::vector<Result>& results);
// One JSON object: {"results": [...]}.
std::string ToJson(const std::vector<Result>& results);

}  // namespace tidemark::bench

#endif  // TIDEMARK_BENCH_REPORT_H_
