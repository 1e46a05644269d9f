/** Output of the model for every chunk of audio. */
export interface Script {
  /** Words with a leading space. */
  words: readonly string[];
  /** Seconds from the start of the chunk, in steps of 0.02. */
  start: number;
  end: number;
  /** Index of the detected language in Whisper's list: 0 is English, 2 German. */
  language?: number;
}

const STATE = 16;
const HEADS = 1;
const MELS = 80;
const FFT = 201;
const AUDIO_CONTEXT = 1_500;
const TEXT_CONTEXT = 448;
const VOCABULARY = 51_865;
const [END, START, FIRST_TIME] = [50_257, 50_258, 50_364];
const FIRST_LANGUAGE = START + 1;
/** Prompt tokens of the decoder: start, language and task. */
const PROMPT = 3;
const [F32, F16] = [0, 1];
const ONE_IN_F16 = 0x3c00;

/**
 * Builds a multilingual Whisper model of one layer in whisper.cpp's format. All weights but the
 * decoder's embeddings are zero: each position of a text points at the token that follows it.
 */
export function buildWhisper({ words, start, end, language = 0 }: Script): Buffer {
  const time = (seconds: number) => FIRST_TIME + Math.round(seconds / 0.02);
  const spoken = [time(start), ...words.map((_, at) => at + 1), time(end), END];
  const nextTokens = new Map([[0, FIRST_LANGUAGE + language]]);
  for (const [at, token] of spoken.entries()) nextTokens.set(PROMPT - 1 + at, token);
  const tokens = [...new Set(nextTokens.values())];

  const embeddings = new Uint16Array(VOCABULARY * STATE);
  for (const [at, token] of tokens.entries()) embeddings[token * STATE + at] = ONE_IN_F16;
  const positions = new Float32Array(TEXT_CONTEXT * STATE);
  for (const [position, token] of nextTokens)
    positions[position * STATE + tokens.indexOf(token)] = 100;

  const sizes = [AUDIO_CONTEXT, STATE, HEADS, 1, TEXT_CONTEXT, STATE, HEADS, 1, MELS, F16];
  return Buffer.concat([
    Buffer.from("lmgg"),
    toInts(VOCABULARY, ...sizes),
    toInts(MELS, FFT),
    Buffer.alloc(MELS * FFT * 4),
    listVocabulary([" ", ...words]),
    tensor("encoder.positional_embedding", [STATE, AUDIO_CONTEXT], F32),
    tensor("encoder.conv1.weight", [3, MELS, STATE], F16),
    tensor("encoder.conv1.bias", [1, STATE], F32),
    tensor("encoder.conv2.weight", [3, STATE, STATE], F16),
    tensor("encoder.conv2.bias", [1, STATE], F32),
    ...norm("encoder.ln_post"),
    ...block("encoder.blocks.0", ["attn"]),
    tensor("decoder.positional_embedding", [STATE, TEXT_CONTEXT], F32, positions),
    tensor("decoder.token_embedding.weight", [STATE, VOCABULARY], F16, embeddings),
    ...norm("decoder.ln"),
    ...block("decoder.blocks.0", ["attn", "cross_attn"]),
  ]);
}

function listVocabulary(words: readonly string[]): Buffer {
  const listed = words.flatMap((word) => [toInts(Buffer.byteLength(word)), Buffer.from(word)]);
  return Buffer.concat([toInts(words.length), ...listed]);
}

function block(name: string, attentions: readonly string[]): Buffer[] {
  return [
    ...attentions.flatMap((attention) => [
      ...norm(`${name}.${attention}_ln`),
      ...["query", "value", "out"].flatMap((part) => linear(`${name}.${attention}.${part}`)),
      tensor(`${name}.${attention}.key.weight`, [STATE, STATE], F16),
    ]),
    ...norm(`${name}.mlp_ln`),
    ...linear(`${name}.mlp.0`, STATE, STATE * 4),
    ...linear(`${name}.mlp.2`, STATE * 4, STATE),
  ];
}

function norm(name: string): Buffer[] {
  const ones = new Float32Array(STATE).fill(1);
  return [tensor(`${name}.weight`, [STATE], F32, ones), tensor(`${name}.bias`, [STATE], F32)];
}

function linear(name: string, from = STATE, to = STATE): Buffer[] {
  return [tensor(`${name}.weight`, [from, to], F16), tensor(`${name}.bias`, [to], F32)];
}

function tensor(
  name: string,
  shape: readonly number[],
  type: number,
  values?: Float32Array | Uint16Array,
): Buffer {
  const bytes = shape.reduce((a, b) => a * b, 1) * (type === F16 ? 2 : 4);
  return Buffer.concat([
    toInts(shape.length, Buffer.byteLength(name), type, ...shape),
    Buffer.from(name),
    values ? Buffer.from(values.buffer) : Buffer.alloc(bytes),
  ]);
}

function toInts(...values: number[]): Buffer {
  return Buffer.from(Int32Array.from(values).buffer);
}
