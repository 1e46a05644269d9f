import { mapConcurrent } from "../../src/concurrency.ts";

/** Work of an ingest on the bytes of a video, in order. */
export const MEDIA_STEPS = [
  "probe",
  "detect_shots",
  "segment",
  "cut_audio",
  "keyframes",
  "index_frames",
] as const;
export type MediaStep = (typeof MEDIA_STEPS)[number];

/** Operations on the bindings. */
export interface OperationCounts {
  /** Ranges read from R2, and their bytes. */
  reads: number;
  readBytes: number;
  /** FRAMES operations. */
  frames: number;
  /** IMAGES operations. */
  images: number;
}

/** Response of the media Worker after one part. */
export interface PartResult {
  minutes: number;
  segments: number;
  partCounts: Record<MediaStep, number>;
  counts: OperationCounts;
}

/** Measurements of all steps of one video. */
export interface MediaMeasurement extends OperationCounts {
  minutes: number;
  segments: number;
  /** Wall-clock seconds by step, for all its parts. */
  seconds: Record<MediaStep, number>;
}

/** Parts of a step that run at the same time: as many as the engine decodes. */
const CONCURRENCY = 2;

/**
 * Runs the media part of an ingest on the media Worker, and nothing else. Reads from R2 take
 * `readLatencyMs` longer. `shotParts` of the detection of shots run at the same time: of the steps
 * here, it alone is run as the ingest runs it, within the memory that parts share.
 */
export async function measureMediaSteps(
  url: string,
  assetId: string,
  signal: AbortSignal,
  readLatencyMs = 0,
  shotParts = CONCURRENCY,
): Promise<MediaMeasurement> {
  const seconds = {
    probe: 0,
    detect_shots: 0,
    segment: 0,
    cut_audio: 0,
    keyframes: 0,
    index_frames: 0,
  };
  const counts: OperationCounts = { reads: 0, readBytes: 0, frames: 0, images: 0 };
  const run = async (step: MediaStep, part: number): Promise<PartResult> => {
    const query = new URLSearchParams({
      asset: assetId,
      step,
      part: String(part),
      read_latency_ms: String(readLatencyMs),
    }).toString();
    const response = await fetch(`${url}/media?${query}`, { method: "POST", signal });
    if (!response.ok) throw new Error(`${step} ${part}: ${response.status}`);
    const result = (await response.json()) as PartResult;
    for (const name of Object.keys(counts) as (keyof OperationCounts)[])
      counts[name] += result.counts[name];
    return result;
  };
  let latest: PartResult | undefined;
  for (const step of MEDIA_STEPS) {
    const startedAt = performance.now();
    const parts: number[] = Array.from(
      { length: latest?.partCounts[step] ?? 1 },
      (_, part) => part,
    );
    const concurrency = step === "detect_shots" ? shotParts : CONCURRENCY;
    const results: PartResult[] = await mapConcurrent(parts, concurrency, (part) =>
      run(step, part),
    );
    seconds[step] = (performance.now() - startedAt) / 1000;
    latest = results.at(-1) ?? latest;
  }
  const { minutes, segments } = latest!;
  return { ...counts, minutes, segments, seconds };
}
