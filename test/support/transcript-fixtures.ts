import { env } from "cloudflare:workers";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { type Client, fixture, type Json } from "./client.ts";
import { segmentIdsOf, assetRefOf } from "./store-queries.ts";

const SRT = `1
00:00:00,000 --> 00:00:04,000
Welcome to the lighthouse.

2
00:00:05,000 --> 00:00:08,000
The keeper lives here
with two goats.
`;

/**
 * Adds a ready video of two segments, 4.5 s each, with a transcript: to a new index, or to one that
 * `exists`.
 */
export async function addTranscribedVideo(
  client: Client,
  index: string,
  exists = false,
): Promise<Json> {
  if (!exists) await client.json("POST", "/index", { json: { index_name: index } });
  const transcript = new File([SRT], "speech.srt");
  const form = { video_file: await fixture("speech.mp4"), transcript };
  const asset = await client.json("POST", `/index/${index}/video`, { form });
  return client.waitForAsset(index, asset);
}

/** Replaces a video's transcript by a file's text or by cues. Returns the ended job. */
export async function submitTranscript(
  client: Client,
  path: string,
  transcript: string | Uint8Array | object[],
): Promise<Json> {
  const bytes = Array.isArray(transcript) ? JSON.stringify(transcript) : transcript;
  const form = { transcript: new File([bytes], "transcript") };
  const { job_id } = await client.json("POST", `${path}/transcript`, { form });
  return client.waitForJob(job_id);
}

/** Returns the transcript of each segment of a video. */
export async function segmentTranscripts(client: Client, path: string): Promise<string[]> {
  const { segments } = await client.json("GET", `${path}/segments`);
  return segments.map(({ transcript }: Json) => transcript);
}

/**
 * Returns the speech vector of each segment, undefined without one. Values are rounded, because a
 * model's last digits depend on the rest of its batch.
 */
export async function speechVectors(video: Json): Promise<(number[] | undefined)[]> {
  const ids = await segmentIdsOf(video);
  const { text } = vectorPair(env, await assetRefOf(video));
  return Promise.all(
    ids.map(async (id) => {
      const [found] = await text.getByIds([`${id}:speech`]);
      return found && Array.from(found.values, (value) => Math.round(value * 1e4) / 1e4);
    }),
  );
}
