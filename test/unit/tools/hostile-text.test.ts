import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { TEXT_FUNCTIONS } from "../../../tools/hostile-text/functions.ts";
import { findGrowths } from "./hostile-growths.ts";

it.each(TEXT_FUNCTIONS)("$name takes time in proportion to a hostile text", (tested) => {
  expect(findGrowths(tested)).toEqual([]);
});

/** What the names of functions that read text begin with. */
const VERBS =
  "clean|decode|detect|encode|escape|find|fold|highlight|htmlTo|normalize|parse|read|split|tokenize";
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
  findCandidates: "is called with sentences by quoteByMeaning, one by one through gatherEvidence",
  findPauses: "reads amplitudes",
  foldKana: "is called by encodeFtsText",
  foldLetter: "is called by encodeFtsText",
  foldPlural: "is called by findNames",
  readApostrophe: "is called by encodeFtsText",
  readCount: "is called by encodeFtsText",
  readHanNumber: "is called by encodeFtsText",
  readMonthAbbreviation: "is called by encodeFtsText",
  readMonthDay: "is called by encodeFtsText",
  readNumber: "is called by encodeFtsText",
  readNumberWord: "is called by encodeFtsText",
  readScale: "is called by encodeFtsText",
  readRuns: "is called by encodeFtsText",
  readSymbolName: "is called by encodeFtsText",
  normalizeText: "is called by fold",
  cleanAssText: "is called by parseTranscript",
  cleanSrtText: "is called by parseTranscript",
  cleanVttText: "is called by parseTranscript",
  parseAss: "is called by parseTranscript",
  parseEncodingLabel: "gives a label to the runtime's table",
  parseLineFormat: "is called by parseTranscript",
  parseMediaTime: "is called by parseTranscript, and reads a few characters",
  parseSami: "is called by parseTranscript",
  parseScc: "is called by parseTranscript",
  parseTtml: "is called by parseTranscript",
  splitLines: "is called by parseTranscript",
  splitTiles: "divides pixels",
  tokenizeMarkup: "is called by parseTtml and parseSami",
  parseJsonTranscript: "is called by parseTranscript",
  parseTimedText: "is called by parseTranscript",
  parseWebVttLanguage: "is called by parseTranscript",
  splitSentences: "is called by parseTranscript",
  tokenize: "is called by highlightMatches",
  decodeLuma: "decodes pixels",
  decodeThumbnail: "decodes pixels",
  parseExifTime: "reads a field of a few characters",
  readJpegSize: "reads a fixed number of header bytes",
  readImageSize: "reads a fixed number of header bytes",
  parseReferenceFrames: "reads numbers of a fixed size, up to a fixed count",
  parseSecrets: "reads the operator's settings",
  parseColumns: "reads rows that we wrote",
  parseJson: "is parseJsonText, which has an entry, with an error",
  parseTranscriptPart: "is parseTranscript, which has an entry, with an error",
  parseItems: "applies a schema to items of a response, one by one",
  readEntries: "passes the entries of a page on, one by one",
  parseWebPage: "is HTMLRewriter, a streaming parser that exists in the Worker only",
  readQuestion: "is analyzeQuestion and gatherEvidence, which have entries",
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
