import lexiconData from "../../local/engine/quotes/lexicon.json" with { type: "json" };
import { Lexicon } from "../../local/engine/quotes/lexicon.ts";
import { analyzeQuestion } from "../../local/engine/quotes/question.ts";
import { gatherEvidence } from "../../local/engine/quotes/verifier.ts";
import {
  findQuotations,
  findSentenceEnd,
  normalizeMarkers,
} from "../../src/answer/answer-parser.ts";
import { CitationVerifier, PromptLeakDetector } from "../../src/answer/citation-verifier.ts";
import {
  findContactDetails,
  findNames,
  findNumbers,
  normalizeClaimText,
  numberForms,
} from "../../src/answer/claim-details.ts";
import { CitedText, hasInstruction, namesCredential } from "../../src/answer/claim.ts";
import { quoteByWords, sentencesOf } from "../../src/answer/extractive.ts";
import {
  escapeMarkdown,
  linkMarkers,
  toPlainText,
  toSafeMarkdown,
} from "../../src/answer/markdown.ts";
import { cleanTitle, splitPath } from "../../src/asset-names.ts";
import { cleanText } from "../../src/clean-text.ts";
import { LIMITS } from "../../src/config.ts";
import { toCutList } from "../../src/exports/cut-list.ts";
import { EXPORT_FORMAT_NAMES, exportFormat } from "../../src/exports/formats.ts";
import { dispositionFilename } from "../../src/fetching/download.ts";
import { parseNextLink } from "../../src/fetching/fetch-json.ts";
import { requirePublicUrl } from "../../src/fetching/public-url.ts";
import { parseRange } from "../../src/http/conditional-request.ts";
import { contentDisposition, shortFileName, textFile } from "../../src/http/content-disposition.ts";
import { readUploadMetadata } from "../../src/http/tus.ts";
import { archiveLine } from "../../src/ingest/archive-line.ts";
import { splitLongCues, textByRange } from "../../src/ingest/transcript/cue-times.ts";
import { detectEncoding } from "../../src/ingest/transcript/decode-text.ts";
import { TRANSCRIPT_FILES } from "../../src/ingest/transcript/format.ts";
import { parseTranscript } from "../../src/ingest/transcript/parse.ts";
import { parseJsonText } from "../../src/json-parse.ts";
import { isLanguageTag } from "../../src/language-tag.ts";
import { parseTime, parseZone } from "../../src/media/exif/capture-facts.ts";
import { describeFile, HEAD_BYTES } from "../../src/media/media-type.ts";
import { readDescription } from "../../src/models/describe.ts";
import { ReasoningFilter } from "../../src/models/generate.ts";
import { parseBareProfile, parseProfile } from "../../src/platforms/mastodon.ts";
import { decodeHtml, findVideoObjects, htmlToText, isPlayable } from "../../src/platforms/web.ts";
import { toYouTubeRef } from "../../src/platforms/youtube.ts";
import { readFilter } from "../../src/routes/records/search-request.ts";
import { parseCursor } from "../../src/routes/records/search-result.ts";
import { highlightMatches } from "../../src/search/evidence.ts";
import { contentWords, parseQuery, targetPhrase } from "../../src/search/query.ts";
import { encodeFtsText } from "../../src/store/index-database/fulltext.ts";
import { parseGrouping } from "../../src/store/index-database/groups.ts";
import { parseFrameSignatures } from "../../src/store/r2/frame-signatures.ts";
import { fold, readDigraphs, writeDigraphs } from "../../src/text/fold.ts";
import { detectLanguage, guessLanguage, parseLanguage } from "../../src/text/languages.ts";
import { QueryTerms } from "../../src/text/query-terms.ts";
import type { Asset } from "../../src/types.ts";
import { parseWebUrl } from "../../src/web-url.ts";

/** A function of `src/` that gets text from strangers. */
export interface TextFunction {
  name: string;
  /** Length of the longest text that it may get, in characters. */
  maxCharacters: number;
  run: (text: string) => unknown;
  /** Its time is the square of a length that is short: only the time is limited. */
  isSquare?: true;
}

/** Characters of what a model writes: `ANSWER.maxCharacters`, and less of a description. */
const REPLY = 6000;
/** Characters of a segment's transcript, caption or other field. */
const FIELD = 20_000;
const TITLE = 10_000;
/** Characters of the name of a grouping. */
const GROUPING = 500;
const URL_CHARACTERS = 8000;
/** Characters of a header of a response. */
const HEADER = 64 * 1024;
const SENTENCE = 1000;

const lexicon = new Lexicon(lexiconData);
const toBytes = (text: string) => new TextEncoder().encode(text);
const termsOf = (text: string) => new QueryTerms(parseQuery(text).words);
const highlight = (text: string, query: string) => {
  return highlightMatches(text, termsOf(query).findMatches(text));
};
const evidence = (speech: string) => ({
  title: "A title",
  saidBefore: "",
  speech,
  onScreenText: "",
  caption: "",
  hasImage: false,
  timeRange: null,
});
const verify = (claim: string, source: string, chunkLength = claim.length) => {
  const verifier = new CitationVerifier(new Map([[1, evidence(source)]]), "Answer the question.");
  for (let at = 0; at < claim.length; at += chunkLength) {
    verifier.push(claim.slice(at, at + chunkLength));
  }
  return verifier.end();
};
const QUESTIONS = [
  "What is it?",
  "Who bought the red bus in London?",
  "How many dogs are there?",
  "When did the ferry leave?",
  "Where is it?",
  "Which animal is on the table?",
].map((question) => analyzeQuestion(question, lexicon));
const readArchiveLine = (text: string) => {
  const parsed = parseJsonText(toBytes(text), LIMITS.archiveLineValues);
  return "value" in parsed && archiveLine.safeParse(parsed.value);
};
const settings = { FETCH_ALLOW: "" } as never;
const asProfile = (text: string) => [
  parseProfile({ kind: "profile", username: text }, settings),
  parseProfile({ kind: "profile", url: `https://a.example/${text}` }, settings),
  parseBareProfile({ kind: "profile", url: `https://a.example/${text}` }),
];

/** Beginnings of transcripts, by which a hostile text is taken for one in their format. */
const FORMAT_STARTS = {
  SRT: "1\n00:00:01,000 --> 00:00:02,000\n",
  WebVTT: "WEBVTT\n\n00:01.000 --> 00:02.000\n",
  ASS: "[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,",
  SCC: "Scenarist_SCC V1.0\n\n00:00:00:15\t9420 9420 4162 942f 942f\n",
  TTML: '<tt><body><p begin="1s">',
  LRC: "[00:01.00]a\n[00:02.00]b\n[00:03.00]",
} as const;

/** Functions of a search that get text from strangers, with the longest allowed text. */
export const SEARCH_FUNCTIONS: readonly TextFunction[] = [
  of("parseQuery", LIMITS.queryCharacters, (text) => parseQuery(text)),
  of("targetPhrase", LIMITS.queryCharacters, targetPhrase),
  of("QueryTerms", LIMITS.queryCharacters, termsOf),
  of("fold", FIELD, fold),
  of("readDigraphs", FIELD, readDigraphs),
  of("writeDigraphs", FIELD, writeDigraphs),
  of("contentWords", FIELD, contentWords),
  of("highlightMatches", FIELD, (text) => highlight(text, "x")),
  of("highlightMatches of several words", FIELD, (text) => highlight(text, "x a he said w1 zebra")),
  of("highlightMatches of the longest query", FIELD, (text) => {
    return highlight(text, text.slice(0, LIMITS.queryCharacters));
  }),
  of("encodeFtsText", FIELD, (text) => encodeFtsText(text, guessLanguage(text))),
];

/** Every other function of `src/` that does. */
export const TEXT_FUNCTIONS: readonly TextFunction[] = [
  of("htmlToText", LIMITS.responseBytes, htmlToText),
  of("decodeHtml", LIMITS.webPageBytes, (text) => decodeHtml(toBytes(text), text.slice(0, 200))),
  of("findVideoObjects", LIMITS.webPageBytes, (text) => findVideoObjects([text])),
  of("isPlayable", URL_CHARACTERS, (text) => isPlayable({ url: text })),
  of("parseProfile", URL_CHARACTERS, asProfile),
  of("toYouTubeRef", URL_CHARACTERS, (text) => [
    toYouTubeRef({ kind: "url", url: `https://www.youtube.com/${text}` }),
    toYouTubeRef({ kind: "profile", url: `https://www.youtube.com/${text}` } as never),
  ]),
  of("describeFile", HEAD_BYTES, (text) => describeFile(toBytes(text), undefined)),
  of("parseTranscript", LIMITS.transcriptBytes, (text) => parseTranscript(toBytes(text))),
  of("parseTranscript of UTF-16", LIMITS.transcriptBytes / 2, (text) => {
    return parseTranscript(Buffer.from(`\uFEFF${text}`, "utf16le"));
  }),
  ...Object.entries(FORMAT_STARTS).map(([name, start]) =>
    of(`parseTranscript of ${name}`, LIMITS.transcriptBytes / 4, (text) =>
      parseTranscript(toBytes(start + text)),
    ),
  ),
  of("parseTranscript of an unknown encoding", LIMITS.transcriptBytes / 4, (text) =>
    parseTranscript(Uint8Array.from([0xe9, 0x20, ...toBytes(text)])),
  ),
  of("detectEncoding", LIMITS.transcriptBytes / 4, (text) =>
    detectEncoding(Buffer.from(`\u00e9 ${text.replaceAll("x", "\u00e9")}`, "latin1")),
  ),
  of("splitLongCues", LIMITS.transcriptCharacters, (text) => {
    return splitLongCues([{ start: 0, end: 1000, text }], 1000);
  }),
  ...Object.entries(TRANSCRIPT_FILES).map(([name, { format }]) =>
    of(`format of ${name}`, LIMITS.transcriptCharacters, (text) =>
      format([{ start: 0, end: 1, text }]),
    ),
  ),
  of("textByRange", LIMITS.transcriptCharacters, (text) => {
    const ranges = Array.from(text, (_, i) => ({ start: i, end: i + 1 }));
    return textByRange(
      Array.from(text, (one) => ({ start: 0, end: 1, text: one })),
      ranges,
    );
  }),
  of("toSafeMarkdown", REPLY, toSafeMarkdown),
  of("toPlainText", REPLY, toPlainText),
  of("escapeMarkdown", SENTENCE, escapeMarkdown),
  of("linkMarkers", REPLY, (text) => linkMarkers(text, () => "https://a.example/")),
  of("normalizeMarkers", REPLY, (text) => normalizeMarkers(text, [1, 2])),
  {
    ...of("CitationVerifier", REPLY, (text) => verify(`${text} [1]. `, "x a one")),
    isSquare: true, // reads an unfinished sentence again; a reply has at most REPLY characters
  },
  {
    ...of("CitationVerifier of chunks", REPLY, (text) => {
      return verify(`${text} [1]. `, "x a one", Math.ceil(text.length / 16));
    }),
    isSquare: true, // as above
  },
  of("CitationVerifier of sources", FIELD, (text) => {
    return verify("He said “one two three” at a.example 12 Xy [1]. ", text);
  }),
  of("hasPhrase", FIELD, (text) => new CitedText([evidence(text)]).hasPhrase(text.slice(0, REPLY))),
  of("PromptLeakDetector", REPLY, (text) => new PromptLeakDetector("a b").hasLeak(text)),
  of("findSentenceEnd", REPLY, (text) => findSentenceEnd(text, true, 0)),
  of("findQuotations", REPLY, findQuotations),
  of("normalizeClaimText", FIELD, normalizeClaimText),
  of("findContactDetails", REPLY, findContactDetails),
  of("findNumbers", REPLY, findNumbers),
  of("numberForms", FIELD, numberForms),
  of("findNames", REPLY, (text) => findNames(text, "en")),
  of("detectLanguage", FIELD, detectLanguage),
  of("parseGrouping", GROUPING, parseGrouping),
  of("parseLanguage", LIMITS.languageCharacters, parseLanguage),
  of("isLanguageTag", LIMITS.languageCharacters, isLanguageTag),
  of("hasInstruction", REPLY, hasInstruction),
  of("namesCredential", REPLY, namesCredential),
  of("analyzeQuestion", LIMITS.queryCharacters, (text) => analyzeQuestion(text, lexicon)),
  of("quoteByWords", LIMITS.queryCharacters, (text) => quoteByWords(text, new Map())),
  {
    ...of("gatherEvidence", SENTENCE, (text) => {
      return QUESTIONS.map((question) => gatherEvidence(text, question, lexicon));
    }),
    isSquare: true, // compares the words of a sentence, of which longer ones are dropped
  },
  of("sentencesOf", FIELD, (text) => {
    return sentencesOf({ speech: text, onScreenText: "", caption: "" });
  }),
  of("readDescription", REPLY, readDescription),
  of("ReasoningFilter", REPLY, (text) => {
    const filter = new ReasoningFilter();
    for (let at = 0; at < text.length; at += 4) filter.remove(text.slice(at, at + 4));
    return filter.end();
  }),
  of("parseJsonText", LIMITS.jsonBytes, (text) => parseJsonText(toBytes(text))),
  of("parseRange", URL_CHARACTERS, (text) => parseRange(text, 1000)),
  of("parseCursor", URL_CHARACTERS, (text) => parseCursor(text, "tag")),
  of("contentDisposition", TITLE, (text) => contentDisposition("inline", text)),
  of("textFile", TITLE, (text) => textFile("text/plain", text, "txt", "")),
  of("shortFileName", TITLE, (text) => shortFileName(text, 100)),
  of("cleanTitle", LIMITS.fieldBytes, cleanTitle),
  of("cleanText", LIMITS.transcriptCharacters, cleanText),
  of("parseWebUrl", URL_CHARACTERS, parseWebUrl),
  of("parseFrameSignatures", LIMITS.archiveFileBytes, parseFrameSignatures),
  of("exportFormat", TITLE, (text) => {
    const facts = { assetId: text, title: text, technical: { start_timecode: text } };
    const asset = { ...facts, assetType: "video", fps: 25, durationMs: 1000 } as unknown as Asset;
    const texts = { name: text, url: text, label: text, note: text, score: null };
    const list = toCutList([{ asset, ...texts, startMs: 0, endMs: 1 }], { title: text }, false);
    return EXPORT_FORMAT_NAMES.map((name) => exportFormat(name).format(list));
  }),
  of("readUploadMetadata", LIMITS.metadataBytes, (text) => readUploadMetadata(text, [])),
  of("parseTime", TITLE, parseTime),
  of("parseZone", TITLE, parseZone),
  of("readFilter", LIMITS.jsonBytes, (text) => readFilter({ [text]: text })),
  of("dispositionFilename", HEADER, dispositionFilename),
  of("splitPath", HEADER, splitPath),
  of("dispositionFilename of a name", HEADER, (text) => {
    return dispositionFilename(`attachment; filename="${text}`);
  }),
  of("parseNextLink", HEADER, parseNextLink),
  of("requirePublicUrl", URL_CHARACTERS, (text) => {
    return [text, `http://${text}`, `http://${text}.example/`].map((url) =>
      requirePublicUrl(url, ""),
    );
  }),
  of("archiveLine", LIMITS.archiveLineBytes, (text) => {
    return readArchiveLine(`{"kind":"asset","files":${text}}`);
  }),
  of("archiveLine of segments", LIMITS.archiveLineBytes, (text) => {
    return readArchiveLine(`{"kind":"asset","files":[],"record":{"segments":${text}}}`);
  }),
];

/** Makes an entry whose errors, by which a function refuses a text, are ignored. */
function of(name: string, maxCharacters: number, parse: (text: string) => unknown): TextFunction {
  const run = (text: string) => {
    try {
      return parse(text);
    } catch {
      return undefined;
    }
  };
  return { name, maxCharacters, run };
}
