import sharp, { type Sharp } from "sharp";
import { describe, expect, it } from "vitest";
import { makeBox } from "../../../../src/media/container/mp4-boxes.ts";
import { cameraName, readImageFacts } from "../../../../src/media/exif/capture-facts.ts";
import { imageOfBytes } from "../../../../src/media/pixels/decode-image.ts";

const TIME = "2024:06:01 12:30:00";
const PLACE = {
  GPSLatitudeRef: "S",
  GPSLatitude: "33/1 51/1 3000/100",
  GPSLongitudeRef: "W",
  GPSLongitude: "70/1 30/1 0/1",
};

type Exif = NonNullable<Parameters<Sharp["withExif"]>[0]>;

const image = (exif: Exif) =>
  sharp({ create: { width: 8, height: 8, channels: 3, background: "teal" } }).withExif(exif);

const factsOf = async (exif: Exif) =>
  readImageFacts(imageOfBytes(await image(exif).jpeg().toBuffer()), "image/jpeg");

/** Puts segments behind the first marker of a JPEG. */
const withSegments = (jpeg: Buffer, ...segments: [marker: number, content: Buffer][]) =>
  Buffer.concat([
    jpeg.subarray(0, 2),
    ...segments.map(([marker, content]) => {
      const head = Buffer.from([0xff, marker, 0, 0]);
      head.writeUInt16BE(content.length + 2, 2);
      return Buffer.concat([head, content]);
    }),
    jpeg.subarray(2),
  ]);

const latin1 = (text: string) => Buffer.from(text, "latin1");
const uint32 = (number: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
};
const rdf = (properties: string) =>
  latin1(
    `<x:xmpmeta><rdf:RDF><rdf:Description ${properties}</rdf:Description></rdf:RDF></x:xmpmeta>`,
  );
const xmpSegment = (properties: string): [number, Buffer] => [
  0xe1,
  Buffer.concat([latin1("http://ns.adobe.com/xap/1.0/\0"), rdf(properties)]),
];
/** Makes an image resource of Photoshop. */
const resource = (id: number, content: Buffer) =>
  Buffer.concat([
    latin1("8BIM"),
    uint32(id * 65_536), // and an empty name
    uint32(content.length),
    content,
    Buffer.alloc(content.length % 2),
  ]);
const iptc = (sets: Record<number, string>) =>
  Buffer.concat(
    Object.entries(sets).flatMap(([set, text]) => [
      Buffer.from([0x1c, 2, Number(set), 0, text.length]),
      latin1(text),
    ]),
  );
const exifOf = async (exif: Exif) => {
  const { exif: block } = await sharp(await image(exif).jpeg().toBuffer()).metadata();
  return block!; // begins with "Exif\0\0"
};

describe("facts of what took an image", () => {
  const exif = {
    IFD0: { Make: "Lumen", Model: "One" },
    IFD2: { DateTimeOriginal: TIME, OffsetTimeOriginal: "-03:00", LensModel: "35mm F2" },
    IFD3: { ...PLACE, GPSAltitudeRef: "0", GPSAltitude: "1250/10" },
  };

  it.each<[string, (made: Sharp) => Sharp]>([
    ["image/jpeg", (made) => made.jpeg()],
    ["image/png", (made) => made.png()],
    ["image/webp", (made) => made.webp()],
    ["image/avif", (made) => made.avif({ effort: 0 })],
  ])("are read from the EXIF of %s", async (mime, encode) => {
    const bytes = await encode(image(exif)).toBuffer();
    expect(await readImageFacts(imageOfBytes(bytes), mime)).toEqual({
      taken_at: "2024-06-01T15:30:00.000Z",
      camera: "Lumen One",
      lens: "35mm F2",
      latitude: -33.858333,
      longitude: -70.5,
      altitude: 125,
    });
  });

  it("are left out where an image has no EXIF", async () => {
    const bytes = await sharp(await image(exif).png().toBuffer())
      .png()
      .toBuffer();
    expect(await readImageFacts(imageOfBytes(bytes), "image/png")).toEqual({});
    expect(await readImageFacts(imageOfBytes(bytes), "image/heic")).toEqual({});
  });

  it.each<[string, Exif]>([
    ["a latitude beyond the pole", { IFD3: { ...PLACE, GPSLatitude: "91/1 0/1 0/1" } }],
    ["a longitude beyond the date line", { IFD3: { ...PLACE, GPSLongitude: "181/1 0/1 0/1" } }],
    [
      "a latitude without a longitude",
      { IFD3: { GPSLatitudeRef: "N", GPSLatitude: "1/1 0/1 0/1" } },
    ],
    ["a latitude over zero", { IFD3: { ...PLACE, GPSLatitude: "1/0 0/1 0/1" } }],
    ["31 February", { IFD2: { DateTimeOriginal: "2024:02:31 12:00:00" } }],
    ["a clock that was never set", { IFD2: { DateTimeOriginal: "0000:00:00 00:00:00" } }],
    ["a time in words", { IFD2: { DateTimeOriginal: "yesterday" } }],
    ["a name of blanks", { IFD0: { Make: " ", Model: " " } }],
  ])("are left out where they are impossible: %s", async (_, impossible) => {
    expect(await factsOf(impossible)).toEqual({});
  });

  it("are one short line each, whatever the EXIF has", async () => {
    const { camera } = await factsOf({ IFD0: { Make: "a\u0007\r\nb", Model: "x".repeat(500) } });
    expect(camera).toHaveLength(100);
    expect(camera).toMatch(/^a b x+$/);
  });

  it("of a cut or damaged file never throw", async () => {
    const bytes = await image(exif).jpeg().toBuffer();
    const head = bytes.subarray(0, 700);
    for (let length = 0; length < head.length; length += 7) {
      await readImageFacts(imageOfBytes(head.subarray(0, length)), "image/jpeg");
    }
    for (let at = 20; at < head.length; at += 3) {
      for (const value of [0, 1, 0x7f, 0xff]) {
        const damaged = Buffer.from(head);
        damaged.fill(value, at, Math.min(at + 4, damaged.length));
        const { latitude = 0, taken_at = "2024-" } = await readImageFacts(
          imageOfBytes(damaged),
          "image/jpeg",
        );
        expect(Math.abs(latitude)).toBeLessThanOrEqual(90);
        expect(taken_at).toMatch(/^\d{4}-/);
      }
    }
  });
});

describe("the time that an image was taken", () => {
  const takenAt = async (exif: Exif, ...segments: [number, Buffer][]) => {
    const jpeg = withSegments(await image(exif).jpeg().toBuffer(), ...segments);
    return (await readImageFacts(imageOfBytes(jpeg), "image/jpeg")).taken_at;
  };
  const GPS = { GPSDateStamp: "2024:06:01", GPSTimeStamp: "10/1 28/1 3050/100" };
  const UTC = "2024-06-01T10:30:00.000Z";
  const plain = { DateTimeOriginal: TIME };

  it.each<[string, Exif, string | undefined]>([
    ["no zone", { IFD2: plain }, "2024-06-01T12:30:00.000Z"],
    ["its own zone", { IFD2: { ...plain, OffsetTimeOriginal: "+02:00", OffsetTime: "Z" } }, UTC],
    ["the zone of its file", { IFD2: { ...plain, OffsetTime: "+02:00" } }, UTC],
    ["the zone of its scan", { IFD2: { ...plain, OffsetTimeDigitized: "+02:00" } }, UTC],
    ["a zone without a colon", { IFD2: { ...plain, OffsetTimeOriginal: "+0200" } }, UTC],
    [
      "a blank zone and another",
      { IFD2: { ...plain, OffsetTimeOriginal: "   :  ", OffsetTime: "+02:00" } },
      UTC,
    ],
    ["the time of satellites", { IFD2: plain, IFD3: GPS }, UTC],
    [
      "that of another day",
      { IFD2: plain, IFD3: { ...GPS, GPSDateStamp: "2024:05:01" } },
      "2024-06-01T12:30:00.000Z",
    ],
    ["nothing but satellites", { IFD3: GPS }, "2024-06-01T10:28:30.000Z"],
    ["nothing but their day", { IFD3: { GPSDateStamp: "2024:06:01" } }, "2024-06-01T00:00:00.000Z"],
    [
      "parts of a second",
      { IFD2: { ...plain, SubSecTimeOriginal: "67 " } },
      "2024-06-01T12:30:00.670Z",
    ],
    [
      "the time of its scan",
      {
        IFD2: { DateTimeDigitized: TIME, SubSecTimeDigitized: "5", OffsetTimeDigitized: "+02:00" },
      },
      "2024-06-01T10:30:00.500Z",
    ],
    ["the time of its change", { IFD0: { DateTime: TIME }, IFD2: { OffsetTime: "+02:00" } }, UTC],
    [
      "a clock that was never set, and its scan",
      { IFD2: { DateTimeOriginal: "0000:00:00 00:00:00", DateTimeDigitized: TIME } },
      "2024-06-01T12:30:00.000Z",
    ],
    [
      "its scan, satellites and its change",
      { IFD0: { DateTime: "2025:01:01 00:00:00" }, IFD2: { DateTimeDigitized: TIME }, IFD3: GPS },
      UTC,
    ],
  ])("is read from EXIF with %s", async (_, exif, expected) => {
    expect(await takenAt(exif)).toBe(expected);
  });

  it.each([
    ["an attribute", 'exif:DateTimeOriginal="2024-06-01T12:30:00+02:00">', UTC],
    [
      "an element",
      "><exif:DateTimeOriginal>2024-06-01T12:30:00.000+02:00</exif:DateTimeOriginal>",
      UTC,
    ],
    [
      "without seconds",
      "><photoshop:DateCreated>2024-06-01T05:30-05:00</photoshop:DateCreated>",
      UTC,
    ],
    ["a day", "photoshop:DateCreated='1950-07-01'>", "1950-07-01T00:00:00.000Z"],
    ["a year alone", "photoshop:DateCreated='1950'>", undefined],
    ["the time of its scan", 'xmp:CreateDate="2024-06-01T10:30:00Z">', UTC],
    [
      "two",
      'xmp:CreateDate="2025-01-01T00:00:00Z" photoshop:DateCreated="2024-06-01T10:30:00Z">',
      UTC,
    ],
    ["satellites", "><exif:GPSTimeStamp>2024-06-01T10:30:00Z</exif:GPSTimeStamp>", UTC],
    ["another prefix", 'xmpMM:CreateDate="2024-06-01T10:30:00Z">', undefined],
  ])("is read from XMP: %s", async (_, properties, expected) => {
    expect(await takenAt({}, xmpSegment(properties))).toBe(expected);
  });

  it.each([
    ["with a zone", { 55: "20240601", 60: "123000+0200" }, UTC],
    ["a day", { 55: "20240601" }, "2024-06-01T00:00:00.000Z"],
    ["of its scan", { 62: "20240601", 63: "103000+0000" }, UTC],
  ])("is read from IPTC: %s", async (_, sets, expected) => {
    const content = Buffer.concat([
      latin1("Photoshop 3.0\0"),
      resource(1000, latin1("odd")),
      resource(1028, iptc(sets)),
    ]);
    expect(await takenAt({}, [0xed, content])).toBe(expected);
  });

  it("is the one of EXIF before those of XMP, whose scan comes after its day", async () => {
    const xmp = xmpSegment('xmp:CreateDate="2020-01-01T00:00:00Z">');
    expect(await takenAt({ IFD2: plain }, xmp)).toBe("2024-06-01T12:30:00.000Z");
    const day = xmpSegment('photoshop:DateCreated="1950-07-01">');
    expect(await takenAt({ IFD2: { DateTimeDigitized: TIME } }, day)).toMatch(/^1950-07-01/);
  });
});

describe("the place of an image", () => {
  const placeOf = async (exif: Exif, properties: string) => {
    const jpeg = withSegments(await image(exif).jpeg().toBuffer(), xmpSegment(properties));
    return readImageFacts(imageOfBytes(jpeg), "image/jpeg");
  };
  const XMP =
    'exif:GPSLatitude="33,51.5S" exif:GPSLongitude="70,30,0W" ' +
    'exif:GPSAltitude="1250/10" exif:GPSAltitudeRef="1">';
  const FROM_XMP = { latitude: -33.858333, longitude: -70.5, altitude: -125 };

  it("is read from XMP", async () => {
    expect(await placeOf({}, XMP)).toEqual(FROM_XMP);
  });

  it.each<[string, Exif]>([
    ["0, 0", { IFD3: { ...PLACE, GPSLatitude: "0/1 0/1 0/1", GPSLongitude: "0/1 0/1 0/1" } }],
    ["nothing", { IFD3: { GPSLatitudeRef: "N" } }],
  ])("isn't read from EXIF that says %s", async (_, exif) => {
    expect(await placeOf(exif, ">")).toEqual({});
    expect(await placeOf(exif, XMP)).toEqual(FROM_XMP);
  });

  it("is read with one zero", async () => {
    const equator = { ...PLACE, GPSLatitude: "0/1 0/1 0/1" };
    expect(await placeOf({ IFD3: equator }, ">")).toEqual({ latitude: 0, longitude: -70.5 });
  });

  it("is below the sea, also where the height has no sign", async () => {
    const deep = { ...PLACE, GPSAltitudeRef: "0", GPSAltitude: "4294967284/1" };
    expect(await placeOf({ IFD3: deep }, ">")).toMatchObject({ altitude: -12 });
  });
});

describe("the EXIF of an image", () => {
  const exif = { IFD2: { DateTimeOriginal: TIME } };
  const expected = { taken_at: "2024-06-01T12:30:00.000Z" };
  const read = async (bytes: Buffer, type: string) => readImageFacts(imageOfBytes(bytes), type);

  it("is read behind 20 long segments of a JPEG", async () => {
    const long = [0xe6, Buffer.alloc(65_000)] as [number, Buffer];
    const jpeg = withSegments(
      await image(exif).jpeg().toBuffer(),
      ...Array.from({ length: 20 }, () => long),
    );
    expect(await read(jpeg, "image/jpeg")).toEqual(expected);
  });

  it("is read behind bytes that are in no segment of a JPEG", async () => {
    const jpeg = await image(exif).jpeg().toBuffer();
    const stray = Buffer.concat([jpeg.subarray(0, 2), latin1("\0\xff\xff"), jpeg.subarray(2)]);
    expect(await read(stray, "image/jpeg")).toEqual(expected);
  });

  const blank = sharp({ create: { width: 8, height: 8, channels: 3, background: "teal" } });
  /** Puts chunks behind the pixels of a PNG. */
  const pngWith = async (...chunks: [type: string, content: Buffer][]) => {
    const png = await blank.clone().png().toBuffer();
    const parts = chunks.flatMap(([type, content]) => [
      uint32(content.length),
      latin1(type),
      content,
      uint32(0),
    ]);
    return Buffer.concat([png.subarray(0, -12), ...parts, png.subarray(-12)]);
  };

  it("is read behind the pixels of a PNG in 2,500 chunks", async () => {
    const block = (await exifOf(exif)).subarray(6);
    const pixels = Array.from({ length: 2500 }, (): [string, Buffer] => ["IDAT", Buffer.alloc(10)]);
    expect(await read(await pngWith(...pixels, ["eXIf", block]), "image/png")).toEqual(expected);
  });

  it("may be missing where a PNG has XMP", async () => {
    const packet = rdf('xmp:CreateDate="2024-06-01T12:30:00Z">');
    const text = Buffer.concat([latin1("XML:com.adobe.xmp\0\0\0\0\0"), packet]);
    expect(await read(await pngWith(["iTXt", text]), "image/png")).toEqual(expected);
  });

  it.each([
    ["with its offset", latin1("\0\0\0\0"), 6],
    ["with its name", latin1("\0\0\0\x06"), 0],
    ["without its offset", Buffer.alloc(0), 6],
  ])("is read from a box of a JPEG XL: %s", async (_, prefix, from) => {
    const block = Buffer.concat([prefix, (await exifOf(exif)).subarray(from)]);
    const boxes = [
      makeBox("JXL ", latin1("\r\n\x87\n")),
      makeBox("jxlc", Buffer.alloc(9)),
      makeBox("Exif", block),
    ];
    expect(await read(Buffer.concat(boxes), "image/jxl")).toEqual(expected);
  });

  it("is read from a HEIF whose item begins with the TIFF", async () => {
    const avif = await image(exif).avif({ effort: 0 }).toBuffer();
    const at = avif.lastIndexOf("Exif\0\0");
    expect(at).toBeGreaterThan(0);
    const tiff = Buffer.concat([avif.subarray(at + 6), Buffer.alloc(10)]);
    const bytes = Buffer.concat([avif.subarray(0, at - 4), tiff]);
    expect(await read(bytes, "image/avif")).toEqual(expected);
  });

  it("and XMP and IPTC are read from a Photoshop file", async () => {
    const psd = (...resources: Buffer[]) => {
      const section = Buffer.concat(resources);
      const colours = Buffer.alloc(768, 1);
      const parts = [uint32(768), colours, uint32(section.length), section, Buffer.alloc(20)];
      return Buffer.concat([latin1("8BPS"), Buffer.alloc(22), ...parts]);
    };
    const block = (await exifOf(exif)).subarray(6);
    const type = "image/vnd.adobe.photoshop";
    expect(await read(psd(resource(1005, latin1("x")), resource(1058, block)), type)).toEqual(
      expected,
    );
    const xmp = rdf('xmp:CreateDate="2024-06-01T12:30:00Z">');
    expect(await read(psd(resource(1060, xmp)), type)).toEqual(expected);
    expect(await read(psd(resource(1028, iptc({ 55: "20240601" }))), type)).toEqual({
      taken_at: "2024-06-01T00:00:00.000Z",
    });
  });

  it.each<[string, (made: Sharp) => Sharp]>([
    ["image/webp", (made) => made.webp()],
    ["image/avif", (made) => made.avif({ effort: 0 })],
    ["image/tiff", (made) => made.tiff()],
  ])("may be missing where %s has XMP", async (mime, encode) => {
    const packet = rdf('tiff:Make="Lumen" tiff:Model="One" aux:Lens="35mm F2">').toString();
    const bytes = await encode(blank.clone().withXmp(packet)).toBuffer();
    expect(await read(bytes, mime)).toEqual({ camera: "Lumen One", lens: "35mm F2" });
  });
});

describe("the name of a camera", () => {
  it.each([
    ["Canon", "Canon EOS R5", "Canon EOS R5"],
    ["Apple", "iPhone 15", "Apple iPhone 15"],
    ["", "iPhone 15", "iPhone 15"],
    ["Apple", "", "Apple"],
    ["NIKON CORPORATION", "NIKON Z 6_2", "NIKON Z 6_2"],
    ["EASTMAN KODAK COMPANY", "KODAK DC240", "KODAK DC240"],
    ["LG Electronics", "LG-H870", "LG-H870"],
    ["OLYMPUS IMAGING CORP.", "E-M10", "OLYMPUS IMAGING CORP. E-M10"],
    ["", "", null],
  ])("of %j and %j is %j", (make, model, expected) => {
    expect(cameraName(make, model)).toBe(expected);
  });
});
