"""What tools/tidy holds the tree to, as tables: who may include whom, who may touch which library, and the exceptions.

A file belongs to the room with the longest matching path. A room may include itself and what its row names; a name
ending in "*" stands for the room and everything below it.
"""

# room -> rooms it may include. "proto:messages" are generated *.pb.h of the contract, "proto:value" only its Value and
# Row, "proto:stubs" the generated *.grpc.pb.h.
ROOMS = {
    "common": [],
    "storage/state": ["common"],
    "storage/state/engine": ["common", "storage/state"],
    "storage/state/memory": ["common", "storage/state"],
    "storage/tables": ["common", "storage/state", "proto:value"],
    "storage/agent": ["common"],
    "storage/agent/postgres": ["common", "storage/agent"],
    "storage/agent/memory": ["common", "storage/agent"],
    # The composition root: the only room that names concrete backends.
    "server": ["common", "storage/*", "server/*", "proto:messages", "proto:stubs"],
    "server/services": ["common", "storage/state", "storage/tables", "storage/agent", "server", "server/ingest",
                        "proto:messages", "proto:stubs"],
    "server/transport": ["common", "server", "server/telemetry", "proto:messages", "proto:stubs"],
    "server/telemetry": ["common", "server"],
    "server/config": ["common", "server", "server/telemetry", "storage/tables"],
    "server/ingest": ["common", "storage/state", "storage/tables", "proto:value"],
    "server/ingest/decode": ["common", "storage/tables", "server/ingest", "proto:value"],
    "server/ingest/postgres": ["common", "storage/state", "storage/tables", "server/ingest", "server/ingest/decode",
                               "proto:value"],
    "server/loop": ["common", "storage/state", "storage/tables", "storage/agent", "proto:messages"],
    "client": ["common", "proto:messages", "proto:stubs"],
    "examples": ["common", "client", "proto:messages", "proto:stubs"],
    "bench": ["common", "storage/*", "server/*", "client", "proto:messages", "proto:stubs"],
    "tests": ["common", "storage/*", "server/*", "client", "examples/*", "proto:messages", "proto:stubs", "tests/*"],
}

# Files that only these rooms may include, although the room they lie in is open to more: a backend is known by its
# interface, and made by the function that its interface declares.
BACKENDS = [
    (r"^storage/state/engine/", ["storage/state/engine", "tests", "bench"]),
    (r"^storage/state/memory/", ["storage/state/memory", "tests"]),
    (r"^storage/agent/(postgres|memory)/", ["storage/agent/postgres", "storage/agent/memory", "server", "tests", "bench"]),
]

# header -> rooms (and everything below them) that may include it.
OUTSIDE_HEADERS = [
    (r"^leveldb/", ["storage/state/engine", "tests", "bench"], "LevelDB stays behind the state store's interface"),
    (r"^pqxx/", ["storage/agent/postgres", "tests"], "one folder speaks SQL"),
    (r"^(libpq-fe\.h$|libpq/|postgres_ext\.h$)", ["server/ingest/postgres", "examples", "tests", "bench"],
     "libpq is for the replication protocol"),
    (r"^(grpcpp|grpc|grpc\+\+)/", ["server", "client", "examples", "tests", "bench"], "storage does not know gRPC"),
    (r"^simdjson", ["server/ingest/decode", "tests", "bench"], "events are decoded in one room"),
    (r"^yaml-cpp/", ["storage/tables", "server", "tests"], "YAML is for definitions and configuration"),
    (r"^prometheus/", ["server", "tests"], "metrics are counted at the server"),
    (r"^(spdlog|fmt)/", ["server", "tests"], "logs are written by the server"),
    (r"^(CLI|CLI11)[/.]", ["client", "examples"], "one command-line parser per program"),
    (r"^nlohmann/", ["server", "client", "examples", "tests", "bench"], "6 s of compile time a file"),
    (r"^(openssl|curl)/", ["server", "client", "examples", "tests"], "no cryptography or HTTP below the server"),
    (r"^(gtest|gmock)/", ["tests"], "test code stays in tests"),
    (r"^benchmark/", ["bench"], "benchmarks stay in bench"),
]

# Rooms inside a room of OUTSIDE_HEADERS that a header is closed to after all.
OUTSIDE_HEADERS_CLOSED = [
    (r"^(grpcpp|grpc|grpc\+\+)/", ["server/services", "server/config", "server/telemetry", "server/ingest", "server/loop"]),
    (r"^prometheus/", ["server/services"]),
    (r"^pqxx/", ["server/services"]),
]

# Rooms that may contain SQL.
SQL_ROOMS = ["storage/agent/postgres", "server/ingest/postgres", "examples", "tests", "bench", "migrations"]

# (rule, path pattern, why). An exception that no longer excuses anything is itself a finding.
EXCEPTIONS = [
    ("absl-mutex", r"^server/transport/grpc_server\.cc$", "sets how gRPC's own locks are watched, and takes none"),
]
