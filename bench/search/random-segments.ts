import { newId } from "../../src/ids.ts";
import { createRandom, drawNormal, type Random } from "../../tools/random-numbers.ts";
import type { SegmentFields } from "../../tools/segment-batch.ts";
import type { Service } from "../../tools/service.ts";
import { loadBatch } from "./load-batch.ts";

const VOCABULARY = 20_000;
const [CAPTION_WORDS, SPEECH_WORDS] = [10, 25];
const VIDEO_SEGMENTS = 1000;
/** Numbers of a stored vector; the loader appends zeros. */
const DIMENSIONS = 64;

/** Makes text of a vocabulary whose words are as frequent as those of English (Zipf's law). */
export function createText(wordCount: number, random: Random): string {
  const words = Array.from({ length: wordCount }, () => `w${Math.floor(VOCABULARY ** random())}`);
  return words.join(" ");
}

export function createSegments(count: number, random: Random): SegmentFields[] {
  let assetId = "";
  return Array.from({ length: count }, (_, i) => {
    if (i % VIDEO_SEGMENTS === 0) assetId = newId("vid");
    return {
      segmentId: `seg_${assetId.slice(4)}${i}`,
      assetId,
      position: i % VIDEO_SEGMENTS,
      caption: createText(CAPTION_WORDS, random),
      transcript: createText(SPEECH_WORDS, random),
      onScreenText: "",
    };
  });
}

/** Loads segments with random vectors into an index of the service's account. */
export async function loadSegments(
  service: Pick<Service, "url" | "account">,
  index: string,
  segments: SegmentFields[],
): Promise<void> {
  const random = createRandom(segments.length);
  for (let at = 0; at < segments.length; at += VIDEO_SEGMENTS) {
    const batch = segments.slice(at, at + VIDEO_SEGMENTS);
    const vectors = () =>
      Float32Array.from({ length: batch.length * DIMENSIONS }, () => drawNormal(random));
    const vectorsOfBatch = { textVectors: vectors(), imageVectors: vectors() };
    await loadBatch(service, index, { segments: batch, ...vectorsOfBatch });
  }
}
