import { SHA256 } from "@stablelib/sha256";

const WORD_DIGITS = 8;

/**
 * Resumes a SHA-256 (FIPS 180-4) that several requests compute. `state` is the hex of `hashState`
 * after `bytes` bytes. These are whole parts and so whole blocks: no partial block is stored.
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

/** Returns the eight state words as hex, for the upload's record. */
export function hashState(hash: SHA256): string {
  const { state } = hash.saveState();
  return [...state].map((word) => (word >>> 0).toString(16).padStart(WORD_DIGITS, "0")).join("");
}
