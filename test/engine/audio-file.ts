const RATE = 16_000;

/** First two formants of vowels, in Hz (Peterson and Barney, 1952, men). */
const VOWELS = [
  [730, 1_090],
  [270, 2_290],
  [570, 840],
  [530, 1_840],
  [300, 870],
] as const;
const THIRD_FORMANT = 2_500;
const BANDWIDTH = 90;
const SYLLABLES_PER_SECOND = 4;

/** Makes a mono WAV of 16 bits at 16 kHz. */
export function makeWav(samples: Float32Array): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(44 + samples.length * 2);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8);
  for (const [at, value] of [16, 0x10001, RATE, RATE * 2, 0x100002].entries()) {
    bytes.writeUInt32LE(value, 16 + at * 4);
  }
  bytes.write("data", 36);
  bytes.writeUInt32LE(samples.length * 2, 40);
  for (const [at, value] of samples.entries()) {
    bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, value)) * 32_767), 44 + at * 2);
  }
  return bytes;
}

/** Makes digital silence. */
export function makeSilence(seconds: number): Float32Array {
  return new Float32Array(seconds * RATE);
}

export function makeTone(seconds: number, hertz: number): Float32Array {
  return makeSilence(seconds).map((_, at) => Math.sin((2 * Math.PI * hertz * at) / RATE) * 0.3);
}

/** Makes white noise from a fixed seed. */
export function makeNoise(seconds: number, volume: number): Float32Array {
  let seed = 1;
  return makeSilence(seconds).map(() => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return (seed / 2 ** 31 - 1) * volume;
  });
}

/** Synthesises vowels: glottal pulses through formant resonators (Klatt, 1980). */
export function makeVoice(seconds: number): Float32Array {
  const samples = makeSilence(seconds);
  let phase = 0;
  for (let at = 0; at < samples.length; at++) {
    const time = at / RATE;
    phase += (120 + 15 * Math.sin(2 * Math.PI * 0.7 * time)) / RATE;
    if (phase < 1) continue;
    phase -= 1;
    samples[at] = 0.3 + 0.7 * Math.sin(Math.PI * ((time * SYLLABLES_PER_SECOND) % 1));
  }
  for (const formant of [0, 1, 2]) {
    let [last, secondLast] = [0, 0];
    for (let at = 0; at < samples.length; at++) {
      const vowel =
        VOWELS[Math.floor((at / RATE) * SYLLABLES_PER_SECOND) % VOWELS.length] ?? VOWELS[0];
      const hertz = vowel[formant] ?? THIRD_FORMANT;
      const decay = Math.exp((-Math.PI * BANDWIDTH) / RATE);
      const feedback = 2 * decay * Math.cos((2 * Math.PI * hertz) / RATE);
      const value =
        (samples[at] ?? 0) * (1 - feedback + decay * decay) +
        feedback * last -
        decay * decay * secondLast;
      [secondLast, last] = [last, value];
      samples[at] = value;
    }
  }
  const peak = samples.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  return samples.map((value) => (value / peak) * 0.5);
}

export function concatAudio(...parts: Float32Array[]): Float32Array {
  const concatenated = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    concatenated.set(part, end);
    end += part.length;
  }
  return concatenated;
}
