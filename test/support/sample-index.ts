import { expect } from "vitest";
import { type Client, fixture, fixtureUrl, type Json, newClient } from "./client.ts";

const SRT = `1
00:00:00,000 --> 00:00:03,000
Welcome to the lighthouse.

2
00:00:03,000 --> 00:00:06,000
The keeper lives here with two goats.
`;

export interface SampleIndex {
  client: Client;
  /** Video of six seconds with a text and a house, and a transcript. */
  video: Json;
  /** Uploaded image with the text LANTERN FESTIVAL. */
  words: Json;
  /** Image of boats on a river, added by URL. */
  boats: Json;
}

/**
 * Creates an account with the index `trip`, and waits until its video and two images are ready.
 * Returns the records as they were when added.
 */
export async function createSampleIndex(): Promise<SampleIndex> {
  const client = await newClient();
  const created = await client.json("POST", "/init", { json: { name: "Ada" } });
  expect(created).toMatchObject({ name: "Ada", created: true });
  await client.json("POST", "/index", { json: { index_name: "trip", metadata: { year: 2026 } } });
  const video = await client.json("POST", "/index/trip/video", {
    form: {
      metadata_str: '{"camera": "A"}',
      transcript: new File([SRT], "clip.srt"),
      video_file: await fixture("clip.mp4"),
    },
  });
  const form = { image_file: await fixture("words.jpg") };
  const words = await client.json("POST", "/index/trip/image", { form });
  const url = encodeURIComponent(fixtureUrl("boats.jpg"));
  const boats = await client.json("POST", `/index/trip/image?image_url=${url}`);
  await Promise.all([video, words, boats].map((asset) => client.waitForAsset("trip", asset)));
  return { client, video, words, boats };
}
