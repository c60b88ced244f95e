"""What goes on in the two databases of other_world, and what of it was committed."""
import collections
import random
import subprocess
import threading

SCHEMA = """
CREATE TYPE mood AS ENUM ('ok', 'bad');
CREATE DOMAIN posint AS int CHECK (value > 0);
CREATE TABLE account (
  bank text, no bigint, owner uuid NOT NULL, balance numeric NOT NULL, opened timestamptz, born date, at_time time,
  blob bytea, doc jsonb, tags text[], mood mood, points posint, note text, ratio float8, open bool NOT NULL,
  PRIMARY KEY (bank, no));
CREATE TABLE movement (
  id bigserial PRIMARY KEY, bank text NOT NULL, no bigint NOT NULL, amount numeric NOT NULL, kind text NOT NULL,
  happened timestamptz NOT NULL);
CREATE PUBLICATION accounts FOR TABLE account;
CREATE PUBLICATION movements FOR TABLE movement;
INSERT INTO account SELECT 'b' || i % 4, i, gen_random_uuid(), i * 1.5, now(), '2026-01-01', '12:34:56.7', '\\x00ff',
  '{"big": 9007199254740993}', ARRAY['x', NULL, 'y"z'], 'ok', i, repeat('long ', 1000), 0.1, true
  FROM generate_series(1, 200) i;
INSERT INTO movement (bank, no, amount, kind, happened)
  SELECT 'b' || i % 4, i % 250 + 1, i * 0.01, (ARRAY['pay', 'fee'])[i % 2 + 1], '2026-01-01'::timestamptz + i * '1 s'::interval
  FROM generate_series(1, 2000) i;
"""

SHOP_SCHEMA = """
CREATE TABLE rating (bank text, no bigint, score numeric, remark text, PRIMARY KEY (bank, no));
CREATE PUBLICATION tidemark FOR TABLE rating;
INSERT INTO rating SELECT 'b' || i % 4, i, i * 0.5, 'copied' FROM generate_series(1, 250) i;
"""


class Commits:
    """How often each kind of statement changed rows in a transaction the server said was committed. Thread-safe."""

    def __init__(self):
        self.lock, self.count, self.transactions = threading.Lock(), collections.Counter(), 0
        self.hurry = False  # writers now see to what has not been committed yet

    def add(self, kinds):
        with self.lock:
            self.count.update(kinds)
            self.transactions += 1

    def start_anew(self):
        with self.lock:
            self.count.clear()

    def missing(self, kinds):
        with self.lock:
            return [kind for kind in kinds if self.count[kind] == 0]


class Writer(threading.Thread):
    """Seeded transactions on a session of its own, until told to stop; a session that breaks is opened again."""

    def __init__(self, dsn, seed, stop, may_truncate, commits):
        super().__init__()
        self.dsn, self.random, self.stop, self.may_truncate = dsn, random.Random(seed), stop, may_truncate
        self.commits = commits
        # Kind of statement -> its weight, and what makes one: texts of one command each.
        self.choices = self.kinds()
        self.columns = 0

    def key(self):
        return f"'b{self.random.randrange(4)}'", self.random.randrange(1, 251)

    def literal(self, text):
        return "NULL" if self.random.random() < 0.2 else text

    def kinds(self):
        raise NotImplementedError

    def statement(self):
        """A kind and its commands; in a hurry, now and then one of a kind that was not committed yet."""
        missing = self.commits.missing(self.choices) if self.commits.hurry else []
        if missing and self.random.random() < 0.1:
            kind = self.random.choice(missing)
        else:
            kind, = self.random.choices(list(self.choices), [weight for weight, _ in self.choices.values()])
        return kind, self.choices[kind][1]()

    def commit(self, session, statements):
        """False when the session broke. The server's tags say what each command did, and whether COMMIT was one."""
        commands = [command for _, commands in statements for command in commands]
        session.stdin.write("".join(f"{command};\n" for command in ["BEGIN", *commands, "COMMIT"]) + "\\echo done\n")
        session.stdin.flush()
        tags = []
        while not tags or tags[-1] != "done":
            line = session.stdout.readline()
            if not line:
                return False
            tags.append(line.strip())
        # A deadlock or a duplicate key fails the transaction: commands after it have no tag, COMMIT's is ROLLBACK. One
        # that was rolled back to its savepoint is committed, but who knows what of it.
        if tags[-2] == "COMMIT":
            whole = len(tags) == len(commands) + 3
            self.commits.add(self.changed(statements, tags[1:]) if whole else [])
        return True

    @staticmethod
    def changed(statements, tags):
        """The kinds whose every command changed something: `INSERT 0 0`, `UPDATE 0` and `DELETE 0` did not."""
        at, kinds = 0, []
        for kind, commands in statements:
            if all(tag.split()[-1] != "0" for tag in tags[at:at + len(commands)]):
                kinds.append(kind)
            at += len(commands)
        return kinds

    def run(self):
        while not self.stop.is_set():
            session = subprocess.Popen(["psql", "-XAt", "-d", self.dsn], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
            try:
                while not self.stop.is_set():
                    statements = [self.statement() for _ in range(self.random.choice([1, 1, 2, 5]))]
                    if not any(kind.startswith("truncate") for kind, _ in statements):
                        alive = self.commit(session, statements)
                    else:
                        with self.may_truncate:
                            alive = self.commit(session, statements)
                    if not alive:
                        break
                session.stdin.close()
            except BrokenPipeError:
                pass
            session.wait()
            session.stdout.close()
            self.stop.wait(0.05)


class BankWriter(Writer):
    def account(self):
        bank, no = self.key()
        return f"bank = {bank} AND no = {no}"

    def amount(self):
        return f"{self.random.randrange(-10**6, 10**9)}e-{self.random.randrange(0, 7)}"

    def note(self):
        return f"repeat('{chr(self.random.randrange(97, 123))}é', {self.random.choice([3, 30, 20000])})"

    def happened(self):
        return f"'2026-01-01'::timestamptz + {self.random.randrange(10**12)} * '1 us'::interval"

    def kinds(self):
        r = self.random
        return {
            "insert account": (20, self.insert_account),
            "update account": (15, lambda: [f"UPDATE account SET balance = balance + {self.amount()} WHERE {self.account()}"]),
            "update long value": (10, lambda: [f"UPDATE account SET note = {self.literal(self.note())}, open = NOT open "
                                               f"WHERE {self.account()}"]),
            "delete account": (8, lambda: [f"DELETE FROM account WHERE {self.account()}"]),
            "change key": (8, self.change_key),
            "insert movement": (30, self.insert_movement),
            "update movement": (12, lambda: [f"UPDATE movement SET amount = {self.amount()} "
                                             f"WHERE id % 97 = {r.randrange(97)} AND no < {r.randrange(1, 251)}"]),
            "move to another parent": (8, self.move_movement),
            "change condition": (8, lambda: [f"UPDATE movement SET kind = '{r.choice(['pay', 'fee'])}' "
                                             f"WHERE id % 199 = {r.randrange(199)}"]),
            "delete movement": (12, lambda: [f"DELETE FROM movement WHERE id % 211 = {r.randrange(211)}"]),
            "roll back to savepoint": (4, lambda: ["SAVEPOINT s", "DELETE FROM movement WHERE id % 3 = 0",
                                                   "UPDATE account SET points = 7", "ROLLBACK TO s"]),
            "truncate movement": (0.2, lambda: ["TRUNCATE movement"]),
            "truncate account": (0.1, lambda: ["TRUNCATE account"]),
            "add column": (0.3, self.add_column),
        }

    def insert_account(self):
        r = self.random
        bank, no = self.key()
        values = [bank, str(no), "gen_random_uuid()", self.amount(), self.literal(self.happened()),
                  self.literal("current_date"), self.literal("localtime"),
                  self.literal("decode(md5(random()::text), $$hex$$)"),
                  self.literal(f"jsonb_build_object($$k$$, {r.randrange(2**60)})"),
                  self.literal("ARRAY[$$a$$, NULL, $$,{}$$]"), self.literal("$$bad$$"),
                  self.literal(str(r.randrange(1, 1000))), self.literal(self.note()), self.literal("random()"),
                  r.choice(["true", "false"])]
        return [f"INSERT INTO account VALUES ({', '.join(values)}) ON CONFLICT DO NOTHING"]

    def change_key(self):
        no = self.random.randrange(1, 251)
        return [f"UPDATE account SET no = {no} WHERE {self.account()} AND NOT EXISTS "
                f"(SELECT FROM account b WHERE b.bank = account.bank AND b.no = {no})"]

    def insert_movement(self):
        bank, no = self.key()
        return [f"INSERT INTO movement (bank, no, amount, kind, happened) VALUES ({bank}, {no}, {self.amount()}, "
                f"'{self.random.choice(['pay', 'fee', 'tax'])}', {self.happened()})"]

    def move_movement(self):
        bank, no = self.key()
        return [f"UPDATE movement SET bank = {bank}, no = {no} WHERE id % 499 = {self.random.randrange(499)}"]

    def add_column(self):
        self.columns += 1
        return [f"ALTER TABLE account ADD COLUMN IF NOT EXISTS extra{self.columns} text DEFAULT 'x'"]


class ShopWriter(Writer):
    def rating(self):
        bank, no = self.key()
        return f"bank = {bank} AND no = {no}"

    def score(self):
        return self.literal(f"{self.random.randrange(10**6)}e-{self.random.randrange(0, 7)}")

    def kinds(self):
        return {
            "insert rating": (30, self.insert_rating),
            "update rating": (20, lambda: [f"UPDATE rating SET score = {self.score()} WHERE {self.rating()}"]),
            "update many ratings": (3, lambda: [f"UPDATE rating SET remark = repeat('r', {self.random.choice([9, 9000])}) "
                                                f"WHERE no % 7 = {self.random.randrange(7)}"]),
            "delete rating": (15, lambda: [f"DELETE FROM rating WHERE {self.rating()}"]),
            "change key of rating": (8, self.change_key),
            "truncate rating": (0.2, lambda: ["TRUNCATE rating"]),
        }

    def insert_rating(self):
        bank, no = self.key()
        return [f"INSERT INTO rating VALUES ({bank}, {no}, {self.score()}, 'new') ON CONFLICT DO NOTHING"]

    def change_key(self):
        no = self.random.randrange(1, 251)
        return [f"UPDATE rating SET no = {no} WHERE {self.rating()} AND NOT EXISTS "
                f"(SELECT FROM rating b WHERE b.bank = rating.bank AND b.no = {no})"]
