import { templateCaption } from "../../local/engine/caption.ts";
import { parseQuery } from "../../src/search/query.ts";
import { type Random } from "../random-numbers.ts";
import { syntheticId, type SegmentFields, VIDEO_SEGMENTS } from "../segment-batch.ts";
import { shuffle } from "../training/random.ts";
import type { Presence } from "./object-names.ts";
import { type QueryForm, shortenCaption } from "./questions.ts";
import { createRelevance } from "./relevance.ts";

/** What the segments of an archive have; in a mixed one, half of them have no caption. */
export const ARCHIVE_CONTENTS = ["text", "images", "both", "mixed"] as const;
/** The same with what a detector finds in images that have no caption. */
export const LABELLED_CONTENTS = ["labelled images", "labelled mixed"] as const;
export type ArchiveContents = (typeof ARCHIVE_CONTENTS | typeof LABELLED_CONTENTS)[number];

/** Photos, by their numbers in a list of the five captions of each. */
export interface ArchivePhotos {
  captions: readonly (readonly string[])[];
  /** What a detector finds in a photo; for labelled contents. */
  labelsOf?: (photo: number) => string[];
  /** Photos that queries ask for; each is in one segment at most. */
  targets: readonly number[];
  /** Photos that fill the archive up. */
  others: readonly number[];
  /** Photos that aren't in the archive, but are asked for. */
  absent: readonly number[];
}

/** A segment, the photo that it shows, and all photos that its image or its text is about. */
export interface ArchiveSegment extends SegmentFields {
  image: number | null;
  photos: number[];
}

/** A query about a photo; null for one about nothing in the archive. */
export interface ArchiveQuery {
  text: string;
  photo: number | null;
}

/** Captions of a photo that may be in a segment; the rest are for queries only. */
const TEXT_CAPTIONS = 3;

/**
 * Returns an archive of `count` segments, each about a photo: first each target, then each of the
 * others, then the others again in random order, as films show a thing more than once. Half of the
 * segments have a caption, a quarter also speech about the same photo, some speech about another
 * one, some are slides that are read aloud. The shares are the same at each size.
 */
export function makeArchive(
  { captions, labelsOf = () => [], targets, others }: ArchivePhotos,
  count: number,
  contents: ArchiveContents,
  random: Random,
): ArchiveSegment[] {
  const pick = (photos: readonly number[]) => photos[Math.floor(random() * photos.length)]!;
  const order = [targets, others].flatMap((photos) =>
    shuffle(photos.length, random).map((at) => photos[at]!),
  );
  return Array.from({ length: count }, (_, at): ArchiveSegment => {
    const photo = order[at] ?? pick(others);
    const other = pick(others);
    const told = tell(captions[photo]!, captions[other]!, random);
    const [base, isLabelled] = readContents(contents);
    const kind = base === "mixed" ? pickKind(random) : base;
    const text = kind === "images" ? NO_TEXT : told.text;
    const hasCaption = kind !== "uncaptioned" && text.caption !== "";
    const labels = isLabelled && !hasCaption ? labelsOf(photo) : [];
    const isAboutTwo = told.isAboutOther && text.transcript !== "";
    return {
      segmentId: syntheticId("seg", at),
      assetId: syntheticId("vid", Math.floor(at / VIDEO_SEGMENTS)),
      position: at % VIDEO_SEGMENTS,
      ...text,
      caption: hasCaption ? text.caption : templateCaption(labels, false),
      labels,
      image: kind === "text" ? null : photo,
      photos: isAboutTwo ? [photo, other] : [photo],
    };
  });
}

function readContents(contents: ArchiveContents) {
  if (contents === "labelled images") return ["images", true] as const;
  if (contents === "labelled mixed") return ["mixed", true] as const;
  return [contents, false] as const;
}

const NO_TEXT = { caption: "", transcript: "", onScreenText: "" };

function pickKind(random: Random): "images" | "uncaptioned" | "both" {
  const share = random();
  if (share < 0.25) return "images";
  return share < 0.5 ? "uncaptioned" : "both";
}

/** Draws the text of a segment from what people wrote about its photo and about another one. */
function tell(own: readonly string[], other: readonly string[], random: Random) {
  const kind = random();
  const [first = "", second = ""] = shuffle(TEXT_CAPTIONS, random).map((at) => own[at]);
  const elsewhere = other[Math.floor(random() * TEXT_CAPTIONS)]!;
  const isAboutOther = kind >= 0.75 && kind < 0.9;
  if (kind >= 0.9) {
    return { text: { caption: "", transcript: second, onScreenText: first }, isAboutOther };
  }
  const spoken = isAboutOther ? elsewhere : second;
  const text = { caption: first, transcript: kind < 0.5 ? "" : spoken, onScreenText: "" };
  return { text, isAboutOther };
}

/**
 * Which captions of a photo queries are made of: those that no segment has, or any, as people also
 * ask in the words that were said.
 */
export type QueryWords = "other" | "any";

/**
 * Returns queries made of captions, in the forms of `shortenCaption`. Every fourth is about a photo
 * that isn't in the archive.
 */
export function makeArchiveQueries(
  { captions, targets, absent }: ArchivePhotos,
  segments: readonly ArchiveSegment[],
  { count, words = "other" }: { count: number; words?: QueryWords | undefined },
  random: Random,
): ArchiveQuery[] {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)]!;
  const forms: readonly QueryForm[] = ["sentence", "half", "words"];
  const shown = new Set(segments.flatMap(({ photos }) => photos));
  const present = targets.filter((photo) => shown.has(photo));
  return Array.from({ length: count }, (_, i) => {
    const photo = pick(i % 4 === 3 ? absent : present);
    const sentences = captions[photo]!;
    const caption = pick(sentences.slice(words === "any" ? 0 : TEXT_CAPTIONS));
    // Without quotation marks, which would ask for a phrase.
    const { plainText } = parseQuery(caption);
    return { photo, text: shortenCaption(plainText, pick(forms), random) };
  });
}

/** Ids of the segments that are relevant to a query, and of those that may be. */
export interface ArchiveJudgment {
  relevantIds: Set<string>;
  unknownIds: Set<string>;
}

/**
 * Creates a judge that returns the relevant segments of a query: those about its photo, and those
 * about a photo whose five captions answer it (`createRelevance`).
 */
export function createArchiveJudge(
  captions: ArchivePhotos["captions"],
  segments: readonly ArchiveSegment[],
): (query: ArchiveQuery) => ArchiveJudgment {
  const segmentsOf = new Map<number, string[]>();
  for (const { segmentId, photos } of segments) {
    for (const photo of photos) {
      const ids = segmentsOf.get(photo) ?? [];
      ids.push(segmentId);
      segmentsOf.set(photo, ids);
    }
  }
  const about = [...segmentsOf];
  const relevance = createRelevance(about.map(([photo]) => captions[photo]!));
  return ({ text, photo: target }) => {
    const presenceOf = relevance(text);
    const presences = about.map(([photo], i) => (photo === target ? "present" : presenceOf(i)));
    const idsOf = (presence: Presence) =>
      about.flatMap(([, ids], i) => (presences[i] === presence ? ids : []));
    const relevantIds = new Set(idsOf("present"));
    const unknownIds = idsOf("unknown").filter((id) => !relevantIds.has(id));
    return { relevantIds, unknownIds: new Set(unknownIds) };
  };
}
