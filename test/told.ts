import { env } from "cloudflare:workers";
import { type Client, fixture, type Json } from "./client.ts";

const SRT = `1
00:00:00,000 --> 00:00:04,000
Welcome to the lighthouse.

2
00:00:05,000 --> 00:00:08,000
The keeper lives here
with two goats.
`;

/** A video of two segments, 4.5 s each, with a transcript, in an index of its own; ready. */
export async function addTold(client: Client, index: string): Promise<Json> {
  await client.json("POST", "/index", { json: { index_name: index } });
  const transcript = new File([SRT], "told.srt");
  const form = { video_file: await fixture("told.mp4"), transcript };
  const asset = await client.json("POST", `/index/${index}/video`, { form });
  return client.settled(index, asset);
}

/** Gives a video another transcript: a file's text, or cues; returns the job once it has ended. */
export async function replaceWith(
  client: Client,
  path: string,
  transcript: string | Uint8Array | object[],
): Promise<Json> {
  const bytes = Array.isArray(transcript) ? JSON.stringify(transcript) : transcript;
  const form = { transcript: new File([bytes], "transcript") };
  const { job_id } = await client.json("POST", `${path}/transcript`, { form });
  return client.finished(job_id);
}

/** What is said in each segment of a video. */
export async function spokenOver(client: Client, path: string): Promise<string[]> {
  const { segments } = await client.json("GET", `${path}/segments`);
  return segments.map(({ transcript }: Json) => transcript);
}

/**
 * The vector of what is said in each segment; undefined where there is none. A model's last digits depend on
 * what else is in a batch.
 */
export async function speechVectors(video: Json): Promise<(number[] | undefined)[]> {
  const { results } = await env.DB.prepare(
    "SELECT segment_id AS id FROM segments WHERE asset_id = ? ORDER BY position",
  )
    .bind(video.asset_id)
    .all<{ id: string }>();
  return Promise.all(
    results.map(async ({ id }) => {
      const [found] = await env.TEXT_VECTORS.getByIds([`${id}:speech`]);
      return found && Array.from(found.values, (value) => Math.round(value * 1e4) / 1e4);
    }),
  );
}
