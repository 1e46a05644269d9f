import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";

let client: Client;
let film: Json;
let photo: Json;
let scan: Json;

/** Returns a JPEG with XMP that describes it. */
async function describedImage(name: string): Promise<File> {
  const bytes = Buffer.from(await (await fixture("boats.jpg")).arrayBuffer());
  const list = (items: string[]) => items.map((item) => `<rdf:li>${item}</rdf:li>`).join("");
  const xmp =
    `http://ns.adobe.com/xap/1.0/\0<rdf:RDF><dc:title><rdf:Alt>` +
    `<rdf:li xml:lang="x-default">Regatta of the fishers</rdf:li></rdf:Alt></dc:title>` +
    `<dc:subject><rdf:Bag>${list(["Warnemünde", "sails &amp; oars"])}</rdf:Bag></dc:subject></rdf:RDF>`;
  const segment = (marker: number, content: Buffer) =>
    Buffer.concat([Buffer.from([0xff, marker, 0, content.length + 2]), content]);
  const keyword = Buffer.from("\x1c\x02\x19\0\x06Ostsee", "latin1");
  const resource = Buffer.from("Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x0b", "latin1");
  const iptc = segment(0xed, Buffer.concat([resource, keyword, Buffer.alloc(1)]));
  const content = Buffer.from(xmp);
  const header = Buffer.from([0xff, 0xe1, 0, 0]);
  header.writeUInt16BE(content.length + 2, 2);
  return new File([bytes.subarray(0, 2), iptc, header, content, bytes.subarray(2)], name);
}

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "archive" } });
  const add = async (kind: "video" | "image", file: File) => {
    const form = { [`${kind}_file`]: file };
    const added = await client.json("POST", `/index/archive/${kind}`, { form });
    return client.waitForAsset("archive", added);
  };
  const rename = async (name: string, to: string) =>
    new File([await (await fixture(name)).arrayBuffer()], to);
  film = await add("video", await rename("clip.mp4", "Archiv/Harz 2019/oma_backt_kuchen.mp4"));
  photo = await add("image", await describedImage(String.raw`D:\Fotos\..\See\IMG_2034.jpg`));
  scan = await add("image", await rename("words.jpg", "Zwieback.jpg"));
});

const search = (json: object) => client.json("POST", "/index/archive/search", { json });
const idsOf = ({ segments }: Json): string[] => segments.map(({ asset_id }: Json) => asset_id);

describe("an asset", () => {
  it("has the folder, description and keywords of its file among its facts", () => {
    expect(film).toMatchObject({
      title: "oma_backt_kuchen.mp4",
      technical: { folder: "Archiv/Harz 2019" },
    });
    expect(photo).toMatchObject({
      title: "IMG_2034.jpg",
      technical: {
        folder: "Fotos/See",
        description: "Regatta of the fishers",
        keywords: ["Ostsee", "Warnemünde", "sails & oars"],
      },
    });
    expect(scan.technical).not.toHaveProperty("folder");
  });

  it.each<[string, () => Json, "title" | "description", string]>([
    ["Oma backt Kuchen", () => film, "title", "<mark>oma</mark>"],
    ["harz", () => film, "title", "<mark>Harz</mark>"],
    ["2034", () => photo, "title", "<mark>2034</mark>"],
    ["IMG_2034.jpg", () => photo, "title", "<mark>jpg</mark>"],
    ["Fotos/See/IMG_2034.jpg", () => photo, "title", "<mark>Fotos</mark>"],
    ["regatta", () => photo, "description", "<mark>Regatta</mark>"],
    ["warnemunde oars", () => photo, "description", "<mark>Warnemünde</mark>"],
  ])("is one hit, the first, for its name: %s", async (query, asset, kind, marked) => {
    const found = await search({ query, top_p: 0.5 });
    expect(idsOf(found)).toEqual([asset().asset_id]);
    expect(found.segments[0].folder).toBe(asset().technical.folder);
    const evidence = found.segments[0].evidence.find((each: Json) => each.kind === kind);
    expect(evidence.text).toContain(marked);
    expect(found.query.corrected).toBeNull();
  });

  it("is found by its name alone with the mode `title`, and not with others", async () => {
    expect(idsOf(await search({ query: "kuchen", modes: ["title"] }))).toEqual([film.asset_id]);
    expect(idsOf(await search({ query: "lantern", modes: ["title"] }))).toEqual([]);
    const spoken = await search({ query: "kuchen", modes: ["speech", "visual"], top_p: 0.5 });
    expect(idsOf(spoken)).toEqual([]);
  });

  it("is found by a phrase of its name, and left out by an excluded word of it", async () => {
    expect(idsOf(await search({ query: '"backt kuchen"', top_p: 0.5 }))).toEqual([film.asset_id]);
    expect(idsOf(await search({ query: '"kuchen backt"' }))).toEqual([]);
    expect(idsOf(await search({ query: "lantern -zwieback" }))).not.toContain(scan.asset_id);
  });

  it("is found by a word of its name together with one of its picture", async () => {
    const [best] = (await search({ query: "zwieback lantern" })).segments;
    expect(best.asset_id).toBe(scan.asset_id);
    expect(best.evidence.map(({ kind }: Json) => kind)).toEqual(
      expect.arrayContaining(["title", "text"]),
    );
  });

  it.each<[object, () => Json[]]>([
    [{ title: "Zwieback.jpg" }, () => [scan]],
    [{ folder: "Fotos/See" }, () => [photo]],
    [{ folder: { $in: ["Fotos/See", "Archiv/Harz 2019"] } }, () => [film, photo]],
    [{ folder: null }, () => [scan]],
    [{ "technical.keywords": "Warnemünde" }, () => [photo]],
  ])("passes a filter on its title, folder and keywords: %j", async (filter, assets) => {
    const found = new Set(idsOf(await search({ query: "boat lantern goat", filter })));
    expect(found).toEqual(new Set(assets().map(({ asset_id }) => asset_id)));
  });

  it("is counted by its folder", async () => {
    const { facets } = await search({ query: "boat lantern goat", facets: ["folder"] });
    const keys = facets.folder.map(({ key }: Json) => key);
    expect(keys.toSorted()).toEqual(["Archiv/Harz 2019", "Fotos/See", null]);
  });

  it("is found by its new name once it is renamed", async () => {
    const path = `/index/archive/image/${scan.asset_id}`;
    await client.json("PATCH", path, { json: { title: "Knäckebrot.jpg" } });
    expect(idsOf(await search({ query: "knackebrot", top_p: 0.5 }))).toEqual([scan.asset_id]);
    expect(idsOf(await search({ query: "zwieback", top_p: 0.5 }))).toEqual([]);
  });
});

describe("a resumable upload", () => {
  it("keeps the folder of its file", async () => {
    const bytes = await (await fixture("words.jpg")).bytes();
    const name = Buffer.from("Scans/1987/receipt.jpg").toString("base64");
    await client.json("POST", "/index", { json: { index_name: "scans" } });
    const created = await client.send("POST", "/index/scans/uploads", {
      headers: {
        "tus-resumable": "1.0.0",
        "upload-length": String(bytes.length),
        "upload-metadata": `filename ${name}`,
        "content-type": "application/offset+octet-stream",
      },
      body: bytes,
    });
    expect(created.status).toBe(201);
    const { videos, ...listed } = await client.json("GET", "/index/scans/images");
    expect(videos).toBeUndefined();
    const [image] = listed.images;
    expect(image).toMatchObject({ title: "receipt.jpg", technical: { folder: "Scans/1987" } });
  });
});
