import type { IncomingMessage } from "node:http";
import type { Abilities } from "./abilities.ts";
import { readBody } from "./body.ts";
import { labelsNamedBy } from "./coco-names.ts";
import { createChatRoutes } from "./chat-routes.ts";
import { embedInputs, parseInputs } from "./embeddings.ts";
import { captionPicture, describePicture } from "./describe.ts";
import { createMaskRoutes } from "./mask-routes.ts";
import { createMediaRoutes, type MediaStorage } from "./media-routes.ts";
import { MIN_OBJECT_SCORE } from "./objects.ts";
import { readArea, readNumber } from "./parameters.ts";
import { cropPicture, openPicture, type Picture, readRgba } from "./picture.ts";
import { parseTexts, SENTENCE_DIMENSIONS } from "./sentences.ts";
import { createSpeechRoutes } from "./speech-routes.ts";

export interface Call {
  request: IncomingMessage;
  query: URLSearchParams;
  /** Aborts when the caller is gone. */
  signal: AbortSignal;
}

interface Bytes {
  bytes: Buffer;
  contentType: string;
  headers?: Record<string, string>;
}

/** Written piece by piece; the headers go out with the first. */
interface Streamed {
  contentType: string;
  stream: (write: (text: string) => void) => Promise<void>;
}

export type Reply = { json: unknown } | Bytes | Streamed;

/** "POST /path" → what it does. */
export type Routes = Readonly<Record<string, (call: Call) => Promise<Reply>>>;

const MAX_PICTURE_BYTES = 32 * 1024 * 1024;
const MAX_TEXT_BYTES = 4 * 1024 * 1024;
const MAX_EMBEDDINGS_BYTES = 64 * 1024 * 1024;
const SCORES = { min: 0, max: 1 };

export function createRoutes(abilities: Abilities, storage: MediaStorage): Routes {
  const { sentences, objects, words, pictures, chat, masks } = abilities;
  return {
    "POST /sentences": async (call) => {
      const texts = parseTexts(await readBody(call.request, MAX_TEXT_BYTES));
      const vectors = await sentences.use(
        (model, signal) => model.embed(texts, signal),
        call.signal,
      );
      return { json: { model: sentences.model, dimensions: SENTENCE_DIMENSIONS, vectors } };
    },
    "POST /objects": async (call) => {
      const minScore = readNumber(call.query, "min_score", SCORES, MIN_OBJECT_SCORE);
      const target = call.query.get("target");
      const picture = await readPicture(call);
      const found = await objects.use((model) => model.detect(picture, minScore), call.signal);
      const named = target === null ? null : new Set<string>(labelsNamedBy(target));
      const wanted = named === null ? found : found.filter(({ label }) => named.has(label));
      const { width, height } = picture;
      return { json: { model: objects.model, width, height, objects: wanted } };
    },
    "POST /words": async (call) => {
      const picture = await readPicture(call);
      const lines = await words.use((model, signal) => model.read(picture, signal), call.signal);
      return { json: { model: words.model, lines } };
    },
    "POST /describe": async (call) => {
      const picture = await readPicture(call);
      const [found, lines, caption] = await Promise.all([
        objects.use((model) => model.detect(picture, MIN_OBJECT_SCORE), call.signal),
        words.use((model, signal) => model.read(picture, signal), call.signal),
        captionPicture(chat, picture, call.signal),
      ]);
      return { json: describePicture(found, lines, caption) };
    },
    "POST /crop": async (call) => {
      const area = readArea(call.query);
      return { bytes: await cropPicture(await readPicture(call), area), contentType: "image/png" };
    },
    "POST /pixels": async (call) => ({
      bytes: await readRgba(await readPicture(call)),
      contentType: "application/octet-stream",
    }),
    "POST /v1/embeddings": async (call) => {
      const body = await readBody(call.request, MAX_EMBEDDINGS_BYTES);
      const inputs = parseInputs(body, pictures.model);
      const list = await pictures.use(
        (space, signal) => embedInputs(space, pictures.model, inputs, signal),
        call.signal,
      );
      return { json: list };
    },
    ...createChatRoutes(chat),
    ...createMaskRoutes(objects, masks, readPicture),
    ...createMediaRoutes(abilities.media, storage),
    ...createSpeechRoutes(abilities, storage),
  };
}

async function readPicture({ request }: Call): Promise<Picture> {
  return openPicture(await readBody(request, MAX_PICTURE_BYTES));
}
