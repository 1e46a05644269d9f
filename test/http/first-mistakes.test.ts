import { beforeAll, describe, expect, it } from "vitest";
import { type Call, Client, fixture, type Json, newClient } from "../support/client.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
});

const IMAGE_ID = "img_01KATN4C2R8S6T4V0W9X7Y5Z3A";
const words = () => fixture("words.jpg");

describe("a request of a developer who guesses is told what to send:", () => {
  it.each<[string, string, string, () => Promise<Call>, (string | number)[], string]>([
    [
      "a near part",
      "POST",
      "/index/a/image",
      async () => ({ form: { image_file: await words(), metadata: "{}" } }),
      ["body", "metadata"],
      '"metadata_str"',
    ],
    [
      "a near file",
      "POST",
      "/index/a/search_image",
      async () => ({ form: { image: await words() } }),
      ["body", "image_file"],
      'the form has only "image"',
    ],
    [
      "a file of another name",
      "POST",
      "/index/a/video",
      async () => ({ form: { file: new File(["x"], "a.mp4") } }),
      ["body", "file"],
      '"video_file"',
    ],
    [
      "no file among the parts",
      "POST",
      "/index/a/video",
      async () => ({ form: { titel: "x" } }),
      ["body", "video_file"],
      'Give video_file or video_url: the form has only "titel"',
    ],
    [
      "text in place of a file",
      "POST",
      "/index/a/image",
      async () => ({ form: { image_file: "a.jpg" } }),
      ["body", "image_file"],
      "-F name=@path",
    ],
    ["a page", "GET", "/index/a/videos?page=2", async () => ({}), ["query", "page"], '"cursor"'],
    [
      "an unknown state of videos",
      "GET",
      "/index/a/videos?state=done",
      async () => ({}),
      ["query", "state"],
      "'ready'",
    ],
    ["a status", "GET", "/index/a?status=ready", async () => ({}), ["query", "status"], '"state"'],
    [
      "a near parameter",
      "GET",
      "/index/a/answer?query=x&top-k=2",
      async () => ({}),
      ["query", "top-k"],
      '"top_k"',
    ],
    ...["folder=x", "video_id=x", "modes=image", "start_time=1", "search_term=x"].map(
      (sent): [string, string, string, () => Promise<Call>, (string | number)[], string] => [
        `${sent} of an answer`,
        "GET",
        `/index/a/answer?query=x&${sent}`,
        async () => ({}),
        ["query", sent.split("=")[0]!],
        {
          folder: 'use "filter", such as {"folder": "…"}',
          video_id: '"asset_ids"',
          start_time: "/index/{index_name}/{video_id}/answer_vqa",
        }[sent.split("=")[0]!] ?? "this operation takes query,",
      ],
    ),
    [
      "a bad filter of an answer",
      "GET",
      "/index/a/answer?query=x&filter=boat",
      async () => ({}),
      ["query", "filter"],
      "JSON decode error",
    ],
    ...["type=image", "q=x", "sort=title", "folder=x"].map(
      (sent): [string, string, string, () => Promise<Call>, (string | number)[], string] => [
        `${sent} of a list`,
        "GET",
        `/index/a/videos?${sent}`,
        async () => ({}),
        ["query", sent.split("=")[0]!],
        "this operation takes limit, cursor, state",
      ],
    ),
    ...["sort", "order_by", "date_from", "tags", "fields", "video_id"].map(
      (name): [string, string, string, () => Promise<Call>, (string | number)[], string] => [
        `${name} of a search`,
        "POST",
        "/index/a/search",
        async () => ({ json: { query: "x", [name]: "y" } }),
        ["body", name],
        { date_from: "$gte", tags: '{"tags": "…"}', video_id: '"asset_ids"' }[name] ??
          "takes query",
      ],
    ),
    [
      "the grouping of counts by another name",
      "POST",
      "/index/a/aggregate",
      async () => ({ json: { by: "label" } }),
      ["body", "by"],
      '"group_by"',
    ],
    [
      "the title of a new image",
      "POST",
      "/index/a/image",
      async () => ({ form: { image_file: await words(), title: "Milk" } }),
      ["body", "title"],
      "the title is the name of the file, and PATCH changes it",
    ],
    [
      "a video in a search by an image",
      "POST",
      "/index/a/search_image",
      async () => ({ form: { video_file: await words() } }),
      ["body", "video_file"],
      "…/search_video",
    ],
    [
      "names of indices in one parameter",
      "GET",
      "/answer?query=x&index_names=trip,none",
      async () => ({}),
      ["query", "index_names", 0],
      "index_names=a&index_names=b",
    ],
    [
      "indices of a search",
      "POST",
      "/search",
      async () => ({ json: { query: "x", indices: ["a"] } }),
      ["body", "indices"],
      '"index_names"',
    ],
    [
      "another name of an index",
      "PATCH",
      "/index/a",
      async () => ({ json: { index_name: "b" } }),
      ["body", "index_name"],
      "stays as it is: only description, metadata, settings can be changed",
    ],
    [
      "another folder of an image",
      "PATCH",
      `/index/a/image/${IMAGE_ID}`,
      async () => ({ json: { folder: "b" } }),
      ["body", "folder"],
      "only title, metadata can be changed",
    ],
    [
      "a field in the query",
      "POST",
      "/index/a/search?top_k=2",
      async () => ({ json: { query: "x" } }),
      ["query", "top_k"],
      "Send top_k in the JSON body",
    ],
    [
      "a limit of a search",
      "POST",
      "/index/a/search",
      async () => ({ json: { query: "x", limit: 5 } }),
      ["body", "limit"],
      '"top_k"',
    ],
    [
      "a cursor by the name in responses",
      "POST",
      "/index/a/search",
      async () => ({ json: { query: "x", next_cursor: "y" } }),
      ["body", "next_cursor"],
      '"cursor"',
    ],
    [
      "hits per page",
      "POST",
      "/index/a/search",
      async () => ({ json: { query: "x", hitsPerPage: 5 } }),
      ["body", "hitsPerPage"],
      '"top_k"',
    ],
    [
      "a judgment that says nothing",
      "POST",
      "/index/a/judgments",
      async () => ({ json: { query: "x", segment_id: "seg_x" } }),
      ["body", "relevant"],
      "Field required",
    ],
    [
      "the day on which a key expires",
      "POST",
      "/keys",
      async () => ({ json: { name: "k", expires_at: "2027-01-01" } }),
      ["body", "expires_at"],
      "2027-01-31T12:00:00Z",
    ],
    [
      "permissions of a key",
      "POST",
      "/keys",
      async () => ({ json: { name: "k", permissions: ["read"] } }),
      ["body", "permissions"],
      '"scopes"',
    ],
    [
      "subtitles of a video",
      "POST",
      "/index/a/video",
      async () => ({ form: { video_file: await fixture("clip.mp4"), srt: new File(["x"], "a") } }),
      ["body", "srt"],
      '"transcript"',
    ],
    [
      "the name of a transcript in place of the file",
      "POST",
      "/index/a/video",
      async () => ({ form: { video_file: await fixture("clip.mp4"), transcript: "clip.srt" } }),
      ["body", "transcript"],
      "-F transcript=@path",
    ],
    [
      "a short query",
      "POST",
      "/index/a/search",
      async () => ({ json: { q: "x" } }),
      ["body", "q"],
      '"query"',
    ],
    [
      "an export of nothing",
      "POST",
      "/index/a/exports",
      async () => ({ json: { format: "edl" } }),
      ["body", "segments"],
      "Give `segments` or `search`",
    ],
    [
      "a bad name",
      "GET",
      "/index/a%20b",
      async () => ({}),
      ["path", "index_name"],
      "String should be 1 to 64 letters",
    ],
    [
      "the query of an export at its top",
      "POST",
      "/index/a/exports",
      async () => ({ json: { format: "edl", query: "boat" } }),
      ["body", "query"],
      'it belongs in "search"',
    ],
    [
      "a setting at the top",
      "POST",
      "/index",
      async () => ({ json: { index_name: "b", language: "de" } }),
      ["body", "language"],
      'it belongs in "settings"',
    ],
    [
      "fields in an object",
      "POST",
      "/index/a/search",
      async () => ({ json: { search: { query: "x" } } }),
      ["body", "search"],
      'send "query" at this level, not in it',
    ],
    [
      "alternatives of a filter",
      "POST",
      "/index/a/search",
      async () => ({ json: { query: "x", filter: { $or: [{ year: 1 }, { year: 2 }] } } }),
      ["body", "filter", "$or"],
      '{"year": {"$in": [2023, 2024]}}',
    ],
    [
      "a list in place of a value of a filter",
      "POST",
      "/index/a/search",
      async () => ({ json: { query: "x", filter: { year: [2023, 2024] } } }),
      ["body", "filter", "year"],
      "use $in",
    ],
  ])("%s", async (_, method, path, call, loc, message) => {
    const response = await client.send(method, path, await call());
    const { detail }: Json = await response.json();
    expect(response.status).toBe(422);
    expect(detail.find((issue: Json) => issue.loc.join() === loc.join())?.msg).toContain(message);
    expect(JSON.stringify(detail)).not.toMatch(/\[A-Za-z|dictionary|Invalid input|Value error/);
  });

  it.each([
    ["GET", "/video", 404, "nothing at /video."],
    ["POST", "/video", 404, "Perhaps you mean POST /index/{index_name}/video."],
    ["GET", "/index/a/video", 405, "Perhaps you mean GET /index/{index_name}/videos."],
    ["POST", "/index/a/serach", 404, "Perhaps you mean POST /index/{index_name}/search."],
    ["GET", "/nowhere", 404, "There is nothing at /nowhere."],
    ["GET", "/indices", 404, "Perhaps you mean GET /index."],
    ["GET", "/openapi", 404, "Perhaps you mean GET /openapi.json."],
    ["POST", "/index/a/ask", 404, "Perhaps you mean GET /index/{index_name}/answer."],
    ["POST", "/index/a/answer", 405, "Ask with GET, and the question as ?query=."],
    ["GET", `/index/a/video/${IMAGE_ID}`, 404, "It is an image: use …/image/{image_id}."],
  ])("%s %s", async (method, path, status, message) => {
    const response = await client.send(method, path);
    expect(response.status).toBe(status);
    expect((await response.json<Json>()).detail).toContain(message);
  });

  it("a form in a search for words", async () => {
    const response = await client.send("POST", "/index/a/search", {
      form: { image_file: await words() },
    });
    expect(response.status).toBe(422);
    expect((await response.json<Json>()).detail[0].msg).toContain("search_image or search_video");
  });

  it("a folder of its own for an image, which filters answers and searches", async () => {
    await client.json("POST", "/index", { json: { index_name: "folders" } });
    const form = { image_file: await fixture("boats.jpg"), folder: "../Trip/Day 1" };
    const image = await client.json("POST", "/index/folders/image", { form });
    await client.waitForAsset("folders", image);
    const search = async (folder: string) => {
      const json = { query: "boats", filter: { folder } };
      return (await client.json("POST", "/index/folders/search", { json })).segments.length;
    };
    const ask = async (folder: string): Promise<Json> => {
      const query = new URLSearchParams({ query: "boats", filter: JSON.stringify({ folder }) });
      return client.json("GET", `/index/folders/answer?${query.toString()}`);
    };
    expect([await search("Trip/Day 1"), await search("Trip")]).toEqual([1, 0]);
    const [inside, outside] = [await ask("Trip/Day 1"), await ask("Trip")];
    expect([...inside.citations, ...inside.related][0]).toMatchObject({ folder: "Trip/Day 1" });
    expect([...outside.citations, ...outside.related]).toEqual([]);
  });

  it("JSON in place of a form", async () => {
    const json = { video_url: "https://videos.example/a.mp4" };
    const response = await client.send("POST", "/index/a/video", { json });
    expect(response.status).toBe(415);
    const { detail } = await response.json<Json>();
    expect(detail).toMatch(/multipart\/form-data, with video_file, video_url.*\?video_url=/);
  });

  it.each([
    [{}, "There is nothing to find yet: add videos and images."],
    [{ filter: { asset_type: "video" } }, "of the filter. Use `modes`."],
    [{ filter: { "metadata.year": 2024 } }, "of the filter. Use `year`."],
  ])("a search that can't find anything, with %j", async (fields, hint) => {
    const json = { query: "boat", ...fields };
    const { query } = await client.json("POST", "/index/a/search", { json });
    expect(query.hint).toContain(hint);
  });

  it("a bearer token", async () => {
    const headers = { authorization: `Bearer ${client.key}` };
    const response = await new Client("").send("GET", "/stats", { headers });
    expect(response.status).toBe(401);
    expect((await response.json<Json>()).detail).toMatch(/X-API-Key header, not in Authorization/);
  });
});

it("a part or a parameter that is near no known one is ignored", async () => {
  const form = { image_file: await words(), titel: "x", constructor: new File(["x"], "x") };
  await client.json("POST", "/index/a/image?user_id=1", { form });
  await client.json("GET", "/index/a/images?_=1&user_id=1");
});
