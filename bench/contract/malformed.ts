import * as fc from "fast-check";

/** Strings that have a meaning in some syntax, or are too long. */
const ODD_STRINGS = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "\uFFFD",
  "🐕".repeat(200),
  "\u202eevil\u2066",
  "é̂".repeat(50),
  "x".repeat(5000),
  "../../etc/passwd",
  "..%2f..%2f",
  "%00%ff%",
  "' OR 1=1 --",
  '"; DROP TABLE assets; --',
  '"',
  "*",
  "a AND NOT (b",
  "NEAR(a b, 99999999999)",
  "caption:x ^2 {",
  "<script>alert(1)</script>",
  "a\r\nX-Injected: 1",
  "${7*7}{{7*7}}",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "undefined",
  "NaN",
  "-0",
  "1e400",
  "-1",
  "9".repeat(400),
  "0x10",
  "true",
  "[]",
  "{}",
  "http://127.0.0.1:1/",
  "http://[::ffff:169.254.169.254]/",
  "https://user:password@a.example/",
  "file:///etc/passwd",
  "data:text/plain,x",
  "https://a.example/" + "x".repeat(3000),
  "-lantern",
  '-"a b" "c',
  "(".repeat(1000),
];

/** Generates odd strings. */
export const malformedText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...ODD_STRINGS),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 200 }),
);

const malformedNumber = fc.oneof(
  fc.constantFrom(-1, 0, -0, 2 ** 31, 2 ** 53, -(2 ** 63), 1e21, 1e308, 5e-324, 0.1),
  fc.double({ noNaN: true }),
  fc.integer(),
);

/** Generates any JSON value, also deeply nested and oddly named ones. */
export const malformedValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: malformedText },
  { weight: 2, arbitrary: malformedNumber },
  { weight: 2, arbitrary: fc.constantFrom(null, true, false, [], {}, [null], { "": null }) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 4, noUnicodeString: false }) },
  { weight: 1, arbitrary: fc.nat(200).map(nested) },
  { weight: 1, arbitrary: fc.nat(1500).map((count) => Array.from({ length: count }, () => "a")) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      JSON.parse('{"__proto__":{"x":1}}') as unknown,
      JSON.parse('{"constructor":{"prototype":1}}') as unknown,
      { $gt: [], $in: {}, $ne: null },
      { "a.b.c": { $in: ["x", null, 1] }, created_at: { $gt: "tomorrow" } },
      { duration_seconds: { $gte: 1e300 }, 'x"y': "z", "..": 1 },
    ),
  },
);

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Generates text that is almost the given JSON. */
export function brokenJson(text: string): fc.Arbitrary<string> {
  return fc.oneof(
    fc.nat(text.length).map((end) => text.slice(0, end)),
    fc.constantFrom(
      "[".repeat(100_000),
      '{"a":'.repeat(20_000),
      `${text}${text}`,
      text.replaceAll('"', "'"),
      text.replaceAll(":", ":1e999,"),
      text.replace("}", ",}"),
      `\uFEFF${text}`,
      `/* x */ ${text}`,
      '"\\ud800"',
      '{"a":1,"a":2,"__proto__":3}',
      "NaN",
    ),
  );
}

const BYTES = "\u0021-\u007e\u00a1-\u00ff";

/** Generates any value that a header may have. */
export const headerValue: fc.Arbitrary<string> = fc
  .oneof(malformedText, fc.constantFrom("bytes=0-", "bytes=-1,5-2,,", "*", 'W/"x", "y"', "1 1 1"))
  .map((text) =>
    text
      .replaceAll(new RegExp(`[^${BYTES} ]`, "g"), "")
      .slice(0, 2000)
      .trim(),
  );
