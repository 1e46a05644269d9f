import { beforeAll, describe, expect, it } from "vitest";
import { EXPORT_FORMAT_NAMES, exportFormat } from "../../src/exports/formats.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { readFcpxml, readXml } from "../support/cut-list-readers.ts";

const PATH = "/index/cuts/exports";
let client: Client;
let video: Json;
let image: Json;
let segments: Json[];

beforeAll(async () => {
  client = await newClient();
  for (const index_name of ["cuts", "more"]) {
    await client.json("POST", "/index", { json: { index_name } });
  }
  const add = async (index: string, type: string, form: Record<string, Blob | string>) => {
    const added = await client.json("POST", `/index/${index}/${type}`, { form });
    return client.waitForAsset(index, added);
  };
  video = await add("cuts", "video", { video_file: await fixture("clip.mp4") });
  image = await add("more", "image", { image_file: await fixture("boats.jpg") });
  segments = (await client.json("GET", `/index/cuts/video/${video.asset_id}/segments`)).segments;
});

/** Exports at 25 frames a second: Final Cut has no timeline of the 10 of the video. */
const send = (json: Json, path = PATH) => client.send("POST", path, { json: { fps: 25, ...json } });
const exportText = async (json: Json, path = PATH) => {
  const response = await send(json, path);
  expect(response.status).toBe(200);
  return response.text();
};
const imageSegment = async () => {
  const found = await client.json("POST", "/index/more/search", { json: { query: "boats" } });
  return found.segments[0].segment_id as string;
};

describe("an export of chosen segments", () => {
  it.each(EXPORT_FORMAT_NAMES.filter((name) => name !== "chapters"))(
    "as %s has its media type, a file's name and the cuts in their order",
    async (format) => {
      const chosen = [segments[1], segments[0]].map(({ segment_id }) => ({ segment_id }));
      const response = await send({ format, segments: chosen, title: "My cut" });
      expect(response.status).toBe(200);
      const { type, extension } = exportFormat(format);
      expect(response.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
      const disposition = response.headers.get("content-disposition");
      expect(disposition).toContain(`My%20cut.${extension}`);
      const text = await response.text();
      if (type === "application/xml") readXml(text);
      if (format === "otio") {
        const [track] = JSON.parse(text).tracks.children;
        expect(track.children.map((clip: Json) => clip.source_range.start_time.value)).toEqual(
          chosen.map(({ segment_id }) => {
            const { start_seconds } = segments.find((one) => one.segment_id === segment_id)!;
            return Math.round(start_seconds * video.fps);
          }),
        );
      }
    },
  );

  it("has other times of the video, and handles as far as it goes", async () => {
    const [{ segment_id }] = segments as [Json];
    const times = { start_seconds: 1, end_seconds: 2 };
    const json = { format: "fcpxml", segments: [{ segment_id, ...times }], handles_seconds: 30 };
    const [cut] = readFcpxml(await exportText(json));
    const frames = Math.round(video.duration_seconds * 25);
    expect(cut!.source[0]).toBe(0);
    expect(cut!.record[1] - cut!.record[0]).toBe(frames);
  });

  it("names files, or has signed URLs of the originals", async () => {
    const chosen = [{ segment_id: segments[0]!.segment_id }];
    const byName = await exportText({ format: "otio", segments: chosen });
    expect(byName).toContain('"target_url": "clip.mp4"');
    const byUrl = await exportText({ format: "otio", segments: chosen, media: "url" });
    const [, url] = /"target_url": "([^"]+)"/.exec(byUrl)!;
    expect((await client.send("GET", new URL(url!).pathname)).status).toBe(200);
  });

  it("of several indices has a video of one and an image of the other, shown for 5 s", async () => {
    const ids = [segments[0]!.segment_id, await imageSegment()];
    const chosen = ids.map((segment_id) => ({ segment_id }));
    const index_names = ["cuts", "more"];
    const text = await exportText({ format: "fcpxml", segments: chosen, index_names }, "/exports");
    const [, still] = readFcpxml(text);
    expect(still).toMatchObject({ name: image.title });
    expect(still!.record[1] - still!.record[0]).toBe(5 * 25);
  });

  it("with a segment that the index lacks returns 404 with its id", async () => {
    const other = await imageSegment();
    for (const id of [other, `seg_${"0".repeat(26)}`, "../..", "' OR 1 --"]) {
      const response = await send({ format: "edl", segments: [{ segment_id: id }] });
      expect(response.status).toBe(404);
      expect((await response.json<Json>()).detail).toContain(id);
    }
  });

  it("past the end of the video, or of no length, returns 422 at the field", async () => {
    const { segment_id } = segments[0]!;
    for (const [times, field] of [
      [{ start_seconds: 1000, end_seconds: 1001 }, "start_seconds"],
      [{ start_seconds: 2, end_seconds: 1 }, "end_seconds"],
    ] as const) {
      const json = { format: "edl", segments: [{ segment_id, ...times }] };
      const issues = await client.issues("POST", PATH, { json });
      expect(issues).toEqual([[["body", "segments", 0, field], "value_error"]]);
    }
  });
});

describe("an export of a search", () => {
  it("has the hits, with markers in the colour of their score and the evidence", async () => {
    const search = { query: "hello", top_k: 1 };
    const found = await client.json("POST", "/index/cuts/search", { json: search });
    const text = await exportText({ format: "markers_edl", search });
    const { score } = found.segments[0];
    const color = score >= 0.8 ? "Green" : score >= 0.5 ? "Yellow" : "Red";
    expect(text).toContain(`Score ${score.toFixed(2)}: `);
    expect(text).toContain(`|C:ResolveColor${color} |M:`);
  });

  it("of several indices ranks them as one", async () => {
    const json = { index_names: ["*"], format: "edl", search: { query: "boats" } };
    expect(await exportText(json, "/exports")).toContain(`* FROM CLIP NAME: ${image.title}`);
  });

  it("that finds nothing returns 404", async () => {
    await client.json("POST", "/index", { json: { index_name: "empty" } });
    const json = { format: "edl", search: { query: "boats" } };
    const response = await send(json, "/index/empty/exports");
    expect(response.status).toBe(404);
    expect((await response.json<Json>()).detail).toBe("The search found nothing to export.");
  });
});

describe("an export that can't be made", () => {
  const chosen = () => [{ segment_id: segments[0]!.segment_id }];

  it("returns 422 with the reason of the format", async () => {
    const response = await send({ format: "chapters", segments: chosen() });
    expect(response.status).toBe(422);
    const { detail } = await response.json<Json>();
    expect(detail[0]).toMatchObject({ loc: ["body", "format"], type: "value_error" });
    expect(detail[0].msg).toContain("YouTube shows 3 chapters or more, not 1.");
  });

  it("returns 422 for URLs in a format without, and for both or neither of the inputs", async () => {
    const both = { segments: chosen(), search: { query: "hello" } };
    for (const [json, field, type] of [
      [{ format: "edl", segments: chosen(), media: "url" }, "media", "value_error"],
      [{ format: "edl", ...both }, "segments", "value_error"],
      [{ format: "edl" }, "segments", "missing"],
    ] as const) {
      const issues = await client.issues("POST", PATH, { json });
      expect(issues).toEqual([[["body", field], type]]);
    }
  });

  it("returns 422 at the field of the search that is wrong", async () => {
    const json = { format: "edl", search: { query: "?", top_k: 501 } };
    expect(await client.issues("POST", PATH, { json })).toEqual([
      [["body", "search", "top_k"], "less_than_equal"],
      [["body", "search", "query"], "value_error"],
    ]);
  });
});
