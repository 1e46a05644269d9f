import { expect } from "vitest";
import { type Client, fixture, fixtureUrl, type Json, newClient } from "./client.ts";

const SRT = `1
00:00:00,000 --> 00:00:03,000
Welcome to the lighthouse.

2
00:00:03,000 --> 00:00:06,000
The keeper lives here with two goats.
`;

export interface Trip {
  client: Client;
  /** Six seconds of words and a house, with a transcript. */
  video: Json;
  /** LANTERN FESTIVAL, by upload. */
  words: Json;
  /** Boats on a river, by URL. */
  boats: Json;
}

/** A new account with the index `trip`, in it a video and two images, all ready; as they were added. */
export async function buildTrip(): Promise<Trip> {
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
  await Promise.all([video, words, boats].map((asset) => client.settled("trip", asset)));
  return { client, video, words, boats };
}
