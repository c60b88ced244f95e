#include "storage/state/engine/layout/records.h"

#include <algorithm>

#include "storage/state/coding.h"
#include "storage/state/engine/layout/format.h"

namespace tidemark::state::engine {
namespace {

void AppendIncarnation(std::string* out, const Incarnation& incarnation) {
  out->append(reinterpret_cast<const char*>(incarnation.data()), incarnation.size());
}

bool ReadIncarnation(ByteReader* in, Incarnation* incarnation) {
  std::string_view bytes;
  if (!in->ReadFixed(incarnation->size(), &bytes)) return false;
  std::copy(bytes.begin(), bytes.end(), incarnation->begin());
  return true;
}

// An enum whose values are 1 to `last`.
template <typename Enum>
bool ReadEnum(ByteReader* in, Enum last, Enum* value) {
  uint8_t byte = 0;
  if (!in->ReadByte(&byte) || byte < 1 || byte > static_cast<uint8_t>(last)) return false;
  *value = static_cast<Enum>(byte);
  return true;
}

}  // namespace

std::string FormatValue(uint64_t version) {
  std::string value;
  AppendVarint(&value, version);
  return value;
}

bool ParseFormat(std::string_view bytes, uint64_t* version) {
  ByteReader in(bytes);
  return in.ReadVarint(version) && in.done();
}

std::string IdentityValue(const Identity& identity) {
  std::string value;
  AppendIncarnation(&value, identity.incarnation);
  AppendVarint(&value, identity.ancestors.size());
  for (const Identity::Ancestor& ancestor : identity.ancestors) {
    AppendIncarnation(&value, ancestor.incarnation);
    AppendVarint(&value, ancestor.fork);
  }
  return value;
}

bool ParseIdentity(std::string_view bytes, Identity* identity) {
  ByteReader in(bytes);
  uint64_t ancestors = 0;
  if (!ReadIncarnation(&in, &identity->incarnation) || !in.ReadVarint(&ancestors)) return false;
  for (uint64_t i = 0; i < ancestors; ++i) {
    Identity::Ancestor ancestor;
    if (!ReadIncarnation(&in, &ancestor.incarnation) || !in.ReadVarint(&ancestor.fork)) {
      return false;
    }
    identity->ancestors.push_back(ancestor);
  }
  return in.done();
}

std::string StateValue(const StoreState& state) {
  std::string value;
  for (const uint64_t number :
       {state.published, state.floor, state.open, uint64_t{state.next_table}, state.undo_cleaned,
        state.undo_begin, state.undo_end, state.next_chunk}) {
    AppendVarint(&value, number);
  }
  return value;
}

bool ParseState(std::string_view bytes, StoreState* state) {
  ByteReader in(bytes);
  in.ReadVarint(&state->published);
  in.ReadVarint(&state->floor);
  in.ReadVarint(&state->open);
  in.ReadVarint32(&state->next_table);
  in.ReadVarint(&state->undo_cleaned);
  in.ReadVarint(&state->undo_begin);
  in.ReadVarint(&state->undo_end);
  in.ReadVarint(&state->next_chunk);
  return in.done() && state->published >= kFirstSnapshot && state->floor >= kFirstSnapshot &&
         state->floor <= state->published && state->next_table >= 1 &&
         state->undo_cleaned <= state->undo_begin && state->undo_begin <= state->undo_end &&
         state->undo_end <= state->next_chunk;
}

std::string TableValue(const TableState& table) {
  std::string value;
  AppendBytes(&value, table.record.definition);
  AppendVarint(&value, table.next_number);
  AppendVarint(&value, table.storages.size());
  for (const StorageSpan& span : table.storages) {
    AppendVarint(&value, span.number);
    AppendVarint(&value, span.from);
    AppendBytes(&value, span.truncation_sequence);
  }
  AppendVarint(&value, table.dropped.size());
  for (const uint32_t number : table.dropped) AppendVarint(&value, number);
  return value;
}

bool ParseTable(std::string_view db_key, std::string_view bytes, TableState* table) {
  ByteReader key(db_key);
  uint8_t prefix = 0;
  uint64_t id = 0;
  if (!key.ReadByte(&prefix) || !key.ReadOrdered(&id) || !key.done() || id > UINT32_MAX) {
    return false;
  }
  ByteReader in(bytes);
  uint64_t storages = 0, dropped = 0;
  table->record.id = static_cast<TableId>(id);
  in.ReadString(&table->record.definition);
  in.ReadVarint32(&table->next_number);
  if (!in.ReadVarint(&storages)) return false;
  for (uint64_t i = 0; i < storages; ++i) {
    StorageSpan span;
    in.ReadVarint32(&span.number);
    in.ReadVarint(&span.from);
    if (!in.ReadString(&span.truncation_sequence)) return false;
    table->storages.push_back(std::move(span));
  }
  if (!in.ReadVarint(&dropped)) return false;
  for (uint64_t i = 0; i < dropped; ++i) {
    uint32_t number = 0;
    if (!in.ReadVarint32(&number)) return false;
    table->dropped.push_back(number);
  }
  if (!in.done() || table->storages.empty()) return false;
  table->record.loading = table->current().from == kNoSnapshot;
  table->record.truncation_sequence = table->current().truncation_sequence;
  return true;
}

std::string PinHeadValue(const PinHead& head) {
  std::string value(1, static_cast<char>(head.state));
  AppendVarint(&value, head.kept_versions);
  AppendBytes(&value, head.snapshot_info);
  return value;
}

bool ParsePinHead(std::string_view bytes, PinHead* head) {
  ByteReader in(bytes);
  return ReadEnum(&in, PinState::kEnding, &head->state) && in.ReadVarint(&head->kept_versions) &&
         in.ReadString(&head->snapshot_info) && in.done();
}

std::string PinHolderValue(const PinHolder& holder) {
  std::string value(1, holder.keeps_changes ? 1 : 0);
  AppendBytes(&value, holder.owner);
  AppendBytes(&value, holder.reason);
  AppendTime(&value, holder.expiry);
  return value;
}

bool ParsePinHolder(std::string_view bytes, PinHolder* holder) {
  ByteReader in(bytes);
  uint8_t keeps_changes = 0;
  if (!in.ReadByte(&keeps_changes) || keeps_changes > 1) return false;
  holder->keeps_changes = keeps_changes == 1;
  return in.ReadString(&holder->owner) && in.ReadString(&holder->reason) &&
         in.ReadTime(&holder->expiry) && in.done();
}

std::string TagValue(const TagRecord& tag) {
  std::string value(1, static_cast<char>(tag.state));
  AppendVarint(&value, tag.snapshot);
  AppendBytes(&value, tag.owner);
  AppendBytes(&value, tag.reason);
  AppendTime(&value, tag.created);
  AppendTime(&value, tag.expiry);
  return value;
}

bool ParseTag(std::string_view bytes, TagRecord* tag) {
  ByteReader in(bytes);
  return ReadEnum(&in, TagState::kExpired, &tag->state) && in.ReadVarint(&tag->snapshot) &&
         in.ReadString(&tag->owner) && in.ReadString(&tag->reason) && in.ReadTime(&tag->created) &&
         in.ReadTime(&tag->expiry) && in.done();
}

}  // namespace tidemark::state::engine
