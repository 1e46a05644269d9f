import { basename } from "node:path";
import * as z from "zod";
import type { ChatAnswer, ChatMessage, ChatModel, ChatRequest } from "./chat.ts";
import { readBase64 } from "./embeddings.ts";
import { EngineError } from "./errors.ts";
import { openImage, readPixels } from "./image.ts";
import { chooseWeights } from "./installed-models.ts";
import {
  AutoModelForImageTextToText,
  AutoProcessor,
  InterruptableStoppingCriteria,
  loadOptions,
  RawImage,
  Tensor,
  TextStreamer,
} from "./transformers.ts";

const MAX_TOKENS = 512;
const MAX_IMAGES = 8;

const ImageProcessor = z.object({ max_image_size: z.object({ longest_edge: z.int() }) });
const Config = z.object({ text_config: z.object({ max_position_embeddings: z.int() }) });

/**
 * Loads a vision-language model of the Idefics3 family (SmolVLM; Marafioti et al., 2025). Decoding
 * is greedy. Each image is resized to one square (512 pixels) and not split into tiles.
 */
export async function loadCaptioner(folder: string): Promise<ChatModel> {
  try {
    return await loadModel(folder);
  } catch (cause) {
    const message =
      `${basename(folder)} can't be loaded: ` +
      "its files are broken or don't fit together. Pull it again.";
    throw new Error(message, { cause });
  }
}

async function loadModel(folder: string): Promise<ChatModel> {
  const name = basename(folder);
  const options = loadOptions(chooseWeights(folder));
  const processor = await AutoProcessor.from_pretrained(folder, options);
  const model = await AutoModelForImageTextToText.from_pretrained(folder, options);
  const { tokenizer, image_processor: imageProcessor } = processor;
  if (!tokenizer || !imageProcessor) throw new Error(`${name} reads no images.`);
  const side = ImageProcessor.parse(imageProcessor.config).max_image_size.longest_edge;
  const context = Config.parse(model.config).text_config.max_position_embeddings;
  imageProcessor.do_resize = false; // images are resized before

  /** Removes special tokens, which mark images and turns, from text. */
  const removeSpecialTokens = (text: string) =>
    tokenizer.all_special_tokens.reduce((rest, token) => rest.replaceAll(token, " "), text);
  const prompt = (messages: readonly ChatMessage[]) => {
    const cleanMessages = messages.map(({ role, content }) => ({
      role,
      content: toParts(content, removeSpecialTokens),
    }));
    const text = processor.apply_chat_template(cleanMessages, { add_generation_prompt: true });
    if (typeof text !== "string") throw new Error(`${name} has no chat template.`);
    return text;
  };
  prompt([{ role: "user", content: "Hello" }]); // throws without a template

  const readInputs = async (messages: readonly ChatMessage[]) => {
    const images = await Promise.all(
      imageUrls(messages).map(async (url) => {
        const image = await openImage(readBase64(url));
        const { data, width, height } = await readPixels(image, side, side);
        return new RawImage(data, width, height, 3);
      }),
    );
    const text = prompt(messages);
    if (images.length === 0) return tokenizer(text, { add_special_tokens: false });
    return processor(text, images, { do_image_splitting: false });
  };

  return {
    async answer(request, onText, signal) {
      const limit = Math.min(request.max_tokens ?? MAX_TOKENS, MAX_TOKENS);
      requirePlainText(request);
      const inputs = await readInputs(request.messages);
      const promptTokens = Number(inputs.input_ids.dims.at(-1));
      if (promptTokens + limit > context) {
        const message = `The prompt has ${promptTokens} tokens, and ${name} holds ${context}.`;
        throw new EngineError("too_large", message);
      }
      signal.throwIfAborted();
      const stop = new InterruptableStoppingCriteria();
      const interrupt = () => stop.interrupt();
      signal.addEventListener("abort", interrupt, { once: true });
      let text = "";
      const streamer = new TextStreamer(tokenizer, {
        skip_prompt: true,
        callback_function: (delta: string) => {
          if (signal.aborted) return;
          const visible = text === "" ? delta.trimStart() : delta;
          text += visible;
          if (visible) onText(visible);
        },
      });
      try {
        const output = await model.generate({
          ...inputs,
          max_new_tokens: limit,
          do_sample: false,
          stopping_criteria: stop,
          streamer,
        });
        signal.throwIfAborted();
        const tokens = output instanceof Tensor ? Number(output.dims.at(-1)) : promptTokens;
        return toAnswer(name, text, promptTokens, tokens - promptTokens, limit);
      } finally {
        signal.removeEventListener("abort", interrupt);
      }
    },
  };
}

function toAnswer(
  model: string,
  text: string,
  promptTokens: number,
  completionTokens: number,
  limit: number,
): ChatAnswer {
  const finishReason = completionTokens < limit ? "stop" : "length";
  return { model, text, promptTokens, completionTokens, finishReason };
}

function toParts(content: ChatMessage["content"], removeSpecialTokens: (text: string) => string) {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  if (parts.length === 0) return [{ type: "text", text: "" }];
  return parts.map((part) =>
    part.type === "text"
      ? { type: "text", text: removeSpecialTokens(part.text) }
      : { type: "image" },
  );
}

/** Lists the image URLs of messages in order. Errors: `too_large`. */
function imageUrls(messages: readonly ChatMessage[]): string[] {
  const urls = messages.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((part) => (part.type === "image_url" ? part.image_url.url : [])),
  );
  if (urls.length <= MAX_IMAGES) return urls;
  throw new EngineError("too_large", `At most ${MAX_IMAGES} images are accepted in one call.`);
}

/** Rejects structured output. Errors: `bad_request`. */
function requirePlainText({ response_format: format }: ChatRequest): void {
  if (format === undefined || format.type === "text") return;
  throw new EngineError("bad_request", "This model writes plain text only: no response_format.");
}
