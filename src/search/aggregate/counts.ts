import type { Condition } from "../../store/index-database/asset-scope.ts";
import type { GroupKey, Grouping, Sizes } from "../../store/index-database/groups.ts";
import type { CalibrationState } from "../calibration.ts";
import type { QueryInterpretation } from "../query.ts";
import type { Mode } from "../request.ts";

/** What counts are in: segments, their seconds, or the assets that have such a segment. */
export const UNITS = ["segments", "seconds", "assets"] as const;
export type CountUnit = (typeof UNITS)[number];

export interface AggregateRequest {
  /** Empty to count all that is in scope. */
  query: string;
  correct: boolean;
  assetIds: string[];
  conditions: Condition[];
  modes: Mode[];
  grouping: Grouping;
  unit: CountUnit;
  /** Groups to return, the largest first. */
  top: number;
}

/** An exact number if the interval is null, else an expected one with an interval of 90 %. */
export interface CountedNumber {
  count: number;
  interval: [low: number, high: number] | null;
}

interface CountedGroup extends CountedNumber {
  key: GroupKey;
  /** Title of the asset, if each asset is a group; else null. */
  title: string | null;
}

export interface Aggregate {
  groups: CountedGroup[];
  /** The other groups together: what is in several of them counts for each. */
  other: CountedNumber & { groupCount: number };
  total: CountedNumber;
  /** Segments in scope, and how many of them were scored. */
  scope: { segments: number; scored: number };
  interpretation: QueryInterpretation;
  calibration: CalibrationState;
}

export const SIZE_OF_UNIT = {
  segments: "segments",
  seconds: "durationMs",
  assets: "assets",
} as const satisfies Record<CountUnit, keyof Sizes>;

/** Returns a size in a unit. */
export function sizeIn(unit: CountUnit, sizes: Sizes): number {
  return sizes[SIZE_OF_UNIT[unit]] / (unit === "seconds" ? 1000 : 1);
}
