import { SCENES } from "./files.ts";

/** What the platform answered in a journey: facts that another platform may answer otherwise. */
export interface Observations {
  /** Starts of the film's segments, in seconds. */
  boundaries: number[];
  /** Text that was read on each segment of the film. */
  sceneTexts: string[];
  /** Outcome of files that Images can't read: an error code, or the state. */
  damagedImage: string;
  wideImage: string;
  /** Error codes of keyframes that no model could describe. */
  descriptionErrors: string[];
  /** Words of the speech that were recognised, of all; null without a recogniser. */
  recognizedWords: number | null;
  spokenWords: number;
  /** Seconds from `ready` until a search by meaning finds an asset; null if none did. */
  vectorSeconds: number | null;
  /** Cosine of a photo and its own stored vector; null without an image model. */
  imageSimilarity: number | null;
  /** Status of a search with as many asset ids and filter rules as the API takes. */
  largestSearch: number;
  /** Status of a body of over 100 MB, and whether the Worker answered; null if not sent. */
  largeBody: { status: number; byWorker: boolean } | null;
}

/** An assumption about the platform, and what a journey says about it. */
export interface Verdict {
  assumption: string;
  outcome: "holds" | "doesn't hold" | "not checked";
  /** What was seen, or why it wasn't checked. */
  seen: string;
  /** What to change if it doesn't hold. */
  remedy: string;
}

/** Seconds by which a boundary may be off: a sampling interval. */
const BOUNDARY_TOLERANCE = 0.5;
const MIN_WORD_SHARE = 0.7;
const MAX_VECTOR_SECONDS = 60;
const MIN_SIMILARITY = 0.98;
/** Status of a search with unknown ids, whose statement has run. */
const UNKNOWN_IDS = 404;
const BODY = "A body of over 100 MB reaches the Worker, or is refused with 413.";

/** Judges what a journey has seen. */
export function judge(seen: Observations): Verdict[] {
  const starts = SCENES.map(({ start }) => start);
  const isAt = (start: number, at: number | undefined) =>
    at !== undefined && Math.abs(at - start) <= BOUNDARY_TOLERANCE;
  const missingWords = SCENES.flatMap(({ word }, i) =>
    word === null || seen.sceneTexts[i]?.toLowerCase().includes(word) ? [] : [word],
  );
  return [
    verdict(
      "A contact sheet of FRAMES has its tiles row by row, sampled at equal distances.",
      starts.length === seen.boundaries.length &&
        starts.every((start, i) => isAt(start, seen.boundaries[i])),
      `cuts at ${starts.join(", ")} s were found at ${seen.boundaries.join(", ")} s`,
      "src/media/shots/contact-sheet.ts",
    ),
    verdict(
      "A frame of FRAMES is the one at the time that was asked for.",
      missingWords.length === 0,
      missingWords.length === 0
        ? "each scene's text was read on its keyframe"
        : `not read: ${missingWords.join(", ")}`,
      "src/media/frames.ts, or the model that reads text",
    ),
    verdict(
      "Images refuses a file that is cut off with a code that means a damaged file.",
      seen.damagedImage === "unreadable_image",
      seen.damagedImage,
      "MEANINGS in src/media/decoder-errors.ts",
    ),
    verdict(
      "Images refuses an image of over 12,000 pixels with a code that means too large.",
      ["too_large", "http_413"].includes(seen.wideImage),
      seen.wideImage,
      "MEANINGS in src/media/decoder-errors.ts",
    ),
    verdict(
      "A model describes a keyframe as JSON of the schema.",
      seen.descriptionErrors.length === 0,
      seen.descriptionErrors.join(", ") || "each keyframe has a description",
      "src/models/structured-chat.ts",
    ),
    seen.recognizedWords === null
      ? unchecked("Speech is recognised, with times.", "there is no speech recogniser")
      : verdict(
          "Speech is recognised, with times.",
          seen.recognizedWords >= MIN_WORD_SHARE * seen.spokenWords,
          `${seen.recognizedWords} of ${seen.spokenWords} words`,
          "src/models/transcribe.ts",
        ),
    verdict(
      `Vectorize finds a vector within ${MAX_VECTOR_SECONDS} s.`,
      seen.vectorSeconds !== null && seen.vectorSeconds <= MAX_VECTOR_SECONDS,
      seen.vectorSeconds === null ? "not found" : `after ${seen.vectorSeconds.toFixed(1)} s`,
      "docs/operate.md: searches by meaning lag behind",
    ),
    seen.imageSimilarity === null
      ? unchecked("The score of Vectorize is the cosine.", "there is no image embedding model")
      : verdict(
          "The score of Vectorize is the cosine.",
          seen.imageSimilarity >= MIN_SIMILARITY,
          `an image and its own vector: ${seen.imageSimilarity}`,
          "src/store/vectors.ts",
        ),
    verdict(
      "D1 and the index's database take the largest search that the API takes.",
      seen.largestSearch === UNKNOWN_IDS,
      `status ${seen.largestSearch}`,
      "LIMITS in src/config.ts",
    ),
    seen.largeBody === null
      ? unchecked(BODY, "only with --large-body")
      : verdict(
          BODY,
          seen.largeBody.byWorker || seen.largeBody.status === 413,
          `status ${seen.largeBody.status}`,
          "the zone's plan, and MAX_BODY_MB: docs/operate.md",
        ),
  ];
}

function verdict(assumption: string, holds: boolean, seen: string, remedy: string): Verdict {
  return { assumption, outcome: holds ? "holds" : "doesn't hold", seen, remedy };
}

function unchecked(assumption: string, why: string): Verdict {
  return { assumption, outcome: "not checked", seen: why, remedy: "" };
}

/**
 * Compares what two platforms answered, such as a deployment and the stand-ins. Returns the
 * assumptions on which they differ; those that one didn't check are left out.
 */
export function compareObservations(one: Observations, other: Observations): string[] {
  const outcomes = new Map(judge(other).map(({ assumption, outcome }) => [assumption, outcome]));
  return judge(one).flatMap(({ assumption, outcome }) => {
    const otherOutcome = outcomes.get(assumption)!;
    if ([outcome, otherOutcome].includes("not checked") || outcome === otherOutcome) return [];
    return [`${assumption} One ${outcome}, the other ${otherOutcome}.`];
  });
}
