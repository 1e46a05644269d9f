import { el } from "../shared/element.js";
import { lazyPage } from "../shared/lazy-page.js";

/**
 * Renders what stands beside the player of a video: its transcript, and a search by a part of it.
 * The list of its moments is added below the player.
 */
export function videoTools(media, video) {
  const transcript = lazyPage(async () =>
    (await import("../transcripts/transcript.js")).openTranscript(media, video),
  );
  const moments = lazyPage(async () =>
    (await import("./moments.js")).openMoments(media, video, captionNote),
  );
  const { index, start } = media;
  if (start !== null && index) {
    const strip = async () => (await import("./neighbours.js")).openNeighbours(media, video);
    video.closest(".screen").append(lazyPage(strip));
  }
  const part = lazyPage(async () =>
    (await import("../player/time-range-form.js")).timeRangeForm(media, video),
  );
  video.closest(".screen").append(moments);
  return [transcript, part];
}

/** Renders names and values as a description list, without empty values. */
export function factList(facts) {
  const present = facts.filter(([, value]) => value);
  return el(
    "dl",
    {},
    present.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}

/** Formats a value of user metadata. */
export function plain(value) {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Says how the captions of moments were made, if no model that sees images wrote them. */
export function captionNote(moments) {
  if (!moments.some(isTemplateCaption)) return [];
  const text = "Captions here are composed of what detectors found. No language model wrote them.";
  const [pull, llm] = ["npm run models -- pull", "LOCAL_LLM_URL"].map((name) =>
    el("code", {}, name),
  );
  const advice = [" If this service runs offline, ", pull, " or ", llm, " gives better ones."];
  return [el("p.facts", {}, text, advice)];
}

/** Says why a service without a model that sees images finds little. */
export function sightNote(moments) {
  if (!moments.some(isTemplateCaption)) return [];
  const text =
    "This service finds 80 kinds of objects, by their names in English, speech and written words; " +
    "it doesn't understand scenes and actions. If it runs offline, ";
  const pull = el("code", {}, "npm run models -- list");
  return [el("p.facts", {}, text, pull, " names models that find more.")];
}

/** Whether a caption is composed of what detectors found. */
export function isTemplateCaption({ caption, caption_model: model }) {
  return caption !== "" && model === "template";
}
