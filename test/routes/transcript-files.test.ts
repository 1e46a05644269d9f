import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
const FERRY = "The ferry leaves at dawn.";

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "files" } });
});

const text = (content: string, name = "a.srt") => new File([content], name);
const srtAt = (hours: string) => `1\n${hours}:00:00,500 --> ${hours}:00:02,500\n${FERRY}\n`;

/** Uploads the clip of six seconds with other bytes and a transcript. Waits until it is ready. */
async function addVideo(transcript: Blob, fields: Record<string, string> = {}): Promise<Json> {
  const video = await fixture("clip.mp4");
  const bytes = new Blob([await video.arrayBuffer(), crypto.randomUUID()]);
  const form = { video_file: new File([bytes], "clip.mp4"), transcript, ...fields };
  const { asset_id } = await client.json("POST", "/index/files/video", { form });
  return waitUntil(async () => {
    const record = await client.json("GET", `/index/files/video/${asset_id}`);
    return ["ready", "failed"].includes(record.state) ? record : undefined;
  });
}

const cuesOf = async ({ asset_id }: Json) =>
  (await client.json("GET", `/index/files/video/${asset_id}/transcript`)).cues;
const codesOf = (record: Json) => record.warnings.map(({ code }: Json) => code);

describe("a transcript that comes with an upload", () => {
  it("and starts at a whole hour is shifted, with a warning", async () => {
    const video = await addVideo(text(srtAt("01")));
    expect(codesOf(video)).toEqual(["transcript_shifted"]);
    expect(await cuesOf(video)).toEqual([{ start: 0.5, end: 2.5, text: FERRY }]);
  });

  it("and lies past the end is told", async () => {
    const video = await addVideo(text(srtAt("01").replaceAll("01:00:0", "01:59:0")));
    expect(codesOf(video)).toEqual(["transcript_past_end"]);
  });

  it("and has a bad line is read, with a warning that names the line", async () => {
    const bad = srtAt("00").replace("-->", "->") + "\n2\n00:00:03,000 --> 00:00:04,000\nTwo.\n";
    const video = await addVideo(text(bad));
    expect(video.warnings).toEqual([
      { code: "transcript_malformed", message: expect.stringContaining("Line 2 ") },
    ]);
    expect(await cuesOf(video)).toHaveLength(2);
    const form = { transcript: text(srtAt("00")) };
    await client.json("POST", `/index/files/video/${video.asset_id}/transcript`, { form });
    await waitUntil(async () => {
      const record = await client.json("GET", `/index/files/video/${video.asset_id}`);
      return record.warnings.length === 0 ? record : undefined;
    });
  });

  it("in frames gets its times from the video's frame rate", async () => {
    const video = await addVideo(text("{0}{25}a\n{50}{100}b\n", "a.sub"));
    const [, second] = await cuesOf(video);
    expect(second.start).toBeCloseTo(50 / video.fps, 2);
  });

  it("is decoded as its bytes or `transcript_encoding` say, whatever the language", async () => {
    for (const [label, hex, expected] of ENCODED) {
      const bytes = Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16));
      const body = new Blob([`1\n00:00:00,500 --> 00:00:02,500\n`, bytes, "\n"]);
      for (const fields of [{}, { transcript_encoding: label }]) {
        const video = await addVideo(new File([body], "a.srt"), fields);
        expect([label, (await cuesOf(video))[0].text]).toEqual([label, expected]);
      }
    }
  });

  it("in an unknown encoding is a 422 at `transcript_encoding`", async () => {
    const form = { video_file: await fixture("clip.mp4"), transcript: text(srtAt("00")) };
    const response = await client.send("POST", "/index/files/video", {
      form: { ...form, transcript_encoding: "klingon" },
    });
    expect(response.status).toBe(422);
    const { detail } = await response.json<Json>();
    expect(detail).toEqual([
      expect.objectContaining({ loc: ["body", "transcript_encoding"], type: "value_error" }),
    ]);
  });
});

/** Words in encodings, as bytes: the runtime has to know each label. */
const ENCODED: [label: string, hex: string, text: string][] = [
  ["windows-1251", "cfe0f0eef520f3f5eee4e8f220ede020f0e0f1f1e2e5f2e5", "Парох уходит на рассвете"],
];

it("the runtime decodes every encoding that is detected", () => {
  const labels =
    "windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 " +
    "windows-1257 koi8-r koi8-u iso-8859-2 iso-8859-5 iso-8859-6 iso-8859-7 ibm866 shift_jis " +
    "euc-jp gb18030 big5 euc-kr utf-16le utf-16be";
  for (const label of labels.split(" ")) expect(new TextDecoder(label).encoding).toBe(label);
  expect(new TextDecoder("big5").decode(Uint8Array.from([0xb4, 0xe4]))).toBe("港");
  expect(new TextDecoder("shift_jis").decode(Uint8Array.from([0x8d, 0x60]))).toBe("港");
  expect(new TextDecoder("euc-kr").decode(Uint8Array.from([0xc7, 0xd7]))).toBe("항");
  expect(new TextDecoder("gb18030").decode(Uint8Array.from([0xb8, 0xdb]))).toBe("港");
});
