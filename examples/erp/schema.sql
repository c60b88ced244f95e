-- The sample system of record: a small distributor's ERP.
CREATE TABLE customers (
  customer_id        text PRIMARY KEY,
  name               text NOT NULL,
  credit_limit_minor bigint NOT NULL
);
CREATE TABLE stock (
  sku      text PRIMARY KEY,
  quantity integer NOT NULL
);
CREATE TABLE orders (
  order_id     text PRIMARY KEY,
  customer_id  text NOT NULL,
  status       text NOT NULL,
  total_minor  bigint NOT NULL,
  placed_at    timestamptz NOT NULL,
  decision_ref text
);
CREATE TABLE order_lines (
  order_id    text NOT NULL REFERENCES orders ON DELETE CASCADE,
  line_no     integer NOT NULL,
  sku         text NOT NULL REFERENCES stock,
  quantity    integer NOT NULL,
  price_minor bigint NOT NULL,
  PRIMARY KEY (order_id, line_no)
);
CREATE TABLE payments (
  payment_id   text PRIMARY KEY,
  customer_id  text NOT NULL,
  amount_minor bigint NOT NULL,
  paid_at      timestamptz NOT NULL,
  UNIQUE (customer_id, paid_at)
);
CREATE TABLE returns (
  return_id   text PRIMARY KEY,
  customer_id text NOT NULL,
  order_id    text NOT NULL,
  returned_at timestamptz NOT NULL
);
CREATE INDEX ON orders (customer_id);
CREATE INDEX ON returns (customer_id);
-- What Tidemark follows. Replica identity stays the default: Tidemark knows what each row put in.
CREATE PUBLICATION tidemark FOR TABLE customers, orders, payments, returns;
