import chardet from "chardet";
import { plausibility } from "./text-plausibility.ts";

export interface DecodedText {
  text: string;
  /** Name of the encoding (https://encoding.spec.whatwg.org/). */
  encoding: string;
  /** Number of the first line with a byte that isn't text in it, from 1; null without any. */
  badLine: number | null;
}

/** Encodings that are tried, those first that are likelier where nothing tells them apart. */
const CANDIDATES = [
  "windows-1252",
  "windows-1250",
  "windows-1251",
  "windows-1254",
  "windows-1253",
  "windows-1255",
  "windows-1256",
  "windows-1257",
  "koi8-r",
  "koi8-u",
  "iso-8859-2",
  "iso-8859-5",
  "iso-8859-7",
  "iso-8859-6",
  "ibm866",
  "shift_jis",
  "euc-jp",
  "gb18030",
  "big5",
  "euc-kr",
] as const;

/** Names of the detector for encodings that are tried under another one. */
const DETECTOR_NAMES: Record<string, string> = {
  "windows-1254": "iso-8859-9",
  "windows-1250": "iso-8859-2",
  "windows-1253": "iso-8859-7",
  "windows-1255": "iso-8859-8",
  "windows-1252": "iso-8859-1",
};

/** Characters by which an encoding is judged. */
const MAX_SAMPLE = 8192;
/** Share of zero bytes among the even or the odd ones above which text is UTF-16. */
const MIN_ZERO_SHARE = 0.04;
/** Weight of the detector's statistics beside the plausibility of whole words. */
const DETECTOR_WEIGHT = 0.25;

/**
 * Decodes a text file, without its byte-order mark: in the encoding that is asked for, else in
 * UTF-16 or UTF-8, also with bad bytes, else in the one in which its words are most plausible.
 * Throws a `RangeError` for an unknown label.
 */
export function decodeText(bytes: Uint8Array, label?: string): DecodedText {
  const encoding = label === undefined ? detectEncoding(bytes) : new TextDecoder(label).encoding;
  const text = new TextDecoder(encoding).decode(bytes);
  const bad = findBad(bytes, text, encoding);
  const badLine = bad < 0 ? null : text.slice(0, bad).split(/\r\n|\r|\n/).length;
  return { text, encoding, badLine };
}

/** Returns the position of the first replacement character that isn't in the bytes, or -1. */
function findBad(bytes: Uint8Array, text: string, encoding: string): number {
  if (!text.includes("\uFFFD")) return -1;
  try {
    new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(bytes);
    return -1;
  } catch {
    return text.indexOf("\uFFFD");
  }
}

export function detectEncoding(bytes: Uint8Array): string {
  return detectUtf16(bytes) ?? (isUtf8(bytes) ? "utf-8" : detectLegacy(bytes));
}

/** Returns the UTF-16 encoding of the bytes, null if they are in another one. */
function detectUtf16(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  const head = bytes.subarray(0, 1000);
  const countZeros = (parity: number) =>
    head.filter((byte, i) => byte === 0 && i % 2 === parity).length;
  const [evenZeros, oddZeros] = [countZeros(0), countZeros(1)];
  const minZeros = Math.max(1, (head.length / 2) * MIN_ZERO_SHARE);
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

/** Returns the encoding of text that is neither UTF-8 nor UTF-16. */
function detectLegacy(bytes: Uint8Array): string {
  const sample = takeSample(bytes);
  const confidences = new Map(
    chardet.analyse(sample).map(({ name, confidence }) => [name.toLowerCase(), confidence / 100]),
  );
  let best = { encoding: "windows-1252", score: -Infinity };
  for (const encoding of CANDIDATES) {
    const text = tryDecode(sample, encoding);
    if (text === null) continue;
    const names = [encoding, DETECTOR_NAMES[encoding] ?? encoding];
    const confidence = Math.max(...names.map((name) => confidences.get(name) ?? 0));
    const score = plausibility(text) + DETECTOR_WEIGHT * confidence;
    if (score > best.score + 1e-9) best = { encoding, score };
  }
  return best.encoding;
}

/** Returns the lines with other characters than ASCII, up to `MAX_SAMPLE` bytes of them. */
function takeSample(bytes: Uint8Array): Uint8Array {
  const sample: number[] = [];
  let [start, isAscii] = [0, true];
  for (let at = 0; at <= bytes.length && sample.length < MAX_SAMPLE; at++) {
    const byte = bytes[at] ?? 0x0a;
    if (byte >= 0x80) isAscii = false;
    if (byte !== 0x0a && byte !== 0x0d) continue;
    if (!isAscii) sample.push(...bytes.subarray(start, Math.min(at, start + MAX_SAMPLE)), 0x0a);
    [start, isAscii] = [at + 1, true];
  }
  return Uint8Array.from(sample);
}

function tryDecode(bytes: Uint8Array, encoding: string): string | null {
  const text = new TextDecoder(encoding).decode(bytes);
  const bad = text.split("\uFFFD").length - 1;
  return bad > text.length * MAX_BAD_SHARE ? null : text;
}

/** Share of characters that can't be decoded above which a text is in another encoding. */
const MAX_BAD_SHARE = 0.02;
