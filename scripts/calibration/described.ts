import { encodeBatch } from "../../bench/search/batch.ts";
import { idOf, type Passage, VIDEO_SEGMENTS } from "../../bench/search/corpus.ts";
import type { Service } from "../../bench/service.ts";
import type { CaptionedPhoto } from "../picture-space/captions.ts";
import type { Random } from "../picture-space/random.ts";
import type { Corpus, Truth } from "./corpus.ts";

/** Videos whose scenes people have described, as a model does that sees well: nobody has to look at them. */
export interface DescribedCorpus extends Corpus {
  passages: Passage[];
  /** With the captions that stand in no passage: what is asked about. */
  asked: Corpus;
}

const SECONDS = 5; // a segment
/** Sentences of a photo that may stand in a passage; the rest are for questions. */
const TOLD = 3;
const ABSENT = 0.1;

/**
 * Tells photos as scenes: half of them by two sentences alone, a quarter with a third one spoken, some
 * while one of another photo is spoken, some as slides that are read out. The last photos are left out.
 */
export function describePhotos(photos: CaptionedPhoto[], random: Random): DescribedCorpus {
  const shown = photos.slice(0, Math.floor(photos.length * (1 - ABSENT)));
  const passages: Passage[] = [];
  const [all, asked]: [Truth[], Truth[]] = [[], []];
  for (const [i, { captions }] of shown.entries()) {
    const assetId = idOf("vid", Math.floor(i / VIDEO_SEGMENTS));
    const position = i % VIDEO_SEGMENTS;
    const [first = "", second = "", third = ""] = captions;
    const other = shown[Math.floor(random() * shown.length)]!.captions;
    const kind = random();
    const told = { caption: `${first} ${second}`, transcript: "", onScreenText: "" };
    if (kind >= 0.9) Object.assign(told, { caption: "A page of words.", onScreenText: first });
    if (kind >= 0.5) told.transcript = kind < 0.75 || kind >= 0.9 ? third : other[0]!;
    passages.push({ segmentId: idOf("seg", i), assetId, position, ...told });
    const place = { file: `${assetId}.mp4`, at: (position + 0.5) * SECONDS };
    const contents = kind >= 0.75 && kind < 0.9 ? [captions, other] : [captions];
    for (const texts of contents) {
      all.push({ ...place, captions: texts });
      asked.push({ ...place, captions: texts.slice(TOLD) });
    }
  }
  const absent = photos.slice(shown.length).flatMap(({ captions }) => captions);
  const corpus = { files: [], absent };
  return { ...corpus, truths: all, passages, asked: { ...corpus, truths: asked } };
}

/** Puts the passages into an index as ingest does, but for looking and listening. */
export async function loadPassages(
  { url, account }: Pick<Service, "url" | "account">,
  indexName: string,
  passages: readonly Passage[],
): Promise<void> {
  const none = new Float32Array();
  for (let at = 0; at < passages.length; at += VIDEO_SEGMENTS) {
    const some = passages.slice(at, at + VIDEO_SEGMENTS);
    const response = await fetch(`${url}/load?account=${account}&index=${indexName}&embed=yes`, {
      method: "POST",
      body: encodeBatch({ passages: some, texts: none, pictures: none }),
    });
    if (!response.ok) throw new Error(`/load: ${response.status} ${await response.text()}`);
  }
}
