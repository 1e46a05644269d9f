import { FOOTAGE, SIGNATURE } from "../config.ts";
import type { AssetId, IndexId } from "../ids.ts";
import { bestPlace, dot, sampleArea, viewsOf, WHOLE } from "../media/overlap.ts";
import type { Still } from "../media/sheets.ts";
import { querySignatures } from "../media/signature.ts";
import { type TimedThumbnail, thumbnailsOf, unbarredThumbnailsOf } from "../media/thumbnails.ts";
import { listSegmentsAt, type Span } from "../store/segments.ts";
import { findSignatures, type SignatureMatch } from "../store/signatures.ts";
import { listStills, type StillsRow } from "../store/stills.ts";
import { align, type Alignment, type Pair, type Region, SPEED } from "./align.ts";
import type { Same } from "./likeness.ts";
import { bestOfEach } from "./picture.ts";

/** A still that is looked up, and what of it is stored. */
interface Probe {
  seconds: number;
  matches: SignatureMatch[];
}

/** A stored video that may hold the footage. */
interface Candidate {
  assetId: AssetId;
  pairs: (Pair & { similarity: number })[];
}

/**
 * Where the very same footage is stored, the likest first, by stills of one or more stretches of it: signatures of different ones
 * name the videos, and their stills tell which moments it is, from the first stretch to the last. A picture, and a video whose stills aren't
 * known, is found by its signatures alone, without times.
 */
export async function findFootage(
  db: D1Database,
  indexId: IndexId,
  stretches: Region[],
  stills: Still[],
): Promise<Same[]> {
  const region = { start: stretches[0]!.start, end: stretches.at(-1)!.end };
  const asked = thumbnailsOf(stills);
  const unbarred = unbarredThumbnailsOf(stills);
  const probes: Probe[] = [];
  for (const i of differentOnes(asked)) {
    const query = querySignatures(stills[i]!.grey);
    const matches = await findSignatures(db, indexId, query, SIGNATURE.candidates);
    probes.push({ seconds: stills[i]!.seconds, matches });
  }
  const candidates = candidatesOf(probes);
  const spans: (Span & { similarity: number })[] = [];
  const timed = new Set<string>();
  for (const candidate of candidates) {
    const { assetId, pairs } = candidate;
    const stored = unpack(await listStills(db, windowsOf(candidate, stretches)));
    if (stored.length > 0) timed.add(assetId);
    const forms = unbarred ? [asked, unbarred] : [asked];
    for (const { start, end, similarity } of alignWith(region, forms, stored, pairs)) {
      const [startMs, endMs] = [Math.max(0, Math.round(start * 1000)), Math.round(end * 1000)];
      spans.push({ assetId, startMs, endMs, similarity });
    }
  }
  const untimed = probes
    .flatMap(({ matches }) => matches)
    .filter(({ assetId, similarity }) => similarity >= SIGNATURE.same && !timed.has(assetId))
    .toSorted((a, b) => b.similarity - a.similarity);
  const segments = await listSegmentsAt(db, spans);
  const same = spans.flatMap(({ startMs, endMs, similarity }, i): Same[] => {
    const segment = segments[i];
    if (!segment) return [];
    const span = { startMs, endMs: Math.min(endMs, segment.assetEndMs) };
    return [{ segmentId: segment.segmentId, similarity: round(asOfPictures(similarity)), span }];
  });
  return same.concat(bestOfEach(untimed)).toSorted((a, b) => b.similarity - a.similarity);
}

/** Places of stills that don't look alike, evenly taken, `FOOTAGE.probes` at most. */
function differentOnes(asked: TimedThumbnail[]): number[] {
  const looks = asked.map(({ thumbnail }) => sampleArea(thumbnail, WHOLE, FOOTAGE.thumbnailSide));
  const chosen: number[] = [];
  for (let i = 0; i < FOOTAGE.probes; i++) {
    const at = Math.floor(((i + 0.5) * asked.length) / FOOTAGE.probes);
    const look = looks[at];
    if (look && chosen.every((one) => dot(looks[one]!, look) < FOOTAGE.alike)) chosen.push(at);
  }
  return chosen;
}

/** The videos that most of the probes look like, each probe's best match counting. */
function candidatesOf(probes: Probe[]): Candidate[] {
  const pairs = probes.flatMap(({ seconds, matches }) =>
    matches.flatMap(({ assetId, ms, similarity }) =>
      ms === null || similarity < FOOTAGE.likely
        ? []
        : [{ assetId, asked: seconds, stored: ms / 1000, similarity }],
    ),
  );
  return [...Map.groupBy(pairs, ({ assetId }) => assetId)]
    .map(([assetId, own]) => {
      const best = new Map<number, number>();
      for (const { asked, similarity } of own) {
        best.set(asked, Math.max(similarity, best.get(asked) ?? 0));
      }
      const votes = [...best.values()].reduce((sum, value) => sum + value ** 4, 0);
      const likest = own.toSorted((a, b) => b.similarity - a.similarity);
      return { assetId, pairs: likest.slice(0, FOOTAGE.pairs), votes };
    })
    .toSorted((a, b) => b.votes - a.votes)
    .slice(0, FOOTAGE.videos);
}

/** What a line through one of the pairs may come by, the likest ones first, as much as is looked at. */
function windowsOf({ assetId, pairs }: Candidate, stretches: Region[]): Span[] {
  let windows: Region[] = [];
  for (const { asked, stored } of pairs) {
    const reached = stretches.map(({ start, end }): Region => {
      const [from, to] = [start - asked, end - asked];
      return {
        start: stored + Math.min(SPEED.least * from, SPEED.most * from) - FOOTAGE.slackSeconds,
        end: stored + Math.max(SPEED.least * to, SPEED.most * to) + FOOTAGE.slackSeconds,
      };
    });
    const merged = merge([...windows, ...reached]);
    const seconds = merged.reduce((sum, { start, end }) => sum + end - start, 0);
    if (windows.length > 0 && seconds > FOOTAGE.storedSeconds) break;
    windows = merged;
  }
  return windows.map(({ start, end }) => {
    return { assetId, startMs: Math.floor(start * 1000), endMs: Math.ceil(end * 1000) };
  });
}

/** Stretches in order, those that a row of stills may hold both of as one: none is read twice. */
function merge(stretches: Region[]): Region[] {
  const merged: Region[] = [];
  for (const { start, end } of stretches.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last && start <= last.end + FOOTAGE.rowSeconds) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

function unpack(rows: StillsRow[]): TimedThumbnail[] {
  const length = FOOTAGE.thumbnailSide ** 2;
  return rows.flatMap(({ times, thumbnails }) =>
    times.map((ms, i) => {
      return { seconds: ms / 1000, thumbnail: thumbnails.subarray(i * length, (i + 1) * length) };
    }),
  );
}

/** With the form of the pictures, bars or none, of which a pair fits best. */
function alignWith(
  region: Region,
  forms: TimedThumbnail[][],
  stored: TimedThumbnail[],
  pairs: Pair[],
): Alignment[] {
  const placed = forms.flatMap((asked) => placesIn(asked, stored, pairs));
  if (placed.length === 0) return [];
  const { asked, place } = placed.reduce((a, b) => (b.place.fit > a.place.fit ? b : a));
  const found = align(region, asked, stored, place, pairs);
  return found.filter(({ similarity }) => similarity >= FOOTAGE.same);
}

/** How the footage may lie in the stored pictures. */
function placesIn(asked: TimedThumbnail[], stored: TimedThumbnail[], pairs: Pair[]) {
  return pairs.slice(0, FOOTAGE.placed).flatMap((pair) => {
    const own = asked.find(({ seconds }) => seconds === pair.asked);
    const views = own && viewsOf(own.thumbnail);
    const near = stored.filter(({ seconds }) => Math.abs(seconds - pair.stored) <= 1);
    return views ? near.map((one) => ({ asked, place: bestPlace(views, one.thumbnail) })) : [];
  });
}

/** On the scale of pictures' similarities: what is just the same footage is just the same picture. */
function asOfPictures(similarity: number): number {
  const share = (similarity - FOOTAGE.same) / (1 - FOOTAGE.same);
  return SIGNATURE.same + share * (1 - SIGNATURE.same);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
