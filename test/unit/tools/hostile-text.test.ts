import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { TEXT_FUNCTIONS } from "../../../tools/hostile-text/functions.ts";
import { findGrowth } from "./hostile-growths.ts";

it.each(TEXT_FUNCTIONS)("$name takes time in proportion to a hostile text", (tested) => {
  expect(findGrowth(tested)).toBeNull();
});

/** What the names of functions that read text begin with. */
const VERBS =
  "clean|decode|describe|detect|encode|escape|find|fold|highlight|htmlTo|normalize|parse|read|skip|split|tokenize";
const READER = new RegExp(
  String.raw`export (?:async )?function\*? ((?:${VERBS})[A-Z]?\w*)(?:<[^(]*>)?\(\s*(\w+): (\w+)`,
  "g",
);
const TEXTS = new Set(["string", "Uint8Array"]);

/** Functions that read text and have no entry, and why not. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  decodeJpeg: "decodes pixels",
  decodeText: "is called by parseTranscript",
  encodeRle: "encodes pixels",
  findPauses: "reads amplitudes",
  foldLetter: "is called by encodeFtsText",
  foldPlural: "is called by findNames",
  readMonthDay: "is called by encodeFtsText",
  readNumber: "is called by encodeFtsText",
  readNumberWords: "is called by encodeFtsText",
  readScale: "is called by encodeFtsText",
  normalizeText: "is called by fold",
  cleanAssText: "is called by parseTranscript",
  cleanSrtText: "is called by parseTranscript",
  cleanVttText: "is called by parseTranscript",
  parseAss: "is called by parseTranscript",
  parseLineFormat: "is called by parseTranscript",
  parseMediaTime: "is called by parseTranscript, and reads a few characters",
  parseScc: "is called by parseTranscript",
  parseTtml: "is called by parseTranscript",
  skipXmlProlog: "is called by parseTranscript and describeFile",
  splitLines: "is called by parseTranscript",
  parseEbuStl: "is called by parseTranscript",
  parseJsonTranscript: "is called by parseTranscript",
  parseTimedText: "is called by parseTranscript",
  parseWebVttLanguage: "is called by parseTranscript",
  splitIntoCues: "is called by parseTranscript",
  splitSentences: "is called by parseTranscript",
  tokenize: "is called by highlightMatches",
  tokenizeWords: "is called by contentWords",
  decodeLuma: "decodes pixels",
  decodeThumbnail: "decodes pixels",
  parseElement: "reads a header of a fixed size; hostile-structure.test.ts reads whole files",
  readJpegSize: "reads a fixed number of header bytes",
  readImageSize: "reads a fixed number of header bytes",
  parseReferenceFrames: "reads numbers of a fixed size, up to a fixed count",
  parseSecrets: "reads the operator's settings",
  parseColumns: "reads rows that we wrote",
  parseJson: "is parseJsonText, which has an entry, with an error",
  parseTranscriptPart: "is parseTranscript, which has an entry, with an error",
  parseItems: "applies a schema to items of a response, one by one",
  readEntries: "passes the entries of a page on, one by one",
};

it("every function that reads text is measured with hostile text", () => {
  const measured = readFileSync("tools/hostile-text/functions.ts", "utf8");
  const names = globSync("src/**/*.ts").flatMap((file) => {
    return [...readFileSync(file, "utf8").matchAll(READER)].flatMap(([, name, , type]) =>
      TEXTS.has(type!) || name!.startsWith("parse") ? [name!] : [],
    );
  });
  expect(names.length).toBeGreaterThan(30);
  const unmeasured = names.filter((name) => !new RegExp(String.raw`\b${name}\b`).test(measured));
  expect(unmeasured.filter((name) => !(name in EXCEPTIONS))).toEqual([]);
  expect(Object.keys(EXCEPTIONS).filter((name) => !names.includes(name))).toEqual([]);
});
