// CRC-32C (Castagnoli), the checksum inside tokens and files of ours.
#ifndef TIDEMARK_STORAGE_STATE_CRC32C_H_
#define TIDEMARK_STORAGE_STATE_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace tidemark::state {

// Checksum of `bytes`; finds accidents, proves nothing against an attacker.
uint32_t Crc32c(std::string_view bytes);

}  // namespace tidemark::state

#endif  // TIDEMARK_STORAGE_STATE_CRC32C_H_
