import { readFile, stat } from "node:fs/promises";
import { extname } from "node:path";

/** The service takes no longer transcript. */
const MAX_BYTES = 8 * 2 ** 20;
/** Extensions of files that are something else more often than a transcript. */
export const AMBIGUOUS = [".tsv", ".json", ".txt"];

/** Starts of cues in the formats of transcripts, as neither prose nor logs have them. */
const CUE_TIMES: readonly RegExp[] = [
  /\d:\d\d(?:[.,:]\d{1,3})?[ \t]{0,9}-{1,2}>[ \t]{0,9}\d{1,3}:\d\d/, // SubRip, WebVTT
  /^Dialogue:[^,\n]{0,40},[ \t]{0,9}\d{1,2}:\d\d:\d\d/m, // ASS
  /[ \t\n]begin=["']\d/, // TTML
  /^\d\d:\d\d:\d\d[:;]\d\d[ \t]{1,9}[\da-f]{4} [\da-f]{4}/im, // SCC
  /^[\d:]{4,9}[.,]\d{1,3}[ ,–—-]{1,3}[\d:]{4,9}[.,]\d{1,3}/m, // SBV, SubViewer
  /^\[\d{1,3}:\d\d\.\d{1,3}\]/m, // LRC
  /^(?:\{\d{1,7}\}\{\d{0,7}\}|\[\d{1,7}\]\[\d{0,7}\])/, // MicroDVD, MPL2
  /^(?:(?:start|begin)\tend\ttext\r?\n)?\d[\d.]{0,12}\t\d[\d.]{0,12}\t/i, // TSV
];
const TIME = /\d:\d\d|\b\d{1,9}[}\]]/;
/** What drones write into subtitles, once in each cue. */
const CAMERA_SETTINGS = /\biso[ :]{1,3}\d/gi;

/** Lists in JSON, with the fields of their items that have text and time. */
const JSON_LISTS = [
  ["cues", "text", "start"],
  ["segments", "text", "start"],
  ["words", "word", "start"],
  ["utterances", "transcript", "start"],
  ["transcription", "text", "offsets"],
  ["chunks", "text", "timestamp"],
  ["events", "segs", "tStartMs"],
] as const;
type JsonLists = Record<string, (Record<string, unknown> | null)[] | undefined>;
/** A list alone, lists by their names, or a response of Deepgram. */
interface JsonFile {
  cues?: JsonLists["cues"];
  results?: { channels?: { alternatives?: JsonLists[] }[] };
}

/**
 * Whether a file has what is said with its times. Others of these names are prose, licences,
 * descriptions of the film, or what a camera measured. Throws if it isn't a file that can be read.
 */
export async function isTranscript(path: string): Promise<boolean> {
  const entry = await stat(path);
  if (!entry.isFile()) throw new Error(`${path} isn't a file.`);
  if (entry.size > MAX_BYTES) return false;
  // Letters and digits of ASCII are right in any encoding.
  const text = (await readFile(path, "latin1")).replaceAll("\0", "").replace(/^[ï»¿ÿþ\s]{1,9}/, "");
  if (/^(?:\{\s{0,99}["}]|\[\s{0,99}(?:[{\]]|null))/.test(text)) return hasJsonCues(text);
  const settings = text.match(CAMERA_SETTINGS)?.length ?? 0;
  if (settings > 0 && settings >= (text.split("-->").length - 1) / 2) return false;
  if (CUE_TIMES.some((pattern) => pattern.test(text))) return true;
  return !AMBIGUOUS.includes(extname(path).toLowerCase()) && TIME.test(text);
}

/** Whether JSON is one of the forms of a transcript that the service reads. */
function hasJsonCues(text: string): boolean {
  try {
    const file: JsonFile | JsonLists["cues"] = JSON.parse(text);
    if (!file) return false;
    const { results, ...lists }: JsonFile = Array.isArray(file) ? { cues: file } : file;
    const spoken = results?.channels?.[0]?.alternatives?.[0];
    return [lists, results, spoken].some((holder: JsonLists | undefined) =>
      JSON_LISTS.some(([name, said, time]) => {
        const items = holder?.[name];
        return items?.some((item) => item?.[said] && /number|object/.test(typeof item[time]));
      }),
    );
  } catch {
    return false;
  }
}
