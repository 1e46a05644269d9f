import { SIGNATURE } from "../config.ts";
import { getGreys, type SeenStretch } from "../store/seen.ts";
import type { Asset, SmallStill } from "../types.ts";
import type { Cut } from "./cut.ts";
import { countFirst } from "./sorted.ts";
import { stretchOf, toShownMs } from "./stretches.ts";

/** What was seen of a video. */
export interface SeenStills {
  /** The stills that begin to be shown in a stretch, in order. */
  within(cut: Cut): SmallStill[];
  /** Their grey pixels, `SIGNATURE.side`² each. */
  greysOf(stills: readonly SmallStill[]): Promise<Uint8Array[]>;
}

/** Of stretches in order, however many: of the large pictures those of one or two are held at a time. */
export function openSeen(bucket: R2Bucket, asset: Asset, stretches: SeenStretch[]): SeenStills {
  const stills = stretches.flatMap((stretch) => stretch.stills);
  const held = new Map<number, Uint8Array | null>();
  const read = async (part: number) => {
    if (!held.has(part)) {
      for (const other of held.keys()) if (Math.abs(other - part) > 1) held.delete(other);
      held.set(part, await getGreys(bucket, asset, part));
    }
    return held.get(part);
  };
  const greyOf = async (still: SmallStill): Promise<Uint8Array[]> => {
    const near = stretchOf(toShownMs(still.seconds));
    // A picture that is on screen as a stretch begins is one of it.
    const part = stretches[near]?.stills.includes(still) ? near : near + 1;
    const at = (stretches[part]?.stills.indexOf(still) ?? -1) * SIGNATURE.side ** 2;
    const greys = at < 0 ? null : await read(part);
    return greys ? [greys.subarray(at, at + SIGNATURE.side ** 2)] : [];
  };
  return {
    within: ({ startMs, endMs }) =>
      stills.slice(firstFrom(stills, startMs), firstFrom(stills, endMs)),
    async greysOf(some) {
      const greys: Uint8Array[] = [];
      for (const still of some) greys.push(...(await greyOf(still)));
      return greys;
    },
  };
}

function firstFrom(stills: readonly SmallStill[], ms: number): number {
  return countFirst(stills, ({ seconds }) => toShownMs(seconds) < ms);
}

/** The grey levels of a thumbnail. */
export function levelsOf(thumbnail: string): Uint8Array {
  const characters = atob(thumbnail);
  const levels = new Uint8Array(characters.length);
  for (let i = 0; i < levels.length; i++) levels[i] = characters.charCodeAt(i);
  return levels;
}
