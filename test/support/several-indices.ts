import { type Client, fixture, type Json, newClient } from "./client.ts";
import { createSampleIndex } from "./sample-index.ts";

export interface SeveralIndices {
  /** Has the indices `trip`, `tower` and `empty`. */
  client: Client;
  /** Has the index `secret`. */
  stranger: Client;
  /** The videos of `trip`, `tower` and `secret`. */
  trip: Json;
  tower: Json;
  foreign: Json;
}

/** Adds an index with a video in which this is said. */
export async function addSpokenVideo(client: Client, index: string, speech: string): Promise<Json> {
  await client.json("POST", "/index", { json: { index_name: index } });
  const form = {
    transcript: new File([`WEBVTT\n\n00:00.000 --> 00:06.000\n${speech}\n`], "speech.vtt"),
    video_file: await fixture("clip.mp4"),
  };
  const asset = await client.json("POST", `/index/${index}/video`, { form });
  return client.waitForAsset(index, asset);
}

/** Creates two accounts; one image is in two indices of the first. */
export async function createSeveralIndices(): Promise<SeveralIndices> {
  const [{ client, video: trip }, stranger] = await Promise.all([createSampleIndex(), newClient()]);
  const [tower, foreign] = await Promise.all([
    addSpokenVideo(client, "tower", "The keeper of the tower lives with two goats and a cat."),
    addSpokenVideo(stranger, "secret", "The keeper of the lighthouse sold three goats in secret."),
  ]);
  const form = { image_file: await fixture("words.jpg") };
  const words = await client.json("POST", "/index/tower/image", { form });
  await client.waitForAsset("tower", words);
  await client.json("POST", "/index", { json: { index_name: "empty" } });
  return { client, stranger, trip, tower, foreign };
}
