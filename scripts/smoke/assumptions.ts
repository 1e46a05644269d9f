import { CONTACT_SHEET } from "../../src/parameters.ts";
import type { BindingRecord } from "./binding-record.ts";
import {
  checkFrame,
  DAMAGED_IMAGE,
  decodedCodecs,
  countTiles,
  PAGE_IMAGE,
  refusalOf,
  tileSeconds,
  tilesOf,
  WIDE_IMAGE,
} from "./bindings.ts";
import { EDGE_ASSUMPTIONS, type EdgeAssumption } from "./edge-assumptions.ts";
import type { EdgeFacts } from "./edge.ts";
import { CODECS, LONG_RAMP, RAMP, SCENES } from "./files.ts";

/** What a journey through the service has seen. */
export interface JourneyFacts {
  /** Starts of the film's segments, in seconds. */
  boundaries: number[];
  /** Text that was read on each segment of the film. */
  sceneTexts: string[];
  /** Error codes of keyframes that no model could describe. */
  descriptionErrors: string[];
  /** Words of the speech that were recognised, of all; null without a recogniser. */
  recognizedWords: number | null;
  spokenWords: number;
  /** Seconds from `ready` until a search by meaning finds an asset; null if none did. */
  vectorSeconds: number | null;
  /** Status of a search with as many asset ids and filter rules as the API takes. */
  largestSearch: number;
}

/** Facts about a deployment that another platform may answer otherwise. */
export interface Observations {
  /** Null if the ingest failed. */
  journey: JourneyFacts | null;
  /** Null without a probe. */
  bindings: BindingRecord | null;
  /** Null if the service didn't answer. */
  edge: EdgeFacts | null;
}

/** An assumption about the platform, and what was seen of it. */
export interface Verdict {
  assumption: string;
  outcome: "holds" | "doesn't hold" | "not checked";
  /** Whether the service doesn't work without it. */
  essential: boolean;
  /** What was seen, or why it wasn't checked. */
  seen: string;
  /** What follows if it doesn't hold, and what to change. */
  remedy: string;
}

interface Assumption extends Pick<Verdict, "assumption" | "essential" | "remedy"> {
  check: (seen: Observations) => Check;
}

type Check = { holds: boolean; seen: string } | { unchecked: string };

/** Seconds by which a boundary may be off: a sampling interval. */
const BOUNDARY_TOLERANCE = 0.5;
const MIN_WORD_SHARE = 0.7;
const MAX_VECTOR_SECONDS = 120;
const MAX_SCORE_ERROR = 0.01;
/** Status of a search with unknown ids, whose statement has run. */
const UNKNOWN_IDS = 404;
/** Parameters that D1 isn't assumed to take. */
const REFUSED_PARAMETERS = 101;

/** The largest sheet of the detection of shots. */
const FULL_SHEET = {
  tiles: CONTACT_SHEET.maxFrames,
  seconds: CONTACT_SHEET.maxFrames * LONG_RAMP.stepSeconds,
};

const ASSUMPTIONS: readonly Assumption[] = [
  {
    assumption: "A contact sheet of FRAMES has its tiles row by row, all of one size.",
    essential: true,
    remedy: "Shots are wrong: splitContactSheet in src/media/shots/contact-sheet.ts",
    check: ofBindings((bindings) => {
      const seconds = tileSeconds(bindings);
      const isRising = seconds.every((at, i) => i === 0 || at > seconds[i - 1]!);
      return { holds: seconds.length === RAMP.tiles && isRising, seen: tilesOf(bindings) };
    }),
  },
  {
    assumption: "The tiles are the frames at the start of equal parts.",
    essential: false,
    remedy: "Other frames than those asked for: EARLY in src/media/container/clips.ts",
    check: ofBindings((bindings) => {
      const seconds = tileSeconds(bindings);
      const isAtStart = seconds.every((at, i) => Math.abs(at - i) <= RAMP.stepSeconds);
      return { holds: seconds.length === RAMP.tiles && isAtStart, seen: tilesOf(bindings) };
    }),
  },
  {
    assumption: `FRAMES makes a contact sheet of ${FULL_SHEET.tiles} tiles over ${FULL_SHEET.seconds} s.`,
    essential: false, // a refused sheet is halved
    remedy: "Each isolate finds it out at its cost: CONTACT_SHEET.maxFrames in src/parameters.ts",
    check: ofBindings((bindings) => {
      const { made, right } = countTiles(bindings);
      const refused = bindings.fullSheets.flatMap(({ tiles, error }) =>
        error ? [`; ${tiles} were ${refusalOf(error)}`] : [],
      );
      return {
        holds: right === FULL_SHEET.tiles,
        seen: `at most ${made} tiles were made, ${right} of the right frame${refused.join("")}`,
      };
    }),
  },
  {
    assumption: "A frame of FRAMES is the one at the time that was asked for.",
    essential: true,
    remedy: "Keyframes show another moment: src/media/frames.ts",
    check: ofBindings(({ frame }) => checkFrame(frame)),
  },
  {
    assumption: "The decoder, where there is one, decodes the frame that was asked for.",
    essential: false, // a first container may take minutes to be there
    remedy: "Other formats and codecs fail: docs/operate.md#other-codecs",
    check: ofBindings(({ decoder }) =>
      decoder.value === null && decoder.error === null
        ? { unchecked: "the deployment has no decoder" }
        : checkFrame(decoder),
    ),
  },
  {
    assumption: "FRAMES decodes H.264 and the codecs of FRAMES_CODECS, and no others.",
    essential: false,
    remedy: "Set FRAMES_CODECS so in [vars] of wrangler.NAME.toml: docs/operate.md#other-codecs",
    check: ofBindings((bindings) => {
      const decoded = decodedCodecs(bindings);
      const untried = CODECS.filter((name) => !bindings.codecs.some(({ codec }) => codec === name));
      const line = `FRAMES_CODECS = "${decoded.join(",")}"`;
      if (bindings.codecs.length === 0)
        return { unchecked: "there is no encoder for another codec" };
      return {
        holds: bindings.codecs.every(({ codec, isListed }) => isListed === decoded.includes(codec)),
        seen: untried.length > 0 ? `${line}; no encoder here for ${untried.join(", ")}` : line,
      };
    }),
  },
  {
    assumption: "Cuts of a film are found, to half a second.",
    essential: true,
    remedy: "Segments begin at wrong times: src/media/shots/",
    check: ofJourney(({ boundaries }) => {
      const starts = SCENES.map(({ start }) => start);
      const isAt = (start: number, at: number | undefined) =>
        at !== undefined && Math.abs(at - start) <= BOUNDARY_TOLERANCE;
      return {
        holds:
          starts.length === boundaries.length && starts.every((at, i) => isAt(at, boundaries[i])),
        seen: `cuts at ${starts.join(", ")} s were found at ${boundaries.join(", ")} s`,
      };
    }),
  },
  {
    assumption: "The text of each scene is read on its keyframe.",
    essential: true,
    remedy: "On-screen text isn't found: MODELS.describe in src/config.ts",
    check: ofJourney(({ sceneTexts }) => {
      const missing = SCENES.flatMap(({ word }, i) =>
        word === null || sceneTexts[i]?.toLowerCase().includes(word) ? [] : [word],
      );
      return { holds: missing.length === 0, seen: `not read: ${missing.join(", ") || "none"}` };
    }),
  },
  {
    assumption: "Images reads the format and size of an image.",
    essential: true,
    remedy: "No image can be ingested: src/media/pixels/decode-image.ts",
    check: ofBindings(({ images }) => {
      const { value, error } = images[PAGE_IMAGE] ?? { value: null, error: null };
      if (!value) return { holds: false, seen: refusalOf(error) };
      const seen = `${value.format}, ${value.width} × ${value.height}`;
      return { holds: seen === "image/jpeg, 960 × 540", seen };
    }),
  },
  refusedImage(DAMAGED_IMAGE, "that is cut off", "unreadable_image"),
  refusedImage(WIDE_IMAGE, "of over 12,000 pixels in a row", "too_large"),
  {
    assumption: "A model describes a keyframe as JSON of the schema.",
    essential: true,
    remedy: "Keyframes have no captions: src/models/describe.ts",
    check: ofJourney(({ descriptionErrors }) => ({
      holds: descriptionErrors.length === 0,
      seen: descriptionErrors.join(", ") || "each keyframe has a description",
    })),
  },
  {
    assumption: "Workers AI embeds images and texts in one space.",
    essential: false,
    remedy: "Image vectors need a server: docs/models.md, or other input in src/models/",
    check: ofBindings((bindings) => {
      const [text, image] = bindings.embeddings;
      const seen = bindings.embeddings.map(({ input, value, error }) => {
        return `${input}: ${error ? refusalOf(error) : `${value} dimensions`}`;
      });
      const holds = text?.value !== null && text?.value === image?.value;
      return { holds, seen: seen.join(", ") };
    }),
  },
  {
    assumption: "Speech is recognised, with times.",
    essential: true,
    remedy: "Speech isn't found: src/models/transcribe.ts",
    check: ofJourney(({ recognizedWords, spokenWords }) => {
      if (recognizedWords === null) return { unchecked: "there is no speech recogniser" };
      const holds = recognizedWords >= MIN_WORD_SHARE * spokenWords;
      return { holds, seen: `${recognizedWords} of ${spokenWords} words` };
    }),
  },
  {
    assumption: `Vectorize finds a vector within ${MAX_VECTOR_SECONDS} s.`,
    essential: false,
    remedy: "Searches by meaning lag behind an ingest: docs/architecture.md#vectors-appear-late",
    check: ofJourney(({ vectorSeconds }) => ({
      holds: vectorSeconds !== null && vectorSeconds <= MAX_VECTOR_SECONDS,
      seen: vectorSeconds === null ? "not found" : `after ${vectorSeconds.toFixed(1)} s`,
    })),
  },
  {
    assumption: `The score of Vectorize is the cosine, to ${MAX_SCORE_ERROR}.`,
    essential: false,
    remedy: "Scores of hits are off: queryVectors in src/store/vectorize/vectors.ts",
    check: ofBindings(({ vector: { value, error } }) => {
      if (!value) return { holds: false, seen: refusalOf(error) };
      const { cosine, score } = value;
      if (score === null) return { unchecked: "the vector wasn't found in time" };
      return {
        holds: Math.abs(score - cosine) <= MAX_SCORE_ERROR,
        seen: `${score} for ${cosine.toFixed(5)}`,
      };
    }),
  },
  {
    assumption: "D1 takes 100 parameters, values of 2 MB and statements of 100 kB.",
    essential: true,
    remedy: "Requests fail: sql.ts and the statements in src/store/, and LIMITS in src/config.ts",
    check: ofBindings(({ database }) => {
      const refused = database.filter(({ error, size }) => error && size !== REFUSED_PARAMETERS);
      const seen = refused.map(({ limit, size, error }) => `${size} ${limit}: ${error!.code}`);
      return { holds: refused.length === 0, seen: seen.join(", ") || "none was refused" };
    }),
  },
  {
    assumption: "D1 and the index's database take the largest search that the API takes.",
    essential: true,
    remedy: "Such searches fail: LIMITS in src/config.ts",
    check: ofJourney(({ largestSearch: status }) => {
      return { holds: status === UNKNOWN_IDS, seen: `status ${status}` };
    }),
  },
];

function ofBindings(check: (bindings: BindingRecord) => Check): Assumption["check"] {
  return ({ bindings }) => (bindings ? check(bindings) : { unchecked: "only with --env NAME" });
}

function ofEdge(check: EdgeAssumption["check"]): Assumption["check"] {
  return ({ edge }) => (edge ? check(edge) : { unchecked: "the service didn't answer" });
}

function ofJourney(check: (journey: JourneyFacts) => Check): Assumption["check"] {
  return ({ journey }) => (journey ? check(journey) : { unchecked: "the ingest failed" });
}

function refusedImage(at: number, kind: string, meaning: string): Assumption {
  return {
    assumption: `Images refuses an image ${kind} with a code that means so.`,
    essential: false,
    remedy: "The error of the asset misleads: MEANINGS in src/media/decoder-errors.ts",
    check: ofBindings(({ images }) => {
      const error = images[at]?.error;
      return { holds: error?.meaning === meaning, seen: error ? refusalOf(error) : "not refused" };
    }),
  };
}

const ALL: readonly Assumption[] = [
  ...ASSUMPTIONS,
  ...EDGE_ASSUMPTIONS.map((one) => Object.assign({}, one, { check: ofEdge(one.check) })),
];

/** Lists what the smoke test assumes. */
export function listAssumptions(): string[] {
  return ALL.map(({ assumption }) => assumption);
}

/** Judges what was seen of a deployment. */
export function judge(observations: Observations): Verdict[] {
  return ALL.map(({ assumption, essential, remedy, check }) => {
    const checked = check(observations);
    if ("unchecked" in checked) {
      return { assumption, outcome: "not checked", essential, seen: checked.unchecked, remedy };
    }
    const outcome = checked.holds ? "holds" : "doesn't hold";
    return { assumption, outcome, essential, seen: checked.seen, remedy };
  });
}
