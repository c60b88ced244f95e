// P10: events through applier, merger and store, against raw LevelDB writing exactly the batches
// that made, without any of the reads and the work between.
#ifndef TIDEMARK_BENCH_INGEST_BENCH_H_
#define TIDEMARK_BENCH_INGEST_BENCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.h"

namespace tidemark::bench {

struct IngestBenchOptions {
  std::string work_dir;      // both databases go into a folder of it that is emptied and removed
  uint64_t keys = 1000000;   // rows that exist before the updates
  uint64_t events = 400000;  // updates of a round, each a transaction of its own
  int rounds = 3;
  double bar = 0.3;
};

// Updates go to uniformly random rows of one last_row table, in this process. Rounds of ours and of
// the peer take turns, and the peer starts from a copy of our directory, so both databases have the
// same shape. Two rates of each: until the last event is durable, and until LevelDB has also caught
// up with the compactions that the round made (sustained): the peer leaves nearly all of those for
// later and we do not, as we are slower. All that twice: as a server that copied the rows and goes
// on (P10), and as one that was just started and finds none of them cached (P10 restarted).
std::vector<Result> RunIngest(const IngestBenchOptions& options);

}  // namespace tidemark::bench

#endif  // TIDEMARK_BENCH_INGEST_BENCH_H_
