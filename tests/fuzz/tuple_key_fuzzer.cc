// Keys come from page tokens and disk: any bytes decode to elements that encode to the same bytes,
// or are refused. The same bytes as text go through the decimal parser.
#include <string_view>

#include "common/check.h"
#include "storage/state/tuple_key.h"

namespace tidemark::state {
namespace {

void EncodeElement(const KeyElement& element, KeyEncoder* encoder) {
  switch (element.type) {
    case KeyType::kNull:
      encoder->AddNull();
      return;
    case KeyType::kBool:
      encoder->AddBool(element.number != 0);
      return;
    case KeyType::kInt:
      encoder->AddInt(element.number);
      return;
    case KeyType::kDecimal:
      TIDEMARK_CHECK(encoder->AddDecimal(element.text).ok());
      return;
    case KeyType::kString:
      encoder->AddString(element.text);
      return;
    case KeyType::kBytes:
      encoder->AddBytes(element.text);
      return;
    case KeyType::kDate:
      encoder->AddDate(static_cast<int32_t>(element.number));
      return;
    case KeyType::kTime:
      encoder->AddTime(element.number);
      return;
    case KeyType::kTimestamp:
      encoder->AddTimestamp(element.number);
      return;
  }
  TIDEMARK_CHECK(false);
}

void CheckKey(std::string_view bytes) {
  const auto elements = DecodeKey(bytes);
  if (!elements.ok()) return;
  KeyEncoder encoder;
  for (const KeyElement& element : *elements) EncodeElement(element, &encoder);
  TIDEMARK_CHECK(encoder.bytes() == bytes);
}

void CheckDecimal(std::string_view text) {
  KeyEncoder encoder;
  if (!encoder.AddDecimal(text).ok()) return;
  const auto elements = DecodeKey(encoder.bytes());
  TIDEMARK_CHECK(elements.ok() && elements->size() == 1);
}

}  // namespace
}  // namespace tidemark::state

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tidemark::state::CheckKey(bytes);
  tidemark::state::CheckDecimal(bytes);
  return 0;
}
