import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/config.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { assetRefOf, OF_ASSET, runInIndex } from "../support/store-queries.ts";
import {
  addTranscribedVideo,
  submitTranscript,
  speechVectors,
  segmentTranscripts,
} from "../support/transcript-fixtures.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
let video: Json;
let path: string;

beforeAll(async () => {
  client = await newClient();
  video = await addTranscribedVideo(client, "spoken");
  path = `/index/spoken/video/${video.asset_id}`;
});

const cue = (start: number, end: number, text: string) => ({ start, end, text });
const download = (format: string) => client.send("GET", `${path}/transcript?format=${format}`);
const post = (form: Record<string, string | Blob>) =>
  client.send("POST", `${path}/transcript`, { form });

async function searchSpeech(query: string): Promise<Json[]> {
  const json = { query: `"${query}"`, modes: ["speech"] };
  return (await client.json("POST", "/index/spoken/search", { json })).segments;
}

/** Reads all segment data of the video except speech. */
async function otherSegmentData(): Promise<unknown> {
  const { indexId, assetId } = await assetRefOf(video);
  return runInIndex(
    { indexId },
    `SELECT caption, on_screen_text, labels, boxes, described_at, image_model, indexed
     FROM segments WHERE ${OF_ASSET} ORDER BY position`,
    assetId,
  );
}

it("a transcript that was uploaded with the video can be downloaded in each format", async () => {
  expect(await client.json("GET", `${path}/transcript`)).toEqual({
    video_id: video.asset_id,
    language: null,
    source: "upload",
    cues: [
      cue(0, 4, "Welcome to the lighthouse."),
      cue(5, 8, "The keeper lives here\nwith two goats."),
    ],
  });
  const vtt = await download("vtt");
  expect(vtt.headers.get("content-type")).toBe("text/vtt; charset=utf-8");
  expect(vtt.headers.get("content-disposition")).toBe(
    `attachment; filename="speech.vtt"; filename*=UTF-8''speech.vtt`,
  );
  expect(await vtt.text()).toBe(
    "WEBVTT\n\n00:00:00.000 --> 00:00:04.000\nWelcome to the lighthouse.\n\n" +
      "00:00:05.000 --> 00:00:08.000\nThe keeper lives here\nwith two goats.\n",
  );
  const txt = await download("txt");
  expect(txt.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await txt.text()).toBe(
    "Welcome to the lighthouse.\nThe keeper lives here with two goats.\n",
  );
  expect((await client.send("HEAD", `${path}/transcript`)).status).toBe(200);
});

describe("replacing a transcript", () => {
  it("makes the new text searchable, and the old text until then", async () => {
    const [before, otherData] = [await speechVectors(video), await otherSegmentData()];
    const index =
      "SELECT indices.revision FROM indices JOIN assets USING (index_id) WHERE asset_id = ?";
    const revision = () => env.DB.prepare(index).bind(video.asset_id).first<number>("revision");
    const revisionBefore = (await revision())!;
    expect(await searchSpeech("two goats")).toHaveLength(1);

    const file = `WEBVTT
Language: en

00:00.000 --> 00:04.000
Welcome to the lighthouse.

00:05.000 --> 00:08.000
<v Ann>A violin plays &amp; sings.
`;
    const posted = await (await post({ transcript: new File([file], "new.vtt") })).json<Json>();
    expect(posted).toMatchObject({ video_id: video.asset_id, cues: 2, language: "en" });
    await waitUntil(async () => {
      const { state } = await client.json("GET", `/jobs/${posted.job_id}`);
      const [goats, violin] = [await searchSpeech("two goats"), await searchSpeech("violin plays")];
      expect(goats.length + violin.length).toBeGreaterThan(0);
      return state === "succeeded";
    });
    expect(await client.json("GET", `/jobs/${posted.job_id}`)).toMatchObject({
      kind: "transcript",
      state: "succeeded",
      progress: 1,
      error: null,
      result: { video_id: video.asset_id, cues: 2, segments: 1 },
    });
    expect(await searchSpeech("two goats")).toEqual([]);
    const [hit] = await searchSpeech("violin plays");
    expect(hit).toMatchObject({ asset_id: video.asset_id, transcript: "A violin plays & sings." });
    const after = await speechVectors(video);
    expect(after[0]).toEqual(before[0]);
    expect(after[1]).not.toEqual(before[1]);
    expect(await otherSegmentData()).toEqual(otherData);
    expect(await revision()).toBeGreaterThan(revisionBefore);
    expect(await client.json("GET", path)).toMatchObject({
      state: "ready",
      transcript: { source: "upload", language: "en", cues: 2 },
    });
  });

  it("deletes the speech vectors of segments without cues", async () => {
    const job = await submitTranscript(client, path, [cue(1, 2, "Only here.")]);
    expect(job.result).toMatchObject({ cues: 1, segments: 2 });
    expect(await segmentTranscripts(client, path)).toEqual(["Only here.", ""]);
    const [first, second] = await speechVectors(video);
    expect(first).toHaveLength(1024);
    expect(second).toBeUndefined();
    expect(await searchSpeech("violin plays")).toEqual([]);
  });

  it("with the same text changes no segment", async () => {
    const cues = [cue(1, 2, "Only here.")];
    const before = await speechVectors(video);
    expect((await submitTranscript(client, path, cues)).result).toMatchObject({ segments: 0 });
    expect(await speechVectors(video)).toEqual(before);
  });

  const CUES = [cue(0.5, 2, "I keep caf\u00e9s."), cue(5, 6.25, "漢字 -- & 😀")];
  it.each<[string, string | Uint8Array]>([
    [
      "SRT",
      "1\n00:00:00,500 --> 00:00:02,000\nI keep cafés.\n\n2\n00:00:05,000 --> 00:00:06,250\n漢字 -- & 😀\n",
    ],
    [
      "WebVTT",
      "WEBVTT\n\n00:00.500 --> 00:02.000\nI keep cafés.\n\n00:05.000 --> 00:06.250\n漢字 -- &amp; 😀\n",
    ],
    ["our JSON", JSON.stringify(CUES)],
    ["Whisper", JSON.stringify({ text: "", segments: CUES })],
    [
      "Deepgram",
      JSON.stringify({
        results: { utterances: CUES.map(({ text, ...times }) => ({ ...times, transcript: text })) },
      }),
    ],
    ["UTF-16", new Uint8Array(Buffer.from(`\uFEFF${JSON.stringify(CUES)}`, "utf16le"))],
    ["big-endian UTF-16", new Uint8Array(Buffer.from(JSON.stringify(CUES), "utf16le").swap16())],
  ])("by one in %s stores the same cues, which downloads return", async (_, text) => {
    await submitTranscript(client, path, [cue(0, 9, "Before.")]);
    await submitTranscript(client, path, text);
    expect((await client.json("GET", `${path}/transcript`)).cues).toEqual(CUES);
    expect(await segmentTranscripts(client, path)).toEqual(
      CUES.map(({ text: cueText }) => cueText),
    );
    for (const format of ["json", "vtt", "srt"]) {
      await submitTranscript(client, path, await (await download(format)).text());
      expect((await client.json("GET", `${path}/transcript`)).cues).toEqual(CUES);
    }
  });

  it("by one in Latin-1 stores its text", async () => {
    await submitTranscript(client, path, Buffer.from("[00] caf\u00e9", "latin1"));
    expect((await client.json("GET", `${path}/transcript`)).cues[0].text).toBe("[00] café");
  });

  it("by plain text gives it the times of the recognised speech or the whole video", async () => {
    await submitTranscript(client, path, "First this. And that.");
    expect(await segmentTranscripts(client, path)).toEqual(["First this.", "And that."]);
    const row = await env.DB.prepare("SELECT account_id, index_id FROM assets WHERE asset_id = ?")
      .bind(video.asset_id)
      .first<{ account_id: string; index_id: string }>();
    const asrKey = `${row!.account_id}/${row!.index_id}/${video.asset_id}/asr/0.json`;
    const asrCues = [cue(1, 2, "?"), cue(3, 4, "?")];
    await env.MEDIA.put(asrKey, JSON.stringify({ language: null, cues: asrCues, error: null }));
    await submitTranscript(client, path, "This one.\nNext one.");
    const { cues } = await client.json("GET", `${path}/transcript`);
    expect(cues).toEqual([cue(1, 2, "This one."), cue(3, 4, "Next one.")]);
    await env.MEDIA.delete(asrKey);
  });

  it("removes the warning about speech recognition", async () => {
    const error = { code: "unsupported_audio_codec", message: "The audio can't be transcribed." };
    const other = { code: "unreadable_frame", message: "1 of 2 segments can't be described." };
    await env.DB.batch([
      env.DB.prepare("UPDATE assets SET warnings = ? WHERE asset_id = ?").bind(
        JSON.stringify([other, error]),
        video.asset_id,
      ),
      env.DB.prepare("UPDATE transcripts SET error = ?, cues = 0 WHERE asset_id = ?").bind(
        JSON.stringify(error),
        video.asset_id,
      ),
    ]);
    expect((await download("json")).status).toBe(404);
    await submitTranscript(client, path, [cue(0, 1, "Spoken.")]);
    const { warnings, transcript } = await client.json("GET", path);
    expect({ warnings, transcript }).toMatchObject({ warnings: [other], transcript: { cues: 1 } });
  });

  it("returns 409 while the video is ingested", async () => {
    const form = {
      video_file: await fixture("clip.mp4"),
      transcript: new File(["Words."], "a.txt"),
    };
    const asset = await client.json("POST", "/index/spoken/video", { form });
    const other = `/index/spoken/video/${asset.asset_id}/transcript`;
    const early = await client.send("POST", other, { form: { transcript: "[1]" } });
    expect(early.status).toBe(409);
    expect(await early.text()).toContain("a ready video");
    expect([200, 409]).toContain((await client.send("GET", other)).status);
    await client.waitForAsset("spoken", asset);
    expect((await client.json("GET", other)).cues).toEqual([cue(0, 6, "Words.")]);
  });
});

describe("the transcript endpoint", () => {
  const issue = (type: string) => [[["body", "transcript"], type]];
  it.each<[string, Record<string, string | Blob>, string]>([
    ["a form without a transcript", { other: "x" }, "missing"],
    ["an empty file", { transcript: new File([" "], "a.srt") }, "value_error"],
    ["a binary file", { transcript: new File(["PK\u0003\u0004\0\0 x"], "a.srt") }, "value_error"],
    ["broken JSON", { transcript: new File(['[{"start": 1'], "a.json") }, "value_error"],
    ["an SSA file", { transcript: new File(["[Script Info]\n"], "a.ass") }, "value_error"],
    [
      "cues beyond the end of the video",
      { transcript: JSON.stringify([cue(9, 10, "x")]) },
      "value_error",
    ],
  ])("returns 422 for %s", async (_, form, type) => {
    expect(await client.issues("POST", `${path}/transcript`, { form })).toEqual(issue(type));
  });

  it("returns 413 for a file that is too large and 415 for JSON", async () => {
    const large = new File(["x".repeat(LIMITS.transcriptBytes + 1)], "a.txt");
    expect((await post({ transcript: large })).status).toBe(413);
    const call = { json: [cue(0, 1, "x")] };
    expect((await client.send("POST", `${path}/transcript`, call)).status).toBe(415);
  });

  it("returns 422 for an unknown format", async () => {
    expect(await client.issues("GET", `${path}/transcript?format=ass`)).toEqual([
      [["query", "format"], "literal_error"],
    ]);
  });

  it("returns 404 for an image and for another account's video", async () => {
    const form = { image_file: await fixture("words.jpg") };
    const image = await client.json("POST", "/index/spoken/image", { form });
    const pathOf = (id: string) => `/index/spoken/video/${id}/transcript`;
    expect((await client.send("GET", pathOf(image.asset_id))).status).toBe(404);
    const transcript = { form: { transcript: "[1] x" } };
    expect((await client.send("POST", pathOf(image.asset_id), transcript)).status).toBe(404);
    const other = await newClient();
    expect((await other.send("GET", pathOf(video.asset_id))).status).toBe(404);
    expect((await other.send("POST", pathOf(video.asset_id), transcript)).status).toBe(404);
    await client.waitForAsset("spoken", image);
  });
});

it("a sentence that two segments share is found by the words of both, and quoted whole", async () => {
  const cues = [cue(1, 3, "Storms came. Grace rowed to"), cue(5, 7, "the Forfarshire. All slept.")];
  await submitTranscript(client, path, cues);
  const search = async (query: string) => {
    const json = { query, modes: ["speech"], top_p: 0.5, collapse: false };
    return (await client.json("POST", "/index/spoken/search", { json })).segments as Json[];
  };
  const both = await search("Grace Forfarshire");
  expect(both).toHaveLength(2);
  for (const { score, evidence } of both) {
    expect(score).toBeGreaterThan(0.8);
    expect(evidence[0].text).toContain("<mark>Grace</mark> rowed to the <mark>Forfarshire</mark>.");
  }
  const [forfarshire, ...others] = await search("Forfarshire");
  expect([forfarshire!.transcript, others]).toEqual(["the Forfarshire. All slept.", []]);
  const { answer } = await client.json(
    "GET",
    "/index/spoken/answer?query=Who+rowed+to+the+Forfarshire",
  );
  expect(answer).toContain("Grace rowed to the Forfarshire.");
  await submitTranscript(client, path, [cue(5, 7, "the Forfarshire. All slept.")]);
  expect(await search("Grace")).toEqual([]);
});
