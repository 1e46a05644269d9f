import { createAbility } from "./ability.ts";
import { MEDIA_MODEL } from "./media-source.ts";
import { loadObjects, OBJECT_MODEL } from "./objects.ts";
import { loadPictureSpace, PICTURE_MODEL } from "./picture-space/space.ts";
import { loadSentences, SENTENCE_MODEL } from "./sentences.ts";
import { loadWords, WORD_MODEL } from "./words.ts";

const MODEL_LIMITS = { running: 1, waiting: 64, timeoutMs: 30_000 };
const MEDIA_LIMITS = { running: 2, waiting: 32, timeoutMs: 120_000 };

/** Everything the engine can do. Loading begins with the call. */
export function createAbilities() {
  const sentences = loadSentences();
  return {
    sentences: createAbility(SENTENCE_MODEL, () => sentences, MODEL_LIMITS),
    objects: createAbility(OBJECT_MODEL, loadObjects, MODEL_LIMITS),
    words: createAbility(WORD_MODEL, loadWords, MODEL_LIMITS),
    pictures: createAbility(PICTURE_MODEL, () => loadPictureSpace(sentences), MODEL_LIMITS),
    media: createAbility(MEDIA_MODEL, () => Promise.resolve(), MEDIA_LIMITS),
  };
}

export type Abilities = ReturnType<typeof createAbilities>;
