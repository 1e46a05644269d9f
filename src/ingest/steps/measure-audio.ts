import { failureOf, isRetryable, traceOf } from "../../errors.ts";
import { log } from "../../log.ts";
import { cutAudio } from "../../media/container/audio.ts";
import { openContainer } from "../../media/container/open-container.ts";
import { hasDecoder } from "../../media/decoder-request.ts";
import { measurePeaksExternally } from "../../media/decoder.ts";
import { cellRange, cellsOf } from "../../media/waveform.ts";
import { mediaKey } from "../../store/r2/object-keys.ts";
import { putAmplitudes } from "../../store/r2/window-analysis.ts";
import type { Asset } from "../../types.ts";
import { countAudioChunks } from "../transcript/audio-chunks.ts";

/** Attempts to measure a part. After them, the asset becomes ready without a waveform. */
const MAX_ATTEMPTS = 3;

/**
 * Measures the amplitudes of one part of sound without pictures, and stores them for the steps that
 * follow. Nothing is stored without a decoder, or of a part that it can't decode.
 */
export async function measureAudio(
  env: Env,
  asset: Asset,
  part: number,
  attempt: number,
): Promise<void> {
  if (!hasDecoder(env)) return;
  try {
    await putAmplitudes(env.MEDIA, asset, part, await measurePart(env, asset, part));
  } catch (error) {
    if (attempt < MAX_ATTEMPTS && isRetryable(error, attempt)) throw error;
    const fields = { asset: asset.assetId, part, code: failureOf(error).code };
    log("warn", "ingest.amplitudes_unavailable", { ...fields, cause: traceOf(error) });
  }
}

async function measurePart(env: Env, asset: Asset, part: number): Promise<Uint8Array> {
  const { count, cellMs } = cellsOf(asset.durationMs);
  const { from, to } = cellRange(count, part, countAudioChunks(asset));
  const range = { start: (from * cellMs) / 1000, end: (to * cellMs) / 1000 };
  using input = await openContainer(env.MEDIA, mediaKey(asset), range);
  const amplitudes = new Uint8Array(to - from);
  for (const { bytes, startSeconds } of input.audio ? await cutAudio(input.audio, range) : []) {
    const start = range.start - startSeconds;
    const cells = { start, step: cellMs / 1000, count: amplitudes.length };
    const measured = await measurePeaksExternally(env, new Blob([bytes]), cells);
    for (const [i, amplitude] of measured.entries()) {
      amplitudes[i] = Math.max(amplitudes[i]!, amplitude);
    }
  }
  return amplitudes;
}
