import { readBody } from "./body.ts";
import type { Capabilities } from "./capabilities.ts";
import { createChatRoutes } from "./chat-routes.ts";
import { labelsForPhrase } from "./coco-names.ts";
import { createConversionRoutes } from "./conversion-routes.ts";
import { captionImage, describeImage } from "./describe.ts";
import { embedInputs, parseInputs } from "./embeddings.ts";
import { cropImage, flatten, type ImageFile, openImage, readRgba } from "./image.ts";
import { createMaskRoutes } from "./mask-routes.ts";
import { createMediaRoutes, type MediaStorage } from "./media-routes.ts";
import { MIN_OBJECT_SCORE } from "./objects.ts";
import { readArea, readColour, readNumber } from "./parameters.ts";
import type { Call, Routes } from "./route.ts";
import { parseTexts, SENTENCE_DIMENSIONS } from "./sentences.ts";
import { createSpeechRoutes } from "./speech-routes.ts";

const MAX_IMAGE_BYTES = 32 * 1024 * 1024;
const MAX_TEXT_BYTES = 4 * 1024 * 1024;
const MAX_EMBEDDINGS_BYTES = 64 * 1024 * 1024;
const SCORES = { min: 0, max: 1 };

export function createRoutes(capabilities: Capabilities, storage: MediaStorage): Routes {
  const { sentences, objects, ocr, embeddings, chat, quotes, masks } = capabilities;
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
      const image = await readImage(call);
      const found = await objects.use((model) => model.detect(image, minScore), call.signal);
      const labels = target === null ? null : new Set<string>(labelsForPhrase(target));
      const selected = labels === null ? found : found.filter(({ label }) => labels.has(label));
      const { width, height } = image;
      return { json: { model: objects.model, width, height, objects: selected } };
    },
    "POST /ocr": async (call) => {
      const image = await readImage(call);
      const lines = await ocr.use((model, signal) => model.read(image, signal), call.signal);
      return { json: { model: ocr.model, lines } };
    },
    "POST /describe": async (call) => {
      const image = await readImage(call);
      const [found, lines, caption] = await Promise.all([
        objects.use((model) => model.detect(image, MIN_OBJECT_SCORE), call.signal),
        ocr.use((model, signal) => model.read(image, signal), call.signal),
        captionImage(chat, image, call.signal),
      ]);
      return { json: describeImage(found, lines, caption) };
    },
    "POST /crop": async (call) => {
      const area = readArea(call.query);
      return { bytes: await cropImage(await readImage(call), area), contentType: "image/png" };
    },
    "POST /flatten": async (call) => {
      const background = readColour(call.query);
      return { bytes: await flatten(await readImage(call), background), contentType: "image/png" };
    },
    "POST /pixels": async (call) => ({
      bytes: await readRgba(await readImage(call)),
      contentType: "application/octet-stream",
    }),
    "POST /v1/embeddings": async (call) => {
      const body = await readBody(call.request, MAX_EMBEDDINGS_BYTES);
      const inputs = parseInputs(body, embeddings.model);
      const list = await embeddings.use(
        (space, signal) => embedInputs(space, embeddings.model, inputs, signal),
        call.signal,
      );
      return { json: list };
    },
    ...createChatRoutes(chat, quotes),
    ...createMaskRoutes(objects, masks, readImage),
    ...createMediaRoutes(capabilities.media, storage),
    ...createSpeechRoutes(capabilities, storage),
    ...createConversionRoutes(capabilities, storage.folder),
  };
}

async function readImage({ request }: Call): Promise<ImageFile> {
  return openImage(await readBody(request, MAX_IMAGE_BYTES));
}
