import { basename } from "node:path";
import { type Capability, createCapability, missingCapability } from "./capability.ts";
import { createChatServer } from "./chat-server.ts";
import type { ChatModel } from "./chat.ts";
import { findModels } from "./installed-models.ts";
import { type ImageEncoder, loadImageEncoder } from "./joint-space/features.ts";
import { loadJointSpace, JOINT_SPACE_MODEL, type JointSpace } from "./joint-space/space.ts";
import { loadMasks, MASK_MODEL } from "./masks.ts";
import { createMediaCapabilities, TASK_MS } from "./media-capabilities.ts";
import { loadObjects, OBJECT_MODEL } from "./objects.ts";
import { loadOcr, OCR_MODEL } from "./ocr.ts";
import { commandLine } from "./packages.ts";
import { createQuoteModel, QUOTE_MODEL } from "./quotes/chat-model.ts";
import { loadSentences, SENTENCE_MODEL, type SentenceEncoder } from "./sentences.ts";
import { findPocketsphinx } from "./speech-pocketsphinx.ts";
import { findScripted } from "./speech-scripted.ts";
import { findWhisper } from "./speech-whisper.ts";
import type { FoundRecognizer, SpeechRecognizer } from "./speech.ts";
import { loadVad, VAD_MODEL } from "./vad.ts";
import type { WorkFolder } from "./work-folder.ts";

const MODEL_LIMITS = { concurrency: 1, maxWaiting: 64, timeoutMs: TASK_MS };
const CHAT_LIMITS = { concurrency: 1, maxWaiting: 64, timeoutMs: TASK_MS };
const SPEECH_LIMITS = { concurrency: 1, maxWaiting: 32, timeoutMs: 900_000 };

const NO_LANGUAGE_MODEL =
  "No language model: set LOCAL_LLM_URL to an OpenAI-compatible server, " +
  `or pull one: ${commandLine("models", "list")}`;

/** Creates all capabilities of the engine and starts loading their models. */
export function createCapabilities(folder: WorkFolder) {
  const encoder = loadSentences();
  const images = loadImageEncoder();
  const installed = findModels();
  const sentences = createCapability(SENTENCE_MODEL, () => encoder, MODEL_LIMITS);
  const loadQuotes = async () => createQuoteModel(sentences, NO_LANGUAGE_MODEL);
  return {
    sentences,
    objects: createCapability(OBJECT_MODEL, () => loadObjects(images), MODEL_LIMITS),
    ocr: createCapability(OCR_MODEL, loadOcr, MODEL_LIMITS),
    embeddings: createJointSpace(installed.embeddings, images, encoder),
    chat: createChat(installed.captions),
    quotes: createCapability(QUOTE_MODEL, loadQuotes, CHAT_LIMITS),
    masks: createCapability(MASK_MODEL, loadMasks, MODEL_LIMITS),
    vad: createCapability(VAD_MODEL, loadVad, MODEL_LIMITS),
    speech: createSpeech(installed.speech, folder),
    ...createMediaCapabilities(folder),
  };
}

/** Uses a pulled model, else the bundled one. The loader of pulled models is imported on demand. */
function createJointSpace(
  folder: string | null,
  images: Promise<ImageEncoder>,
  sentences: Promise<SentenceEncoder>,
): Capability<JointSpace> {
  if (folder === null) {
    const load = () => loadJointSpace(images, sentences);
    return createCapability(JOINT_SPACE_MODEL, load, MODEL_LIMITS);
  }
  const load = async () => (await import("./joint-model.ts")).loadJointModel(folder);
  return createCapability(basename(folder), load, MODEL_LIMITS);
}

/** Uses the server at `LOCAL_LLM_URL`, else a pulled model. */
function createChat(folder: string | null): Capability<ChatModel> {
  const { LOCAL_LLM_URL: url, LOCAL_LLM_MODEL: model = "", LOCAL_LLM_KEY: key = "" } = process.env;
  if (url) {
    const server = createChatServer({ url, model, key });
    return createCapability(model || url, () => Promise.resolve(server), CHAT_LIMITS);
  }
  if (folder !== null) {
    const load = async () => (await import("./captioner.ts")).loadCaptioner(folder);
    return createCapability(basename(folder), load, CHAT_LIMITS);
  }
  return missingCapability(NO_LANGUAGE_MODEL);
}

/** Uses a pulled model, else an installed program. */
function createSpeech(
  whisperFile: string | null,
  folder: WorkFolder,
): Capability<SpeechRecognizer> {
  const recognizer = findRecognizer(whisperFile, folder);
  if (recognizer) {
    return createCapability(recognizer.model, () => recognizer.load(), SPEECH_LIMITS);
  }
  return missingCapability(
    `No speech recogniser: \`${commandLine("models", "pull whisper-base")}\`, ` +
      "or install Debian's pocketsphinx and pocketsphinx-en-us.",
  );
}

/**
 * Finds the script at `SPEECH_SCRIPT`, else the Whisper file, else PocketSphinx; null without any.
 */
function findRecognizer(whisperFile: string | null, folder: WorkFolder): FoundRecognizer | null {
  const script = process.env["SPEECH_SCRIPT"];
  if (script) return findScripted(script);
  return whisperFile === null ? findPocketsphinx(folder) : findWhisper(whisperFile);
}

export type Capabilities = ReturnType<typeof createCapabilities>;
