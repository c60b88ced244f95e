"""What SQL and the API say of a row of other_world, in one form: column -> (kind, what compares equal)."""
import decimal
import json

# One JSON object per row: column -> [kind, text], null for null. Times are what the session's zone (UTC) prints.
MICROS = "'YYYY-MM-DD\"T\"HH24:MI:SS.US'"
TRUTH = {"bank": {
    "accounts": f"""
SELECT json_build_object(
  'bank', ARRAY['string', bank], 'no', ARRAY['int', no::text], 'owner', ARRAY['string', owner::text],
  'balance', ARRAY['decimal', balance::text],
  'opened', CASE WHEN opened IS NOT NULL THEN ARRAY['timestamp', to_char(opened, {MICROS})] END,
  'born', CASE WHEN born IS NOT NULL THEN ARRAY['date', born::text] END,
  'at_time', CASE WHEN at_time IS NOT NULL THEN ARRAY['time', at_time::text] END,
  'blob', CASE WHEN blob IS NOT NULL THEN ARRAY['bytes', translate(encode(blob, 'base64'), E'\\n', '')] END,
  'doc', CASE WHEN doc IS NOT NULL THEN ARRAY['json', doc::text] END,
  'tags', CASE WHEN tags IS NOT NULL THEN ARRAY['list', to_json(tags)::text] END,
  'mood', CASE WHEN mood IS NOT NULL THEN ARRAY['string', mood::text] END,
  'points', CASE WHEN points IS NOT NULL THEN ARRAY['int', points::text] END,
  'note', CASE WHEN note IS NOT NULL THEN ARRAY['string', note] END,
  'ratio', CASE WHEN ratio IS NOT NULL THEN ARRAY['double', ratio::text] END,
  'open', ARRAY['bool', open::text]) FROM account""",
    "summary": f"""
SELECT json_build_object(
  'bank', ARRAY['string', a.bank], 'no', ARRAY['int', a.no::text], 'balance', ARRAY['decimal', a.balance::text],
  'open', ARRAY['bool', a.open::text], 'n', ARRAY['int', coalesce(m.n, 0)::text],
  'total', CASE WHEN m.n > 0 THEN ARRAY['decimal', m.total::text] END,
  'most', CASE WHEN m.n > 0 THEN ARRAY['decimal', m.most::text] END,
  'least', CASE WHEN m.n > 0 THEN ARRAY['decimal', m.least::text] END,
  'last_kind', CASE WHEN m.n > 0 THEN ARRAY['string', m.last_kind] END,
  'first_kind', CASE WHEN m.n > 0 THEN ARRAY['string', m.first_kind] END,
  'last_time', CASE WHEN m.n > 0 THEN ARRAY['timestamp', to_char(m.last_time, {MICROS})] END,
  'fees', ARRAY['int', coalesce(m.fees, 0)::text],
  'fee_total', CASE WHEN m.fees > 0 THEN ARRAY['decimal', m.fee_total::text] END)
FROM account a LEFT JOIN (
  SELECT bank, no, count(*) AS n, sum(amount) AS total, max(amount) AS most, min(amount) AS least,
    (array_agg(kind ORDER BY happened DESC))[1] AS last_kind, (array_agg(kind ORDER BY happened))[1] AS first_kind,
    max(happened) AS last_time, count(*) FILTER (WHERE kind = 'fee') AS fees,
    sum(amount) FILTER (WHERE kind = 'fee') AS fee_total
  FROM movement GROUP BY bank, no) m USING (bank, no)""",
}, "shop": {
    "ratings": """
SELECT json_build_object(
  'bank', ARRAY['string', bank], 'no', ARRAY['int', no::text],
  'score', CASE WHEN score IS NOT NULL THEN ARRAY['decimal', score::text] END,
  'remark', CASE WHEN remark IS NOT NULL THEN ARRAY['string', remark] END) FROM rating""",
}}


def canonical(kind, text):
    """What compares equal exactly when the values are: decimals by value, times without trailing zeros."""
    if kind == "decimal":
        return kind, decimal.Decimal(text)
    if kind == "double":
        return kind, repr(float(text))
    if kind in ("timestamp", "time"):
        text = text.removesuffix("Z")
        return kind, (text.rstrip("0").rstrip(".") if "." in text else text)
    if kind == "list":
        return kind, tuple(json.loads(text))
    return kind, text


def from_value(value):
    """A Value in protobuf's JSON form; None for null."""
    (name, content), = value.items()
    kind = name.replace("_", "").lower().removesuffix("value")
    if kind == "null":
        return None
    if kind == "list":
        items = [from_value(item) for item in content.get("values", [])]
        return canonical(kind, json.dumps([item and item[1] for item in items]))
    return canonical(kind, str(content).lower() if kind == "bool" else str(content))


def from_row(row):
    return {column: from_value(value) for column, value in row["columns"].items()}


def from_sql(line):
    return {column: value and canonical(*value) for column, value in json.loads(line).items()}


def key_of(row):
    return row["bank"], row["no"]
