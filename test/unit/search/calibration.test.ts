import { expect, it } from "vitest";
import { MODELS } from "../../../src/config.ts";
import {
  CALIBRATIONS,
  calibrationState,
  embeddingModels,
  selectEvidenceModels,
} from "../../../src/search/calibration.ts";
import { hasEnoughText } from "../../../src/search/evidence.ts";
import {
  type CalibrationEntry,
  type EmbeddingModels,
  nearestEntry,
} from "../../../src/search/fuse.ts";

const [OFFLINE, WITHOUT_IMAGES] = CALIBRATIONS;
const LOCAL = {
  TEXT_EMBEDDINGS_MODEL: OFFLINE!.models.text,
  IMAGE_EMBEDDINGS_URL: "http://127.0.0.1/",
  IMAGE_EMBEDDINGS_MODEL: "",
};
const DEPLOYED = { ...LOCAL, TEXT_EMBEDDINGS_MODEL: "", IMAGE_EMBEDDINGS_URL: "" };

it.each([
  ["the offline models", LOCAL, { text: OFFLINE!.models.text, image: "" }, "fitted"],
  [
    "the offline text model alone",
    { ...LOCAL, IMAGE_EMBEDDINGS_URL: "" },
    { text: OFFLINE!.models.text, image: null },
    "fitted",
  ],
  ["a deployment's text model", DEPLOYED, { text: MODELS.embedText.id, image: null }, "borrowed"],
  [
    "a deployment's image model, too",
    { ...DEPLOYED, IMAGE_EMBEDDINGS_MODEL: "@cf/other" },
    { text: MODELS.embedText.id, image: "@cf/other" },
    "borrowed",
  ],
])("with %s, scores come from the right parameters", (_, env, models, state) => {
  expect(embeddingModels(env)).toEqual(models);
  expect(calibrationState(env)).toBe(state);
});

it.each<[EmbeddingModels, number]>([
  [{ text: "a", image: "b" }, 0],
  [{ text: "a", image: null }, 1],
  [{ text: "c", image: "d" }, 2],
  [{ text: "a", image: "other" }, 0],
  [{ text: "c", image: "b" }, 2],
  [{ text: "other", image: "d" }, 2],
  [{ text: "other", image: null }, 1],
  [{ text: "c", image: null }, 1],
  [{ text: "other", image: "other" }, 0],
])("the entry nearest to the models %j is number %d", (models, number) => {
  const entries: CalibrationEntry[] = [
    { ...OFFLINE!, models: { text: "a", image: "b" } },
    { ...OFFLINE!, models: { text: "a", image: null } },
    { ...OFFLINE!, models: { text: "c", image: "d" } },
  ];
  expect(nearestEntry(entries, models)).toBe(entries[number]);
});

it.each([
  ["nothing", 0, 0, false],
  ["images alone", 0, 100, false],
  ["a text among photos", 1, 101, false],
  ["one in four with text", 25, 100, true],
  ["texts alone", 100, 100, true],
])(
  "a search that finds %s expects text of what is relevant or not",
  (_, withText, found, expected) => {
    expect(hasEnoughText(withText, found)).toBe(expected);
  },
);

it("images are scored by a model of their own where hardly a segment has text", () => {
  const query = { plainText: "boat", example: null };
  const { image, imageAlone } = OFFLINE!;
  expect(selectEvidenceModels(OFFLINE!, query, true).visual).toEqual(image);
  expect(selectEvidenceModels(OFFLINE!, query, false).visual).toEqual(imageAlone);
  expect(selectEvidenceModels(WITHOUT_IMAGES!, query, false).visual).toBeNull();
});
