import { beforeAll, describe, expect, inject, it } from "vitest";
import { type Client, fixtureUrl, newClient } from "../support/client.ts";
import { createIndex, runImport } from "../support/import-helpers.ts";
import { stubPlatform } from "../support/platform-stubs.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("a file by URL", () => {
  const withName = (name: string, disposition: string) =>
    `${fixtureUrl(name)}?disposition=${encodeURIComponent(disposition)}`;

  it("has the name that its server gives it as the title", async () => {
    await createIndex(client, "named");
    const url = withName(
      "words.jpg",
      `attachment; filename="x.jpg"; filename*=UTF-8''f%C3%AAte.jpg`,
    );
    const path = `/index/named/image?image_url=${encodeURIComponent(url)}`;
    const image = await client.waitForAsset("named", await client.json("POST", path));
    expect(image).toMatchObject({ state: "ready", title: "fête.jpg" });
    const file = withName("clip.mp4", String.raw`inline; filename="6\" nails; x.mp4"`);
    const job = await runImport(client, "named/videonet/url", { url: file });
    const video = await client.json("GET", `/index/named/video/${job.result.items[0].video_id}`);
    expect(video).toMatchObject({ title: '6" nails; x.mp4' });
  });

  it("keeps the title of its page", async () => {
    await createIndex(client, "titled");
    const html = `<title>Nails</title><video src="${withName("speech.mp4", "inline; filename=a.mp4")}">`;
    await stubPlatform("nails", { items: [], html });
    const url = `${inject("platformsOrigin")}/pages/nails`;
    const job = await runImport(client, "titled/videonet/url", { url });
    const video = await client.json("GET", `/index/titled/video/${job.result.items[0].video_id}`);
    expect(video).toMatchObject({ state: "ready", title: "Nails" });
  });
});
