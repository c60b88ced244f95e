// A store with as many rows as a benchmark wants, made through the same code as a first copy.
#ifndef TIDEMARK_BENCH_STORE_MAKER_H_
#define TIDEMARK_BENCH_STORE_MAKER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace tidemark::bench {

// The `tables:` part of a tidemark.yaml whose one table "rows" the store holds: key `id` (int),
// rows of about 200 bytes. Fed by relation public.rows of source "bench".
extern const char kTablesYaml[];

// Creates `dir` with rows 0 .. rows-1.
absl::Status MakeStore(const std::string& dir, uint64_t rows);

}  // namespace tidemark::bench

#endif  // TIDEMARK_BENCH_STORE_MAKER_H_
