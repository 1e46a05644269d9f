import { BlobSource, Input, MP4 } from "mediabunny";
import { MODELS } from "../../src/config.ts";
import { AppError, CODES, failureOf } from "../../src/errors.ts";
import { CHECKED_INDEX } from "../../src/ids.ts";
import { cutFrameClip } from "../../src/media/container/clips.ts";
import { withContainerErrors } from "../../src/media/container/open-container.ts";
import { presentWhole } from "../../src/media/container/timeline.ts";
import { decodeExternally, hasDecoder } from "../../src/media/decoder.ts";
import {
  getContactSheetSizing,
  isDecodedByFrames,
  transformByFrames,
  MAX_CLIP_BYTES,
} from "../../src/media/frames.ts";
import { decodeImage, imageOfBytes } from "../../src/media/pixels/decode-image.ts";
import { readImageSize } from "../../src/media/pixels/image-size.ts";
import { lumaPixels } from "../../src/media/pixels/jpeg.ts";
import { inferColumns } from "../../src/media/shots/contact-sheet.ts";
import { embedInImageSpace } from "../../src/models/embed.ts";
import { listPairNumbers } from "../../src/store/d1/shards.ts";
import { concat, d1, raw, sql } from "../../src/store/sql.ts";
import { pairBindings } from "../../src/store/vectorize/vector-pairs.ts";
import type { FrameRecord, Observed, ProbeResults } from "./binding-record.ts";

type ProbeEnv = Env & { PROBE_TOKEN: string };

/** A file, and parameters by name. */
interface Sample {
  bytes: Uint8Array<ArrayBuffer>;
  get: (name: string) => string;
}

/** Calls of the bindings whose behaviour isn't documented, as the service makes them. */
const OBSERVATIONS: {
  [Name in keyof ProbeResults]: (env: ProbeEnv, sample: Sample) => Promise<ProbeResults[Name]>;
} = {
  sheet: observeSheet,
  frame: async ({ FRAMES }, sample) =>
    readFrame(await transformByFrames(FRAMES, toClip(sample), { size: {} })),
  decoder: async (env, sample) =>
    hasDecoder(env) ? readFrame(await decodeExternally(env, toClip(sample), { size: {} })) : null,
  codec: observeCodec,
  async image(env, { bytes }) {
    const { format, width, height } = await decodeImage(env, imageOfBytes(bytes));
    return { format, width, height };
  },
  async embedding({ AI }, { bytes, get }) {
    const input = get("input") === "text" ? { text: "a picture" } : { image: bytes };
    const settings = { IMAGE_EMBEDDINGS_URL: "", IMAGE_EMBEDDINGS_MODEL: MODELS.embedImage.id };
    const { vectors } = await embedInImageSpace({ AI, ...settings }, [input]);
    return vectors[0]!.length;
  },
  vector: observeVector,
  async database({ DB }, { get }) {
    await d1(DB).all`${STATEMENTS[get("limit") as keyof typeof STATEMENTS](Number(get("size")))}`;
    return null;
  },
};

/** Answers the smoke test, which deploys this Worker beside a service and removes it. */
export default {
  async fetch(request, env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (request.headers.get("authorization") !== `Bearer ${env.PROBE_TOKEN}`) {
      return new Response("The token is wrong.", { status: 401 });
    }
    const observation = OBSERVATIONS[pathname.slice(1) as keyof ProbeResults] ?? null;
    if (!observation) return new Response(null, { status: 204 });
    const bytes = new Uint8Array(await request.arrayBuffer());
    const sample = { bytes, get: (name: string) => searchParams.get(name) ?? "" };
    return Response.json(await observe<unknown>(() => observation(env, sample)));
  },
} satisfies ExportedHandler<ProbeEnv>;

/** Makes a call whose failure is a result, too. */
async function observe<Value>(call: () => Promise<Value>): Promise<Observed<Value>> {
  try {
    return { value: await call(), error: null };
  } catch (error) {
    return { value: null, error: { code: platformCodeOf(error), meaning: failureOf(error).code } };
  }
}

/** Returns the code of the platform's error, which may be the cause of one of the service. */
function platformCodeOf(error: unknown): string | null {
  if (error instanceof AppError) return platformCodeOf(error.cause);
  if (!(error instanceof Error)) return null;
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "number" ? String(code) : (error.message.match(CODES)?.[0] ?? null);
}

function toClip({ bytes, get }: Sample) {
  return { file: new Blob([bytes]), codec: "avc", atSeconds: Number(get("at")) } as const;
}

const TILE = { width: 64, height: 36 };

async function observeSheet(
  { FRAMES }: Env,
  { bytes, get }: Sample,
): Promise<ProbeResults["sheet"]> {
  const clip = { file: new Blob([bytes]), codec: "avc", atSeconds: 0 } as const;
  const [count, seconds] = [Number(get("count")), Number(get("seconds"))];
  const contactSheet = { count, seconds, tile: TILE };
  const jpeg = await transformByFrames(FRAMES, clip, { contactSheet });
  const size = requireSize(jpeg);
  const columns = inferColumns(size, count, TILE.width / TILE.height);
  const lumas = await lumaPixels(jpeg, { width: columns, height: Math.ceil(count / columns) });
  const tileLumas = [...lumas].slice(0, count);
  return { ...size, columns, sizeOf: getContactSheetSizing(), tileLumas };
}

/** Cuts a frame out of an MP4, as ingest does, and decodes it by FRAMES. */
async function observeCodec(env: Env, { bytes, get }: Sample): Promise<ProbeResults["codec"]> {
  using input = new Input({ source: new BlobSource(new Blob([bytes])), formats: [MP4] });
  const track = await withContainerErrors(() => input.getPrimaryVideoTrack());
  if (!track) throw new Error("The file has no video track.");
  const clip = await cutFrameClip(presentWhole(track), Number(get("at")), MAX_CLIP_BYTES);
  const frame = await observe(async () =>
    readFrame(await transformByFrames(env.FRAMES, clip, { size: {} })),
  );
  return { isListed: isDecodedByFrames(env, clip.codec), frame };
}

async function readFrame(jpeg: Uint8Array): Promise<FrameRecord> {
  const [luma] = await lumaPixels(jpeg, { width: 1, height: 1 });
  return { ...requireSize(jpeg), luma: luma! };
}

function requireSize(jpeg: Uint8Array) {
  const size = readImageSize(jpeg);
  if (!size) throw new Error("FRAMES answered with something else than a JPEG.");
  return size;
}

/** Writes, queries or deletes a vector of an index that doesn't exist. */
async function observeVector(env: Env, { get }: Sample): Promise<ProbeResults["vector"]> {
  const { text: space } = pairBindings(env, Math.max(...listPairNumbers(env)));
  const [id, namespace] = [get("id"), CHECKED_INDEX];
  const values = Array.from({ length: MODELS.embedText.dimensions }, (_, i) => Math.sin(i));
  const query = values.map((value, i) => value + 0.75 * Math.cos(3 * i));
  const seen = { cosine: dot(values, query) / Math.sqrt(dot(values, values) * dot(query, query)) };
  if (get("do") === "write") await space.upsert([{ id, namespace, values }]);
  if (get("do") === "delete") await space.deleteByIds([id]);
  if (get("do") !== "query") return { ...seen, score: null };
  const { matches } = await space.query(query, { namespace, topK: 50 });
  return { ...seen, score: matches.find((match) => match.id === id)?.score ?? null };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

/** Statements that reach a limit of D1 with a size. They read no table. */
const STATEMENTS = {
  parameters: (size: number) => {
    const values = Array.from({ length: size }, (_, i) => sql`${i}`);
    return sql`SELECT ${concat(values, " + ")} AS sum`;
  },
  value_bytes: (size: number) => sql`SELECT length(${"x".repeat(size)}) AS length`,
  statement_bytes: (size: number) => raw("SELECT 1".padEnd(size)),
};
