import sharp, { type Sharp } from "sharp";
import { describe, expect, it } from "vitest";
import {
  cameraName,
  parseExifTime,
  readImageFacts,
} from "../../../../src/media/exif/capture-facts.ts";
import { readMovieFacts } from "../../../../src/media/exif/movie-facts.ts";
import { imageOfBytes } from "../../../../src/media/pixels/image-file.ts";

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

describe("the time in an EXIF", () => {
  it.each([
    [TIME, "+02:00", "2024-06-01T10:30:00.000Z"],
    [TIME, "", "2024-06-01T12:30:00.000Z"],
    [TIME, "+99:00", "2024-06-01T12:30:00.000Z"],
    ["2024-06-01T12:30:00", "", "2024-06-01T12:30:00.000Z"],
    ["1700:01:01 00:00:00", "", null],
    ["2024:06:01 25:00:00", "", null],
    ["2024:06:01", "", null],
  ])("%s %s is %s", (text, zone, expected) => {
    expect(parseExifTime(text, zone)).toBe(expected);
  });
});

describe("the name of a camera", () => {
  it.each([
    ["Canon", "Canon EOS R5", "Canon EOS R5"],
    ["Apple", "iPhone 15", "Apple iPhone 15"],
    ["", "iPhone 15", "iPhone 15"],
    ["Apple", "", "Apple"],
    ["", "", null],
  ])("of %j and %j is %j", (make, model, expected) => {
    expect(cameraName(make, model)).toBe(expected);
  });
});

describe("facts of what took a video", () => {
  const box = (type: string, content: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(8 + content.length);
    return Buffer.concat([size, Buffer.from(type, "latin1"), content]);
  };
  const header = (seconds: number) => {
    const content = Buffer.alloc(100);
    content.writeUInt32BE(seconds, 4);
    return box("mvhd", content);
  };
  const movie = (...boxes: Buffer[]) =>
    imageOfBytes(
      Buffer.concat([box("ftyp", Buffer.from("qt  \0\0\0\0")), box("moov", Buffer.concat(boxes))]),
    );
  const taken = header(2_082_844_800 + Date.UTC(2024, 5, 1, 10, 30) / 1000);
  const place = Buffer.from("\0\x12\x15\xc7+60.3916+005.3200/", "latin1");

  it("are its creation and its place, as Android writes it", async () => {
    const userData = box("udta", box("\xa9xyz", place));
    expect(await readMovieFacts(movie(taken, userData))).toEqual({
      taken_at: "2024-06-01T10:30:00.000Z",
      latitude: 60.3916,
      longitude: 5.32,
    });
  });

  it("are its creation and its place, as Apple writes it", async () => {
    const keys = "com.apple.quicktime.location.ISO6709";
    const text = `${keys}\0\0\0data-33.8583-070.5000+125.000CRSWGS_84/`;
    expect(await readMovieFacts(movie(box("meta", Buffer.from(text))))).toEqual({
      latitude: -33.8583,
      longitude: -70.5,
      altitude: 125,
    });
  });

  it.each([
    ["a creation of zero", movie(header(0))],
    ["a short header", movie(box("mvhd", Buffer.alloc(3)))],
    ["a creation before 1970", movie(header(1))],
    ["a place beyond the pole", movie(box("udta", Buffer.from("\xa9xyz+91.0+005.3/", "latin1")))],
    ["no movie", imageOfBytes(Buffer.from("RIFF"))],
  ])("are left out of a file with %s", async (_, file) => {
    expect(await readMovieFacts(file)).toEqual({});
  });
});
