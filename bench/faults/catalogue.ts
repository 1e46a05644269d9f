import { MODELS } from "../../src/config.ts";

/** A fault of a stand-in, and the codes with which an asset may truly end because of it. */
export interface Fault {
  /** Name in tables: what fails, and how. */
  name: string;
  /** A model's id, or a binding. */
  target: string;
  fault: string;
  /** Codes of warnings and failures. Empty: the fault passes without a trace. */
  codes: string[];
}

const PASSING = ["3021", "3036", "3040", "3007"];
const DAMAGED_FRAME = ["unreadable_frame"];
const DAMAGED_IMAGE = ["unreadable_image", "unreadable_frame"];

/** Codes by fault of each target. */
const CODES: [name: string, target: string, Record<string, string[]>][] = [
  [
    "description",
    MODELS.describe.id,
    {
      ...passing(PASSING),
      "5006": ["model_request_rejected"],
      "5007": ["model_not_found"],
      "5024": ["model_output_unreadable"],
      malformed: ["model_output_unreadable"],
      cut: ["model_output_unreadable"],
      ...passing(["fenced", "prose"]),
    },
  ],
  [
    "text embedding",
    MODELS.embedText.id,
    { ...passing(PASSING), "5007": ["model_not_found"], ...passing(["malformed"]) },
  ],
  [
    "speech",
    MODELS.transcribe.id,
    { ...passing(PASSING), "5007": ["model_not_found"], malformed: ["upstream_failed"] },
  ],
  [
    "FRAMES",
    "FRAMES",
    {
      ...passing(["9422", "9522", "9504", "9599"]),
      "9401": ["upstream_failed"],
      "9412": DAMAGED_FRAME,
      "9412 coded": DAMAGED_FRAME,
      "9412 cf_resized": DAMAGED_FRAME,
      "9516": DAMAGED_FRAME,
      "9517": DAMAGED_FRAME,
      "9523": ["upstream_failed"],
      malformed: DAMAGED_FRAME,
    },
  ],
  [
    "IMAGES",
    "IMAGES",
    {
      ...passing(["9422", "9522", "9599"]),
      "422": DAMAGED_IMAGE,
      "9401": ["upstream_failed"],
      "9402": ["too_large", "unreadable_frame"],
      "9412": DAMAGED_IMAGE,
      "9412 coded": DAMAGED_IMAGE,
      "9412 cf_resized": DAMAGED_IMAGE,
      "9516": DAMAGED_IMAGE,
      "9517": DAMAGED_IMAGE,
      "9520": DAMAGED_IMAGE,
      "9523": ["upstream_failed"],
    },
  ],
];

function passing(faults: string[]): Record<string, string[]> {
  return Object.fromEntries(faults.map((fault) => [fault, []]));
}

export const FAULTS: readonly Fault[] = CODES.flatMap(([name, target, byFault]) =>
  Object.entries(byFault).map(([fault, codes]) => {
    return { name: `${name} ${fault}`, target, fault, codes };
  }),
);
