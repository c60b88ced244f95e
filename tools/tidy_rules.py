"""The rules of tools/tidy. Each takes the tree and yields findings; tools/tidy_test.py shows each of them fire."""
import collections
import os.path
import re

from tidy_tables import BACKENDS, EXCEPTIONS, OUTSIDE_HEADERS, OUTSIDE_HEADERS_CLOSED, ROOMS, SQL_ROOMS

Finding = collections.namedtuple("Finding", "rule path line text")

MAX_COLUMNS = 100
MAX_LINES = 400
MAX_README_LINES = 60
MAX_MODULES = 18  # of one folder; beyond that it is split by what it does


class Tree:
    """The files of the project: path relative to the root -> text."""

    def __init__(self, files):
        self.files = files
        self.cpp = {path: text for path, text in files.items()
                    if path.endswith((".h", ".cc")) and not is_foreign(path)}
        self.code = {path: strip(text, keep_strings=True) for path, text in self.cpp.items()}
        self.bare = {path: strip(text, keep_strings=False) for path, text in self.cpp.items()}


def is_foreign(path):
    return "/third_party/" in f"/{path}"


def below(path, rooms):
    return any(path == room or path.startswith(room + "/") for room in rooms)


def room_of(path):
    return max((room for room in ROOMS if below(path, [room])), key=len, default=None)


TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'",
    re.DOTALL)


def strip(text, keep_strings):
    """C++ without comments, and without the insides of literals unless asked for; line numbers stay."""

    def replace(match):
        token = match.group(0)
        comment = token.startswith(("//", "/*"))
        line_start = text.rfind("\n", 0, match.start()) + 1
        # An include path looks like a literal and is always wanted.
        if not comment and (keep_strings or text.startswith("#include", line_start)):
            return token
        return ("" if comment else '""') + "\n" * token.count("\n")

    return TOKEN.sub(replace, text)


def matches(pattern, texts, rule, message):
    regex = re.compile(pattern, re.MULTILINE)
    for path, text in texts.items():
        for match in regex.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield Finding(rule, path, line, message.format(match.group(0).strip()))


def includes(tree):
    for path, text in tree.code.items():
        for match in re.finditer(r'^#include ([<"])([^>"]+)[>"]', text, re.MULTILINE):
            yield path, text.count("\n", 0, match.start()) + 1, match.group(2), match.group(1)


# --- Who may include whom ------------------------------------------------------------------------------------------


def generated_kind(header):
    if header.endswith(".grpc.pb.h"):
        return "proto:stubs"
    if header.endswith(".pb.h"):
        return "proto:value" if header == "tidemark/v1/value.pb.h" else "proto:messages"
    return None


def allows(room, wanted):
    allowed = ROOMS[room]
    if wanted == room or wanted in allowed:
        return True
    if wanted == "proto:value":
        return "proto:messages" in allowed
    return any(name.endswith("*") and below(wanted, [name[:-2]]) for name in allowed)


def check_rooms(tree):
    for path, line, header, quote in includes(tree):
        room = room_of(path)
        if room is None:
            yield Finding("room", path, line, "lies in no room of tools/tidy_tables.py")
            continue
        kind = generated_kind(header)
        if kind is not None:
            if not header.startswith("google/protobuf/") and not allows(room, kind):
                yield Finding("include-direction", path, line, f"{room} may not include {kind} ({header})")
            continue
        if quote == "<" or room_of(header) is None:
            continue
        if header not in tree.files:
            yield Finding("include-path", path, line, f"{header}: no such file from the root of the tree")
        elif not allows(room, room_of(header)):
            yield Finding("include-direction", path, line, f"{room} may not include {room_of(header)} ({header})")
        for pattern, rooms in BACKENDS:
            if re.search(pattern, header) and room not in rooms:
                yield Finding("include-backend", path, line, f"{header} is a backend: take its interface")


def check_relative_includes(tree):
    for path, line, header, quote in includes(tree):
        if quote == '"' and ("/" not in header or header.startswith(".")):
            yield Finding("include-path", path, line, f"{header}: include paths start at the root of the tree")


def check_outside_headers(tree):
    for path, line, header, _ in includes(tree):
        for pattern, rooms, why in OUTSIDE_HEADERS:
            closed = any(p == pattern and below(path, r) for p, r in OUTSIDE_HEADERS_CLOSED)
            if re.search(pattern, header) and (closed or not below(path, rooms)):
                yield Finding("outside-header", path, line, f"<{header}> here: {why}")
        if header.startswith("nlohmann/") and path.endswith(".h"):
            yield Finding("outside-header", path, line, f"<{header}> in a header: 6 s for every file that includes it")
        if re.match(r"absl/(synchronization|log)/", header):
            yield Finding("absl-mutex", path, line, f"{header}: lock through common/mutex.h, log through the server's")


# --- What the code may not say -------------------------------------------------------------------------------------


def check_calls(tree):
    yield from matches(r"\bdetach\s*\(", tree.bare, "detach", "a thread belongs to an object that joins it")
    yield from matches(r"\b(sleep_for|sleep_until|usleep|nanosleep|SleepFor)\s*\(|(?<![\w.>])sleep\s*\(", tree.bare,
                       "sleep", "{}: wait on a condition instead")
    yield from matches(r"\babsl::(Mutex\w*|Notification|BlockingCounter|CondVar)\b", tree.bare, "absl-mutex",
                       "{}: ThreadSanitizer reports false races in it; use common/mutex.h")
    yield from matches(r"\bDISABLED_\w+", tree.bare, "disabled-test", "{}: a test that does not run")
    yield from matches(r"\b(EXPECT|ASSERT)_FALSE\(\s*([^;]*\)|\w*(status|result)\w*)(\.|->)ok\(\)\s*\)", tree.bare, "not-ok",
                       "name the code and the reason: StatusIs, ReasonIs")
    headers = {path: text for path, text in tree.bare.items() if path.endswith(".h")}
    yield from matches(r"^using namespace .*$", headers, "using-namespace", "{} in a header")


def check_output(tree):
    quiet = {path: text for path, text in tree.bare.items()
             if not path.endswith("main.cc") and not below(path, ["tests", "bench", "examples"])}
    yield from matches(r"\bstd::(cout|cerr|clog)\b|(?<![\w:])printf\s*\(", quiet, "output",
                       "{}: only a program's main writes to the terminal")
    yield from matches(r"\bgetenv\s*\(", quiet, "getenv", "options are read once in main and handed down")


SQL = (r"\bSELECT\s+[\w*$(\"']|\bINSERT\s+INTO\s|\bUPDATE\s+[\w.]+\s+SET\s|\bDELETE\s+FROM\s|\bSTART_REPLICATION\b|"
       r"\bCREATE_REPLICATION_SLOT\b|\bIDENTIFY_SYSTEM\b|\b(CREATE|ALTER|DROP|TRUNCATE)\s+(TABLE|INDEX|PUBLICATION|"
       r"DATABASE|ROLE|SCHEMA|SEQUENCE)\b")


def check_sql(tree):
    others = {path: text for path, text in tree.code.items() if not below(path, SQL_ROOMS)}
    yield from matches(SQL, others, "sql", "{}: SQL has its own rooms")


MARKERS = "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"])  # in halves, so that this file passes


def check_markers(tree):
    texts = {path: text for path, text in tree.files.items() if not is_foreign(path)}
    yield from matches(rf"\b({MARKERS})\b", texts, "marker", "{}: do it, or write down why not")


PROCESS_KILLERS = r"\b(p" + r"kill|kill" + r"all)\b"
MACHINE_PATHS = r"(?<![\w.~}$/])/(work|root|home|mnt|Users)/\w+"
REGISTRIES = r"\b(proxy\.golang|registry\.npmjs|files\.pythonhosted|deb\.debian|static\.crates)\.\w+|\bpypi\.org\b"


def check_machine(tree):
    texts = {path: text for path, text in tree.files.items()
             if not is_foreign(path) and not below(path, ["tools/tidy_rules.py", "tools/tidy_test.py"])}
    yield from matches(PROCESS_KILLERS, texts, "kill-by-name", "{}: end a process by its id")
    yield from matches(MACHINE_PATHS, texts, "machine-path", "{}: a path of one machine")
    yield from matches(REGISTRIES, texts, "machine-path", "{}: the client knows its registry")


# --- Shape ---------------------------------------------------------------------------------------------------------


def check_shape(tree):
    for path, text in tree.cpp.items():
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_COLUMNS:
                yield Finding("long-line", path, number, f"{len(line)} columns, at most {MAX_COLUMNS}")
        if len(lines) - 1 > MAX_LINES:
            yield Finding("long-file", path, 1, f"{len(lines) - 1} lines, at most {MAX_LINES}: split it by what it does")
        if path.endswith(".h"):
            guard = "TIDEMARK_" + re.sub(r"[/.]", "_", path).upper() + "_"
            guard = guard.replace("TIDEMARK_CLIENT_INCLUDE_TIDEMARK_", "TIDEMARK_")
            if f"#ifndef {guard}\n#define {guard}\n" not in text:
                yield Finding("header-guard", path, 1, f"the guard is {guard}")
    modules = collections.defaultdict(set)
    for path in tree.cpp:
        if not below(path, ["tests"]):
            modules[os.path.dirname(path)].add(os.path.splitext(path)[0])
    for folder, names in modules.items():
        if len(names) > MAX_MODULES:
            yield Finding("large-folder", folder, 1, f"{len(names)} modules, at most {MAX_MODULES}")


def check_cmake(tree):
    lists = {os.path.dirname(path): text + listed_by_foreach(text) for path, text in tree.files.items()
             if os.path.basename(path) == "CMakeLists.txt"}
    for path, text in tree.files.items():
        if path.endswith((".cmake", "CMakeLists.txt")) and not is_foreign(path):
            for match in re.finditer(r"file\s*\(\s*GLOB|aux_source_directory", text):
                line = text.count("\n", 0, match.start()) + 1
                yield Finding("cmake-glob", path, line, "source lists are explicit")
    for path in tree.cpp:
        folder = os.path.dirname(path)
        while True:
            # A header is part of the target that its .cc file is listed in.
            name = re.escape(os.path.relpath(path, folder or "."))
            name = re.sub(r"\\\.h$", r"\\.(h|cc)", name)
            if re.search(rf"(?<![\w./-]){name}(?![\w.-])", lists.get(folder, "")):
                break
            if not folder:
                if not re.search(rf"{re.escape(path)}(?![\w.-])", tree.files.get("cmake/Tidemark.cmake", "")):
                    yield Finding("cmake-unlisted", path, 1, "in no CMakeLists.txt: it is not part of any target")
                break
            folder = os.path.dirname(folder)


def listed_by_foreach(text):
    """The files that foreach(name IN ITEMS a b) ... ${name}.cc stands for."""
    items = re.findall(r"foreach\(\w+ IN ITEMS ([^)]*)\)", text)
    return "".join(f" {item}.cc {item}.h" for item in " ".join(items).split())


def check_readmes(tree):
    tops = {path.split("/")[0] for path in tree.files if "/" in path and not path.startswith(".")}
    for top in sorted(tops):
        text = tree.files.get(f"{top}/README.md")
        if text is None:
            yield Finding("readme", top, 1, "has no README.md: purpose, files in reading order, who may include it")
        elif text.count("\n") > MAX_README_LINES:
            yield Finding("readme", f"{top}/README.md", 1, f"{text.count(chr(10))} lines, at most {MAX_README_LINES}")


LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def check_links(tree):
    folders = {parent for path in tree.files for parent in parents(path)}
    for path, text in tree.files.items():
        if not path.endswith(".md") or is_foreign(path):
            continue
        for match in LINK.finditer(text):
            target = os.path.normpath(os.path.join(os.path.dirname(path), match.group(1)))
            if target not in tree.files and target not in folders:
                yield Finding("dead-link", path, text.count("\n", 0, match.start()) + 1, f"{match.group(1)} is not there")


def parents(path):
    while path:
        path = os.path.dirname(path)
        yield path or "."


RULES = [check_rooms, check_relative_includes, check_outside_headers, check_calls, check_output, check_sql,
         check_markers, check_machine, check_shape, check_cmake, check_readmes, check_links]


def check(files, exceptions=None):
    """All findings of a tree, without those that are excused; an exception that excuses nothing is a finding."""
    exceptions = EXCEPTIONS if exceptions is None else exceptions
    used = set()
    findings = []
    tree = Tree(files)
    for rule in RULES:
        for finding in rule(tree):
            excuse = next((e for e in exceptions if e[0] == finding.rule and re.search(e[1], finding.path)), None)
            if excuse is None:
                findings.append(finding)
            else:
                used.add(excuse)
    for excuse in exceptions:
        if excuse not in used:
            findings.append(Finding("stale-exception", excuse[1], 1, f"excuses no {excuse[0]} any more: remove it"))
    return sorted(findings, key=lambda f: (f.path, f.line, f.rule))
