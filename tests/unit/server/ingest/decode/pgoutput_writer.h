// Writes pgoutput messages as PostgreSQL would, for tests of what reads them.
#ifndef TIDEMARK_TESTS_UNIT_SERVER_INGEST_DECODE_PGOUTPUT_WRITER_H_
#define TIDEMARK_TESTS_UNIT_SERVER_INGEST_DECODE_PGOUTPUT_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::testing {

// Appends fields in wire form; what is written is in bytes().
class PgoutputWriter {
 public:
  explicit PgoutputWriter(char type) { Byte(type); }

  PgoutputWriter& Byte(char c) {
    bytes_ += c;
    return *this;
  }
  PgoutputWriter& Int16(uint64_t n) { return Number(n, 2); }
  PgoutputWriter& Int32(uint64_t n) { return Number(n, 4); }
  PgoutputWriter& Int64(uint64_t n) { return Number(n, 8); }
  PgoutputWriter& String(std::string_view text) {
    bytes_.append(text);
    return Byte('\0');
  }
  // Parts of a tuple.
  PgoutputWriter& Null() { return Byte('n'); }
  PgoutputWriter& Unchanged() { return Byte('u'); }
  PgoutputWriter& Text(std::string_view text) {
    Byte('t').Int32(text.size());
    bytes_.append(text);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  PgoutputWriter& Number(uint64_t n, int size) {
    while (size-- > 0) bytes_ += static_cast<char>(n >> (8 * size) & 0xff);
    return *this;
  }

  std::string bytes_;
};

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_UNIT_SERVER_INGEST_DECODE_PGOUTPUT_WRITER_H_
