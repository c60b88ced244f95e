// Every compile-time bound, in one place. Runtime bounds are options (server/options.h).
#ifndef TIDEMARK_COMMON_LIMITS_H_
#define TIDEMARK_COMMON_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace tidemark::limits {

// Messages. A default gRPC client refuses to receive more than 4 MiB.
inline constexpr size_t kMaxMessageBytes = 4 << 20;
// A page or a batch answer stops here, so that row, stamp and framing fit in a message.
inline constexpr size_t kMaxPageBytes = 3 << 20;
inline constexpr size_t kMaxKeyBytes = 4096;  // encoded key of a row
// The largest row that can be stored: a change with the row before and after it must fit in a
// message, with its key and stamp.
inline constexpr size_t kMaxRowBytes = (2 << 20) - 4 * kMaxKeyBytes;
inline constexpr size_t kMaxKeyColumns = 16;
inline constexpr size_t kMaxTokenBytes = 128;
inline constexpr size_t kMaxPageTokenBytes = 8192;
inline constexpr size_t kMaxNameBytes = 128;  // tables, columns, groups, sources
inline constexpr size_t kMaxColumns = 1000;   // of one table
inline constexpr size_t kMaxTables = 1000;
inline constexpr size_t kMaxBatchRefs = 1000;  // BatchGetRows
inline constexpr uint32_t kDefaultPageSize = 100;
inline constexpr uint32_t kMaxPageSize = 10000;
inline constexpr size_t kMaxErrorDetailBytes = 4096;
inline constexpr size_t kMaxErrorListNames = 5;
inline constexpr size_t kMaxValueDepth = 32;        // nested lists
inline constexpr size_t kMaxConfigBytes = 4 << 20;  // of one YAML file

static_assert(kMaxRowBytes < kMaxPageBytes && kMaxPageBytes < kMaxMessageBytes);
static_assert(2 * kMaxRowBytes + 4 * kMaxKeyBytes <= kMaxMessageBytes);

}  // namespace tidemark::limits

#endif  // TIDEMARK_COMMON_LIMITS_H_
