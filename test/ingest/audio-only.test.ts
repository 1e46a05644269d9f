import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, fixtureUrl, type Json, newClient } from "../support/client.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

/** Adds a file to an index and waits for the asset. */
async function addSound(index: string, name: string, parts: Json = {}): Promise<Json> {
  const form = { video_file: await fixture(name), ...parts };
  const asset = await client.json("POST", `/index/${index}/video`, { form });
  return client.waitForAsset(index, asset);
}

async function createIndex(name: string): Promise<string> {
  await client.json("POST", "/index", { json: { index_name: name } });
  return name;
}

function listSegments(index: string, { asset_id: id }: Json): Promise<Json> {
  return client.json("GET", `/index/${index}/video/${id}/segments`);
}

async function titlesFound(index: string, query: Json): Promise<string[]> {
  const json = { ...query, group_by: "asset" };
  const { segments } = await client.json("POST", `/index/${index}/search`, { json });
  return segments.map(({ title }: Json) => title);
}

describe("Sound without pictures", () => {
  it.each([
    ["speech.mp3", "MP3", "mp3"],
    ["speech.m4a", "MP4", "aac"],
    ["speech.wav", "WAVE", "pcm-s16"],
    ["speech.flac", "FLAC", "flac"],
    ["speech.ogg", "Ogg", "vorbis"],
    ["speech.opus", "Ogg", "opus"],
    ["cover.mp4", "MP4", "aac"],
    ["speech.aiff", "aiff", "pcm_s16be"],
    ["speech.ac3", "ac3", "ac3"],
    ["speech.wma", "asf", "wmav2"],
    ["alac.mov", "mov,mp4,m4a,3gp,3g2,mj2", "alac"],
  ])("of %s is found by its speech, and has a waveform", async (name, container, codec) => {
    const index = await createIndex(name.replace(".", "-"));
    const record = await addSound(index, name);
    expect(record).toMatchObject({
      state: "ready",
      warnings: [],
      asset_type: "video",
      has_video: false,
      has_audio: true,
      width: null,
      height: null,
      fps: null,
      thumbnail_url: null,
      technical: { has_video: false, container, audio_codec: codec },
      transcript: { source: "asr", language: "en" },
    });
    expect(record.duration_seconds).toBeCloseTo(9, 0);
    expect(record.technical).not.toHaveProperty("video_codec");
    const { waveform } = record.technical;
    expect(waveform).toHaveLength(1000);
    expect(waveform.every((peak: number) => peak >= 0 && peak <= 1)).toBe(true);
    expect(Math.max(...waveform.slice(60, 200))).toBeGreaterThan(0.2); // the first sentence
    expect(Math.max(...waveform.slice(0, 40))).toBeLessThan(0.05); // the pause before it
    const { segments } = await client.json("POST", `/index/${index}/search`, {
      json: { query: "carpenter", use_boxes: true, use_masks: true },
    });
    expect(segments).toHaveLength(1);
    expect(segments[0]).toMatchObject({
      asset_id: record.asset_id,
      start_seconds: 0,
      end_seconds: record.duration_seconds,
      caption: "",
      on_screen_text: "",
      labels: [],
      thumbnail_url: null,
      mask: null,
      evidence: [{ kind: "speech", text: expect.stringContaining("<mark>carpenter</mark>") }],
    });
    expect(segments[0].clip_url).toContain("#t=0,");
  });

  it("of 70 s is segmented in its pauses, and its answers cite the segment", async () => {
    const index = await createIndex("talk");
    const record = await addSound(index, "talk.mp3");
    const { segments } = await listSegments(index, record);
    expect(segments.length).toBeGreaterThan(2);
    for (const [i, { start_seconds: start, end_seconds: end }] of segments.entries()) {
      expect(start).toBe(segments[i - 1]?.end_seconds ?? 0);
      expect(end - start).toBeGreaterThanOrEqual(5);
      expect(end - start).toBeLessThanOrEqual(30);
    }
    const spoken = segments.filter(({ transcript }: Json) => transcript !== "");
    expect(spoken.map(({ transcript }: Json) => transcript.split(" ").at(-1))).toEqual([
      "alone.",
      "river.",
      "alone.",
    ]);
    const query = encodeURIComponent("What does every window look toward?");
    const answer = await client.json("GET", `/index/${index}/answer?query=${query}`);
    expect(answer).toMatchObject({ grounded: true });
    expect(answer.citations[0]).toMatchObject({
      asset_id: record.asset_id,
      start_seconds: spoken[1].start_seconds,
      end_seconds: spoken[1].end_seconds,
    });
  });

  it("without speech is ready with a warning, and plays", async () => {
    const index = await createIndex("tone");
    const record = await addSound(index, "tone.wav");
    expect(record).toMatchObject({ state: "ready", segments: 1, transcript: { cues: 0 } });
    expect(record.warnings).toMatchObject([{ code: "nothing_indexed" }]);
    const { waveform } = record.technical;
    expect([waveform[100], waveform[500], waveform[900]]).toEqual([0.08, 0.4, 0.72]);
    const media = await client.send("GET", record.media_url, { headers: { range: "bytes=0-3" } });
    expect([media.status, media.headers.get("content-type")]).toEqual([206, "audio/wav"]);
    expect(await media.text()).toBe("RIFF");
  });

  it("with a transcript is segmented by its cues and found by them", async () => {
    const index = await createIndex("given");
    const cues = "WEBVTT\n\n00:01.000 --> 00:02.000\nThe glacier retreats.\n";
    const transcript = new File([cues], "words.vtt");
    const record = await addSound(index, "tone.wav", { transcript });
    expect(record).toMatchObject({
      state: "ready",
      warnings: [],
      transcript: { source: "upload" },
    });
    expect(record.technical.waveform).toHaveLength(1000);
    expect(await titlesFound(index, { query: "glacier" })).toEqual(["tone.wav"]);
  });

  it("is the kind `audio`, and not `video`, of a search", async () => {
    const index = await createIndex("kinds");
    await addSound(index, "speech.mp3");
    await addSound(index, "speech.mp4");
    const query = "carpenter";
    const found = (modes: string[]) => titlesFound(index, { query, modes });
    expect(await found(["audio"])).toEqual(["speech.mp3"]);
    expect(await found(["video"])).toEqual(["speech.mp4"]);
    expect(await found(["audio", "speech"])).toEqual(["speech.mp3"]);
    expect(await found(["image"])).toEqual([]);
    expect((await found(["video", "audio"])).toSorted()).toEqual(["speech.mp3", "speech.mp4"]);
    expect((await found([])).toSorted()).toEqual(["speech.mp3", "speech.mp4"]);
    const filter = { "technical.has_video": false };
    expect(await titlesFound(index, { query, filter })).toEqual(["speech.mp3"]);
    const { videos } = await client.json("GET", `/index/${index}/videos`);
    expect(videos.map(({ has_video }: Json) => has_video)).toEqual([false, true]);
    expect(videos[0].technical).not.toHaveProperty("waveform");
    const path = `/index/${index}/video/${videos[0].video_id}/metadata`;
    const { technical } = await client.json("GET", path);
    expect(technical).toMatchObject({ has_video: false, width: null, height: null });
    expect(technical.waveform).toHaveLength(1000);
    const { technical: film } = await client.json(
      "GET",
      path.replace(videos[0].video_id, videos[1].video_id),
    );
    expect(film).toMatchObject({ has_video: true });
    expect(film).not.toHaveProperty("waveform");
  });

  it("is an example of a search if something is said in it", async () => {
    const index = await createIndex("examples");
    const record = await addSound(index, "speech.mp3");
    const search = async (name: string) =>
      client.send("POST", `/index/${index}/search_video`, {
        form: { video_file: await fixture(name) },
      });
    const found: Json = await (await search("speech.ogg")).json();
    expect(found.segments[0]).toMatchObject({ asset_id: record.asset_id });
    const silent = await search("tone-short.wav");
    expect(silent.status).toBe(422);
    const { detail }: Json = await silent.json();
    expect(detail).toMatchObject([
      { loc: ["body", "video_file"], msg: expect.stringContaining("No speech") },
    ]);
  });

  it("is taken from a URL", async () => {
    const index = await createIndex("ways");
    const url = encodeURIComponent(fixtureUrl("speech.flac"));
    const queued = await client.json("POST", `/index/${index}/video?video_url=${url}`);
    const record = await client.waitForAsset(index, queued);
    expect(record).toMatchObject({ state: "ready", has_video: false, content_type: "audio/flac" });
  });

  it("can't be answered from pictures, and isn't: a question of a video has its words", async () => {
    const index = await createIndex("vqa");
    const record = await addSound(index, "speech.wav");
    const query = encodeURIComponent("Who built this house?");
    const path = `/index/${index}/${record.video_id}/answer_vqa?query=${query}`;
    const answer = await client.json("GET", path);
    expect(answer.citations[0]).toMatchObject({ asset_id: record.asset_id, start_seconds: 0 });
  });

  it("is healthy after its ingest", async () => {
    const index = await createIndex("healthy");
    await addSound(index, "speech.m4a");
    const { nodes } = await client.json("GET", `/index/${index}/traverse`);
    expect(nodes[0].health).toEqual({ ok: true, findings: [] });
  });

  it("of an old phone is ready, and plays", async () => {
    const index = await createIndex("amr");
    const frame = Uint8Array.from([0x04, ...Array.from({ length: 12 }, () => 0)]); // 20 ms
    const file = new File(["#!AMR\n", ...Array.from({ length: 300 }, () => frame)], "memo.amr");
    const asset = await client.json("POST", `/index/${index}/video`, {
      form: { video_file: file },
    });
    const record = await client.waitForAsset(index, asset);
    expect(record).toMatchObject({
      state: "ready",
      has_video: false,
      duration_seconds: 6,
      warnings: [{ code: "nothing_indexed" }],
      technical: { container: "amr", audio_codec: "amr_nb" },
      working_copy: { audio_codec: "aac", video_codec: null, width: null, height: null },
    });
    const played = await client.send("GET", new URL(record.media_url).pathname);
    expect(played.headers.get("content-type")).toBe("audio/mp4");
    await played.body?.cancel();
  });

  it("that was cut off is ready, and says what is missing", async () => {
    const index = await createIndex("cut");
    const whole = await (await fixture("speech.mp3")).arrayBuffer();
    const cut = new File([whole.slice(0, whole.byteLength / 2)], "cut.mp3");
    const asset = await client.json("POST", `/index/${index}/video`, { form: { video_file: cut } });
    const record = await client.waitForAsset(index, asset);
    expect(record).toMatchObject({ state: "ready", warnings: [{ code: "incomplete_media" }] });
    expect(record.duration_seconds).toBeCloseTo(4.5, 0);
    expect(record.technical.waveform).toHaveLength(1000);
  });

  it("is counted in minutes as a video is", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "counted" } });
    const form = { video_file: await fixture("talk.mp3") };
    const asset = await other.json("POST", "/index/counted/video", { form });
    await other.waitForAsset("counted", asset);
    const { usage, duration_seconds: total } = await other.json("GET", "/stats");
    expect(usage.today.ingested_seconds).toBeCloseTo(70, 0);
    expect(total).toBeCloseTo(70, 0);
  });
});
