import { SHA256 } from "@stablelib/sha256";

const WORD_DIGITS = 8;

/**
 * SHA-256 of what comes over several requests (FIPS 180-4): its state after `bytes` bytes, whole parts and
 * so whole blocks, goes into the record as hex, and the next request goes on from there.
 */
export function resumeHash(state: string | null, bytes: number): SHA256 {
  const hash = new SHA256();
  if (state === null) return hash;
  const words = Array.from({ length: 8 }, (_, i) =>
    Number.parseInt(state.slice(i * WORD_DIGITS, (i + 1) * WORD_DIGITS), 16),
  );
  return hash.restoreState({
    state: new Int32Array(words),
    buffer: undefined,
    bufferLength: 0,
    bytesHashed: bytes,
  });
}

export function hashState(hash: SHA256): string {
  const { state } = hash.saveState();
  return [...state].map((word) => (word >>> 0).toString(16).padStart(WORD_DIGITS, "0")).join("");
}
