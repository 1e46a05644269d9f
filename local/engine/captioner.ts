import { basename } from "node:path";
import { z } from "zod";
import type { ChatAnswer, ChatMessage, ChatModel, ChatRequest } from "./chat.ts";
import { readBase64 } from "./embeddings.ts";
import { EngineError } from "./errors.ts";
import { chooseWeights } from "./found-models.ts";
import { openPicture, readPixels } from "./picture.ts";
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
const MAX_PICTURES = 8;

const ImageProcessor = z.object({ max_image_size: z.object({ longest_edge: z.int() }) });
const Config = z.object({ text_config: z.object({ max_position_embeddings: z.int() }) });

/**
 * A vision-language model of the Idefics3 family (SmolVLM; Marafioti et al., 2025). It always takes
 * the likeliest token, and sees each picture once, stretched to its square (512 pixels), not in tiles.
 */
export async function loadCaptioner(folder: string): Promise<ChatModel> {
  try {
    return await loadModel(folder);
  } catch (cause) {
    const message = `${basename(folder)} can't be loaded: its files are broken or don't fit together. Pull it again.`;
    throw new Error(message, { cause });
  }
}

async function loadModel(folder: string): Promise<ChatModel> {
  const name = basename(folder);
  const options = loadOptions(chooseWeights(folder));
  const processor = await AutoProcessor.from_pretrained(folder, options);
  const model = await AutoModelForImageTextToText.from_pretrained(folder, options);
  const { tokenizer, image_processor: imageProcessor } = processor;
  if (!tokenizer || !imageProcessor) throw new Error(`${name} reads no pictures.`);
  const side = ImageProcessor.parse(imageProcessor.config).max_image_size.longest_edge;
  const context = Config.parse(model.config).text_config.max_position_embeddings;
  imageProcessor.do_resize = false; // pictures come at their final size

  /** What stands for pictures and turns in a prompt may not come from a text. */
  const clean = (text: string) =>
    tokenizer.all_special_tokens.reduce((left, token) => left.replaceAll(token, " "), text);
  const prompt = (messages: readonly ChatMessage[]) => {
    const plain = messages.map(({ role, content }) => ({ role, content: toParts(content, clean) }));
    const text = processor.apply_chat_template(plain, { add_generation_prompt: true });
    if (typeof text !== "string") throw new Error(`${name} has no chat template.`);
    return text;
  };
  prompt([{ role: "user", content: "Hello" }]); // throws where there is no template

  const readInputs = async (messages: readonly ChatMessage[]) => {
    const images = await Promise.all(
      pictureAddresses(messages).map(async (address) => {
        const picture = await openPicture(readBase64(address));
        const { data, width, height } = await readPixels(picture, side, side);
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
      refuseFormat(request);
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
        callback_function: (words: string) => {
          if (signal.aborted) return;
          const piece = text === "" ? words.trimStart() : words;
          text += piece;
          if (piece) onText(piece);
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

function toParts(content: ChatMessage["content"], clean: (text: string) => string) {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  if (parts.length === 0) return [{ type: "text", text: "" }];
  return parts.map((part) =>
    part.type === "text" ? { type: "text", text: clean(part.text) } : { type: "image" },
  );
}

/** In their order. Errors: `too_large`. */
function pictureAddresses(messages: readonly ChatMessage[]): string[] {
  const addresses = messages.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((part) => (part.type === "image_url" ? part.image_url.url : [])),
  );
  if (addresses.length <= MAX_PICTURES) return addresses;
  throw new EngineError("too_large", `At most ${MAX_PICTURES} pictures are looked at in one call.`);
}

/** Errors: `bad_request`. */
function refuseFormat({ response_format: format }: ChatRequest): void {
  if (format === undefined || format.type === "text") return;
  throw new EngineError("bad_request", "This model writes plain text only: no response_format.");
}
