import { expect, it } from "vitest";
import { LIMITS } from "../../../../src/config.ts";
import { parseTranscript } from "../../../../src/ingest/transcript/parse.ts";
import { describeFile } from "../../../../src/media/media-type.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const TIMES = "00:00:01,000 --> 00:00:02,000";
/** A text that grows by a unit until it has so many characters. */
const grow = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length));
const MEBI = 2 ** 20;

/** Texts of which a pattern or a pass took minutes, and longer ones of each kind. */
const ATTACKS: [string, () => string][] = [
  ["comments that end in several ways", () => `${grow("<!---->", MEBI - 10)}x`],
  ["declarations that end in several ways", () => `${grow("<!-->", MEBI - 10)}x`],
  ["byte-order marks behind a declaration", () => `<!>${grow("\uFEFF", MEBI - 10)}x`],
  ["settings of a cue without blanks", () => `1\n${TIMES} ${"a:b".repeat(80)} c\nhello\n`],
  [
    "stamps, then as many lines",
    () => `${grow("[0:1]", MEBI)}a\n${grow("b\n", 200_000)}${grow("0:2 c\n", MEBI)}`,
  ],
  [
    "JSON cues of which one has times",
    () => `[{"start":0,"text":"x"}${',\n{"text":"q"}'.repeat(140_000)}]`,
  ],
  ["blank lines between letters", () => `a${grow("\n", 200_000)}b`],
  ["a line of blanks after stamps", () => `0:1 a\n0:2 b\n${grow(" ", MEBI)}x\n0:3 c\n`],
  ["a cue of bars", () => `[1][2]a${grow("|", MEBI - 100)}x\n[3][4]b\n`],
  ["lines of a digit and tabs", () => grow(`1${"\t".repeat(198)}x\n`, MEBI - 300)],
  [
    "a list of columns, then lines",
    () => `[Script Info]\n[Events]\nFormat: ${grow(",", MEBI)}text\n${grow("Dialogue:\n", MEBI)}`,
  ],
  ["a line of 150,000 stamps", () => `${"[0:1]".repeat(150_000)}a\n`],
];

// A text that takes minutes meets the time limit of the test. Growth is measured by
// tools/hostile-text.
it.each(ATTACKS)("a transcript of %s is parsed or refused in time", (_, make) => {
  let outcome: unknown;
  try {
    outcome = parseTranscript(bytes(make())).cues.length;
  } catch (error) {
    outcome = error;
  }
  expect(outcome).toSatisfy(
    (one) => typeof one === "number" || (one as { code?: string }).code === "bad_request",
  );
});

it("a file of comments that end in several ways is described", () => {
  const head = bytes(`${"<!---->".repeat(500)}x`);
  expect(describeFile(head, undefined)).toContain("a text file");
});

it.each([
  ["lines", `a${"\n".repeat(LIMITS.transcriptLines)}b`, LIMITS.transcriptLines],
  ["lines", `a${"\r".repeat(LIMITS.transcriptLines)}b`, LIMITS.transcriptLines],
  ["lines", `a${"\r\n".repeat(LIMITS.transcriptLines)}b`, LIMITS.transcriptLines],
  ["cues", `${"[0:1]".repeat(LIMITS.transcriptCues + 1)}a`, LIMITS.transcriptCues],
])("a transcript with too many %s is refused by their number", (unit, text, max) => {
  expect(() => parseTranscript(bytes(text))).toThrowError(
    expect.objectContaining({ message: expect.stringContaining(`more than ${max} ${unit}`) }),
  );
});
