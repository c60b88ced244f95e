// Table definitions: whatever the text, an answer within bounds; what is accepted has a canonical
// text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/check.h"
#include "common/error.h"
#include "storage/tables/table_definition.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tables = tidemark::tables::ParseTableDefinitions(text, {"erp", "shop"});
  if (!tables.ok()) {
    TIDEMARK_CHECK(tidemark::ReasonOf(tables.status()) == tidemark::Reason::kFieldInvalid);
    return 0;
  }
  for (const auto& table : *tables) {
    TIDEMARK_CHECK(!table.key.empty() && !table.groups.empty());
    TIDEMARK_CHECK(!table.groups[table.anchor()].is_aggregate());
    TIDEMARK_CHECK(table.Canonical().compare(0, 6, "table ") == 0);
  }
  return 0;
}
