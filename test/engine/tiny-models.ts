import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  languageNetworks,
  IMAGE_TOKENS,
  SIDE,
  textNetwork,
  visionNetwork,
  WIDTH,
} from "./tiny-onnx.ts";

const LETTERS = Array.from("abcdefghijklmnopqrstuvwxyz0123456789.,:!?-'");
const SPECIAL = ["[PAD]", "[UNK]", "<|im_start|>", "<end_of_utterance>", "<image>"];
SPECIAL.push("<fake_token_around_image>", "<global-img>");
/** Vocabulary of the tiny models: single letters and a few words. */
export const VOCABULARY = [
  ...SPECIAL,
  "User",
  "Assistant",
  "System",
  ...LETTERS,
  ...LETTERS.map((letter) => `##${letter}`),
];
const START = "<|im_start|>";
const END = "<end_of_utterance>";

/** The chat template of SmolVLM. */
const TEMPLATE =
  "<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}" +
  "{% if message['content'][0]['type'] == 'image' %}{{':'}}{% else %}{{': '}}{% endif %}" +
  "{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}" +
  "{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>\n" +
  "{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}";

const PIXELS = {
  do_resize: true,
  do_rescale: true,
  rescale_factor: 1 / 255,
  do_normalize: true,
  image_mean: [0.5, 0.5, 0.5],
  image_std: [0.5, 0.5, 0.5],
};

/** Writes a CLIP with random weights. */
export function writeTinyClip(folder: string): void {
  writeModel(folder, {
    "config.json": { model_type: "clip" },
    "preprocessor_config.json": {
      ...PIXELS,
      feature_extractor_type: "CLIPFeatureExtractor",
      size: { shortest_edge: SIDE },
      do_center_crop: true,
      crop_size: { height: SIDE, width: SIDE },
    },
    ...tokenizer(77, START),
    "onnx/text_model_quantized.onnx": textNetwork("text_embeds", 32, VOCABULARY.length),
    "onnx/vision_model_quantized.onnx": visionNetwork("image_embeds", 32),
  });
}

/** Writes a SigLIP with random weights, larger than the tiny CLIP. */
export function writeTinySiglip(folder: string, dimensions = 48): void {
  writeModel(folder, {
    "config.json": { model_type: "siglip" },
    "preprocessor_config.json": {
      ...PIXELS,
      image_processor_type: "SiglipImageProcessor",
      size: { height: SIDE, width: SIDE },
    },
    ...tokenizer(64),
    "onnx/text_model.onnx": textNetwork("pooler_output", dimensions, VOCABULARY.length),
    "onnx/vision_model.onnx": visionNetwork("pooler_output", dimensions),
  });
}

/** Writes a vision-language model with random weights that stops at the token `end`. */
export function writeTinyVlm(folder: string, end = END): void {
  const networks = Object.entries(languageNetworks(VOCABULARY.length));
  writeModel(folder, {
    "config.json": {
      model_type: "idefics3",
      image_token_id: VOCABULARY.indexOf("<image>"),
      text_config: {
        model_type: "llama",
        num_attention_heads: 1,
        num_key_value_heads: 1,
        num_hidden_layers: 1,
        hidden_size: WIDTH,
        head_dim: WIDTH,
        max_position_embeddings: 256,
      },
    },
    "generation_config.json": { eos_token_id: VOCABULARY.indexOf(end) },
    "preprocessor_config.json": {
      ...PIXELS,
      image_processor_type: "Idefics3ImageProcessor",
      processor_class: "Idefics3Processor",
      do_image_splitting: true,
      size: { longest_edge: 4 * SIDE },
      max_image_size: { longest_edge: SIDE },
    },
    "processor_config.json": {
      processor_class: "Idefics3Processor",
      image_seq_len: IMAGE_TOKENS,
    },
    ...tokenizer(256),
    ...Object.fromEntries(networks.map(([name, file]) => [`onnx/${name}_quantized.onnx`, file])),
  });
}

function tokenizer(length: number, start?: string) {
  const added = SPECIAL.map((content, id) => ({
    id,
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  }));
  return {
    "tokenizer.json": {
      version: "1.0",
      added_tokens: added,
      normalizer: null,
      pre_tokenizer: { type: "BertPreTokenizer" },
      post_processor: start === undefined ? null : startWith(start),
      decoder: { type: "WordPiece", prefix: "##", cleanup: false },
      model: {
        type: "WordPiece",
        unk_token: "[UNK]",
        continuing_subword_prefix: "##",
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(VOCABULARY.map((token, id) => [token, id])),
      },
    },
    "tokenizer_config.json": {
      tokenizer_class: "PreTrainedTokenizer",
      model_max_length: length,
      pad_token: "[PAD]",
      unk_token: "[UNK]",
      eos_token: END,
      chat_template: TEMPLATE,
    },
  };
}

function startWith(token: string) {
  const id = VOCABULARY.indexOf(token);
  const single = [
    { SpecialToken: { id: token, type_id: 0 } },
    { Sequence: { id: "A", type_id: 0 } },
  ];
  const special = { [token]: { id: token, ids: [id], tokens: [token] } };
  return { type: "TemplateProcessing", single, pair: single, special_tokens: special };
}

function writeModel(folder: string, files: Record<string, object>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.isBuffer(content) ? content : JSON.stringify(content));
  }
}
