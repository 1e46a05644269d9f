import { beforeAll, expect, it } from "vitest";
import { makeBox } from "../../src/media/container/mp4-boxes.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import {
  makeEdits,
  makeFragment,
  makeMp4,
  nested,
  repeat,
  withBoxes,
} from "../support/hostile-media.ts";

const MILLION = 1_000_000;
let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "hostile" } });
});

const REFUSED: [string, () => Uint8Array, string][] = [
  [
    "50 million samples in 100 kB",
    () => makeMp4({ sampleCount: 50 * MILLION, sampleBytes: 1, payload: Buffer.alloc(100_000) }),
    "43,200,000 samples in a track",
  ],
  ["2 million boxes", () => withBoxes(makeMp4(), 2 * MILLION), "500,000 boxes"],
  [
    "2 million boxes in boxes",
    () => makeMp4({ inMovie: repeat(makeBox("edts", repeat(makeBox("free"), 9990)), 200) }),
    "10,000 boxes in its index",
  ],
  ["boxes 9,000 deep", () => makeMp4({ inMovie: nested("edts", 9000) }), "16 boxes in boxes"],
  ["1.5 million edits", () => makeMp4({ edits: makeEdits(1.5 * MILLION) }), "1,000 edits"],
  [
    "4 billion samples in a fragment",
    () => {
      const inMovie = makeBox("mvex", makeBox("trex", [0, 1, 1, 40, 1, 0]));
      return Buffer.concat([makeMp4({ sampleCount: 0, inMovie }), makeFragment(4000 * MILLION)]);
    },
    "500,000 samples in a fragment",
  ],
];

it.each(REFUSED)("a video with %s fails by name, once", async (_, make, what) => {
  const form = { video_file: new File([Uint8Array.from(make())], "hostile.mp4") };
  const added: Json = await client.json("POST", "/index/hostile/video", { form });
  const { state, error } = await client.waitForAsset("hostile", added);
  expect({ state, error }).toEqual({
    state: "failed",
    error: { code: "too_large", message: expect.stringContaining(`more than ${what}`) },
  });
});
