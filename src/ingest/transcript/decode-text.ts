import chardet from "chardet";
import { append, maxOf } from "../../lists.ts";
import { splitLines } from "./cue-text.ts";

export interface DecodedText {
  text: string;
  /** Name of the encoding (https://encoding.spec.whatwg.org/). */
  encoding: string;
  /** Number of the first line with a byte that isn't text in it, from 1; null without any. */
  badLine: number | null;
}

/** Encodings that are tried, those first that are likelier where nothing tells them apart. */
const CANDIDATES = (
  "windows-1252 windows-1250 windows-1251 windows-1254 windows-1253 windows-1255 windows-1256 " +
  "windows-1257 koi8-r koi8-u iso-8859-2 iso-8859-5 iso-8859-7 iso-8859-6 ibm866 shift_jis " +
  "euc-jp gb18030 big5 euc-kr"
).split(" ");

/** Names of the detector for encodings that are tried under another one. */
const DETECTOR_NAMES: Record<string, string> = {
  "windows-1254": "iso-8859-9",
  "windows-1250": "iso-8859-2",
  "windows-1253": "iso-8859-7",
  "windows-1255": "iso-8859-8",
  "windows-1252": "iso-8859-1",
  "koi8-u": "koi8-r",
};

const MAX_SAMPLE = 8192;
/** Share of zero bytes among the even or the odd ones above which text is UTF-16. */
const MIN_ZERO_SHARE = 0.04;
/** Share of characters that can't be decoded above which a text is in another encoding. */
const MAX_BAD_SHARE = 0.02;

/**
 * Decodes a text file, without its byte-order mark: in the encoding that is asked for, else in
 * UTF-16 or UTF-8, also with bad bytes, else in the one in which its words are most
 * plausible. Throws a `RangeError` for an unknown label.
 */
export function decodeText(bytes: Uint8Array, label?: string): DecodedText {
  const encoding = label === undefined ? detectEncoding(bytes) : new TextDecoder(label).encoding;
  const text = new TextDecoder(encoding).decode(bytes);
  const bad = text.indexOf("\uFFFD");
  if (bad < 0) return { text, encoding, badLine: null };
  try {
    new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(bytes);
    return { text, encoding, badLine: null }; // it was written
  } catch {
    return { text, encoding, badLine: splitLines(text.slice(0, bad)).length };
  }
}

export function detectEncoding(bytes: Uint8Array): string {
  return detectUtf16(bytes) ?? (isUtf8(bytes) ? "utf-8" : detectLegacy(bytes));
}

function detectUtf16(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  const head = bytes.subarray(0, 1000);
  if (String.fromCharCode(...head).includes("-->")) return null; // zeros among bytes of ASCII
  const countZeros = (parity: number) =>
    head.filter((byte, i) => byte === 0 && i % 2 === parity).length;
  const [evenZeros, oddZeros] = [countZeros(0), countZeros(1)];
  const minZeros = Math.max(2, (head.length / 2) * MIN_ZERO_SHARE);
  if (oddZeros >= minZeros && evenZeros < oddZeros / 10) return "utf-16le";
  return evenZeros >= minZeros && oddZeros < evenZeros / 10 ? "utf-16be" : null;
}

/**
 * Whether bytes are UTF-8, a few bad ones aside: sequences of several bytes hardly ever come about
 * by chance, those of three or more never.
 */
function isUtf8(bytes: Uint8Array): boolean {
  let [valid, bad] = [0, 0];
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at]!;
    const length =
      byte < 0x80 ? 1 : byte < 0xc2 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0;
    let size = 1;
    while (size < length && (bytes[at + size]! & 0xc0) === 0x80) size++;
    if (length === 0 || size < length) bad++;
    else if (length > 1) valid += length === 2 ? 1 : length;
    at += length === 0 ? 1 : size;
  }
  return bad === 0 || valid > 2 * bad || (bad === 1 && valid > 0);
}

function detectLegacy(bytes: Uint8Array): string {
  const sample = takeSample(bytes);
  const confidences = new Map(
    chardet.analyse(sample).map(({ name, confidence }) => [name.toLowerCase(), confidence / 100]),
  );
  let best = { encoding: "windows-1252", score: -Infinity };
  for (const encoding of CANDIDATES) {
    const text = new TextDecoder(encoding).decode(sample);
    if (text.split("\uFFFD").length - 1 > text.length * MAX_BAD_SHARE) continue;
    const names = [encoding, DETECTOR_NAMES[encoding] ?? encoding];
    const confidence = maxOf(names.map((name) => confidences.get(name) ?? 0));
    const score = plausibility(text) + confidence;
    if (score > best.score + 1e-9) best = { encoding, score };
  }
  return best.encoding;
}

/** Letters beyond ASCII of languages with Latin letters. */
const LATIN_LETTERS = (
  "éèàêçâîôûùëïœæÿü äöüß ñáéíóúü ãõçáéíóúâêôà àèéìòùîó åäöéü æøåéòôêó áéíóúýþæöð äöåéšž " +
  "ąćęłńóśźż čďěňřšťůžýáéíóúľĺŕôä áéíóöőúüű ăâîşţșțéö čćđšž çğıöşüâîûi̇ õäöüšž " +
  "āčēģīķļņšūžōŗ ąčęėįšųūž ëçäéè"
)
  .split(" ")
  .map((letters) => new Set(letters));
const LETTER = /(?!\p{ASCII})\p{L}/gu;
const LATIN_LETTER = /\p{Script=Latin}/u;
const USUAL_SIGN = /[\p{ASCII}“”„‘’‚–—…«»¿¡€£°·♪、。「」『』，！？：；・〜～ー　،؛؟]/gu;

/**
 * Returns how plausible text is, 1 at most: the share of its characters beyond ASCII that are
 * letters of one language, or of another script than the Latin.
 */
function plausibility(text: string): number {
  const letters = text.toLowerCase().match(LETTER) ?? [];
  const latin = letters.filter((letter) => LATIN_LETTER.test(letter));
  const known = LATIN_LETTERS.map((set) => latin.filter((letter) => set.has(letter)).length);
  const signs = text.replaceAll(LETTER, "").replaceAll(USUAL_SIGN, "").length;
  const plausible = letters.length - latin.length + maxOf(known, 0) - signs;
  return plausible / Math.max(1, letters.length + signs);
}

/** Returns the lines with other characters than ASCII, up to `MAX_SAMPLE` bytes of them. */
function takeSample(bytes: Uint8Array): Uint8Array {
  const sample: number[] = [];
  let [start, isAscii] = [0, true];
  for (let at = 0; at <= bytes.length && sample.length < MAX_SAMPLE; at++) {
    const byte = bytes[at] ?? 0x0a;
    if (byte >= 0x80) isAscii = false;
    if (byte !== 0x0a && byte !== 0x0d) continue;
    if (!isAscii)
      append(sample, [...bytes.subarray(start, Math.min(at, start + MAX_SAMPLE)), 0x0a]);
    [start, isAscii] = [at + 1, true];
  }
  return Uint8Array.from(sample);
}
