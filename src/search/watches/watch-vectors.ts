import { remember } from "../../isolate-memory.ts";
import { LruCache } from "../../lru-cache.ts";
import { computeQuerySignature, type SignatureQuery } from "../../media/pixels/image-signature.ts";
import { lumaPixels } from "../../media/pixels/luma.ts";
import { hasImageEmbeddings } from "../../models/embed-image.ts";
import {
  putWatchVectors,
  type Watch,
  type WatchQuery,
  type WatchRequest,
  type WatchVectors,
} from "../../store/d1/watches.ts";
import { IMAGE_VECTOR_KINDS, type IndexRef, type VectorKind } from "../../types.ts";
import { embeddingModels } from "../calibration.ts";
import { embedQueryForImages, embedQueryText } from "../embed-query.ts";
import { exampleFromStored, meanDirection } from "../example.ts";
import { embedCaption, embedImages } from "../image-example.ts";
import { type CompiledQuery, compileQuery, type ExampleQuery } from "../query.ts";
import { makeSearchRequest, type Mode, type SearchScope, toSearchScope } from "../request.ts";
import { type QueryVector, toUnit } from "./near-vectors.ts";

/** A watch that new segments are compared with. */
export interface CompiledWatch {
  watch: WatchQuery;
  query: CompiledQuery;
  scope: SearchScope;
  vectors: QueryVector[];
  /** Finds copies of the image; null without one. */
  signature: SignatureQuery | null;
}

/** An example without copies: those are searched for among new segments only. */
const NO_EXAMPLE: ExampleQuery = {
  imageVector: null,
  textVector: null,
  copies: null,
  outage: null,
  exclude: { segmentId: null, assetId: null },
};

/** Makes the example of a watch; null for words alone. Throws what `exampleFromStored` throws. */
async function makeExample(
  env: Env,
  index: IndexRef,
  { similarTo }: WatchRequest,
  image: string | null,
): Promise<ExampleQuery | null> {
  if (similarTo !== null) return exampleFromStored(env, index, similarTo);
  if (image === null) return null;
  const jpeg = Buffer.from(image, "base64");
  return hasImageEmbeddings(env)
    ? { ...NO_EXAMPLE, imageVector: await embedImages(env, [jpeg]) }
    : { ...NO_EXAMPLE, textVector: await embedCaption(env, jpeg) };
}

/**
 * Embeds what a watch searches for: the vectors that a search would query each channel with. Throws
 * what the models throw.
 */
export async function embedWatch(
  env: Env,
  index: IndexRef,
  request: WatchRequest,
  image: string | null,
): Promise<WatchVectors> {
  const example = await makeExample(env, index, request, image);
  const { plainText } = compileQuery(request.query, example);
  const channels: { space: "text" | "image"; vector: number[] }[] = [];
  const queryVector = plainText ? await embedQueryText(env, plainText) : null;
  if (queryVector) channels.push({ space: "text", vector: queryVector });
  if (example?.textVector) channels.push({ space: "text", vector: example.textVector });
  if (hasImageEmbeddings(env)) {
    const words = plainText ? await embedQueryForImages(env, plainText) : null;
    const vector = meanDirection([words, example?.imageVector ?? null]);
    if (vector.length > 0) channels.push({ space: "image", vector });
  }
  const luma = image === null ? null : await lumaPixels(Buffer.from(image, "base64"));
  return {
    models: embeddingModels(env),
    channels: channels.map(({ space, vector }) => ({ space, values: encode(toUnit(vector)) })),
    luma: luma && Buffer.from(luma).toString("base64"),
  };
}

function encode(values: Float32Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString("base64");
}

function decode(text: string): Float32Array {
  return new Float32Array(new Uint8Array(Buffer.from(text, "base64")).buffer);
}

/** Returns the scope of a watch: all assets that its filters admit, whenever they are ready. */
export function toWatchScope({ request }: Pick<Watch, "request">): SearchScope {
  const { similarTo, conditions, modes, assetTypes } = request;
  const isAsset = similarTo !== null && !similarTo.startsWith("seg_");
  const search = makeSearchRequest({
    topK: 0,
    conditions,
    modes: [...new Set([...(modes as Mode[]), ...assetTypes])],
  });
  return toSearchScope(search, isAsset ? similarTo : null);
}

/** Returns the query of a watch. Its example says which vectors there are, but not their values. */
function toWatchQuery({ request }: Watch, { channels }: WatchVectors): CompiledQuery {
  const { query, similarTo, hasImage } = request;
  if (similarTo === null && !hasImage) return compileQuery(query);
  const isSegment = similarTo?.startsWith("seg_") ?? false;
  const exclude = { segmentId: isSegment ? similarTo : null, assetId: null };
  const textVector = channels.some(({ space }) => space === "text") ? [] : null;
  return compileQuery(query, { ...NO_EXAMPLE, textVector, exclude });
}

/** Watches of this isolate: compiling one takes as long as comparing it with some segments. */
const queries = remember(new LruCache<CompiledQuery>(500));
const signatures = remember(new LruCache<SignatureQuery>(100));

/** Makes a watch ready to compare. Embeds it again if another model is in use now. */
export async function compileWatch(
  env: Env,
  index: IndexRef,
  watch: WatchQuery,
): Promise<CompiledWatch> {
  const { watchId, updatedAt, request, image } = watch;
  const isCurrent = JSON.stringify(watch.vectors?.models) === JSON.stringify(embeddingModels(env));
  const vectors = isCurrent ? watch.vectors! : await embedWatch(env, index, request, image);
  if (!isCurrent) await putWatchVectors(env.DB, watch, vectors);
  const scope = toWatchScope(watch);
  const key = `${watchId} ${updatedAt}`;
  const { luma } = vectors;
  return {
    watch: isCurrent ? watch : { ...watch, vectors, nearest: null },
    query: await queries.get(key, async () => toWatchQuery(watch, vectors)),
    scope,
    vectors: vectors.channels
      .filter(({ space }) => space === "text" || scope.useImageVectors)
      .map(({ space, values }) => ({
        space,
        values: decode(values),
        kinds: kindsOf(space, scope),
      })),
    signature:
      luma === null
        ? null
        : await signatures.get(watchId, async () =>
            computeQuerySignature(new Uint8Array(Buffer.from(luma, "base64"))),
          ),
  };
}

function kindsOf(space: "text" | "image", { textKinds }: SearchScope): ReadonlySet<VectorKind> {
  return new Set<VectorKind>(space === "text" ? textKinds : IMAGE_VECTOR_KINDS);
}
