import { basename } from "node:path";
import { type Ability, createAbility, createAbsent } from "./ability.ts";
import type { ChatModel } from "./chat.ts";
import { createChatServer } from "./chat-server.ts";
import { findModels } from "./found-models.ts";
import { loadMasks, MASK_MODEL } from "./masks.ts";
import { MEDIA_MODEL } from "./media-source.ts";
import { loadObjects, OBJECT_MODEL } from "./objects.ts";
import { loadPictureSpace, PICTURE_MODEL, type PictureSpace } from "./picture-space/space.ts";
import { loadSentences, SENTENCE_MODEL, type SentenceEncoder } from "./sentences.ts";
import { findRecognizer, type SpeechRecognizer } from "./speech.ts";
import { loadVoice, VOICE_MODEL } from "./voice.ts";
import { loadWords, WORD_MODEL } from "./words.ts";
import type { WorkFolder } from "./work-folder.ts";

const MODEL_LIMITS = { running: 1, waiting: 64, timeoutMs: 30_000 };
const CHAT_LIMITS = { running: 1, waiting: 64, timeoutMs: 120_000 };
const SPEECH_LIMITS = { running: 1, waiting: 32, timeoutMs: 900_000 };
const MEDIA_LIMITS = { running: 2, waiting: 32, timeoutMs: 120_000 };

/** Everything the engine can do. Loading begins with the call. */
export function createAbilities(folder: WorkFolder) {
  const sentences = loadSentences();
  const found = findModels();
  return {
    sentences: createAbility(SENTENCE_MODEL, () => sentences, MODEL_LIMITS),
    objects: createAbility(OBJECT_MODEL, loadObjects, MODEL_LIMITS),
    words: createAbility(WORD_MODEL, loadWords, MODEL_LIMITS),
    pictures: createPictures(found.pictures, sentences),
    chat: createChat(found.captions),
    masks: createAbility(MASK_MODEL, loadMasks, MODEL_LIMITS),
    voice: createAbility(VOICE_MODEL, loadVoice, MODEL_LIMITS),
    speech: createSpeech(found.speech, folder),
    media: createAbility(MEDIA_MODEL, () => Promise.resolve(), MEDIA_LIMITS),
  };
}

/** A pulled model, else our own. What loads pulled ones is itself loaded only for them. */
function createPictures(
  folder: string | null,
  sentences: Promise<SentenceEncoder>,
): Ability<PictureSpace> {
  if (folder === null) {
    return createAbility(PICTURE_MODEL, () => loadPictureSpace(sentences), MODEL_LIMITS);
  }
  const load = async () => (await import("./joint-model.ts")).loadJointModel(folder);
  return createAbility(basename(folder), load, MODEL_LIMITS);
}

/** A server that was named, else a pulled model. */
function createChat(folder: string | null): Ability<ChatModel> {
  const { LOCAL_LLM_URL: url, LOCAL_LLM_MODEL: model = "", LOCAL_LLM_KEY: key = "" } = process.env;
  if (url) {
    const server = createChatServer({ url, model, key });
    return createAbility(model || url, () => Promise.resolve(server), CHAT_LIMITS);
  }
  if (folder !== null) {
    const load = async () => (await import("./captioner.ts")).loadCaptioner(folder);
    return createAbility(basename(folder), load, CHAT_LIMITS);
  }
  return createAbsent(
    "No language model: set LOCAL_LLM_URL to an OpenAI-compatible server, or pull one: npm run models",
  );
}

/** A pulled model, else what is installed. */
function createSpeech(whisperFile: string | null, folder: WorkFolder): Ability<SpeechRecognizer> {
  const found = findRecognizer(whisperFile, folder);
  if (found) return createAbility(found.model, () => found.load(), SPEECH_LIMITS);
  return createAbsent(
    "No speech recogniser: `npm run models -- pull whisper-base`, " +
      "or install Debian's pocketsphinx and pocketsphinx-en-us.",
  );
}

export type Abilities = ReturnType<typeof createAbilities>;
