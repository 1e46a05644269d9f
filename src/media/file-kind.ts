import { imageFormat } from "./image-format.ts";

/** What a file is, for people, and what to do with it. */
interface FileKind {
  name: string;
  advice: string;
}

const OFFICE = "export it as images, or as a video in MP4";
const UNPACK = "unpack it, and send the videos and images in it";
const PROGRAM = { name: "a program", advice: "send a video or an image" };
const RESPONSE = "perhaps an error page: open its URL in a browser, and send the file itself";
const WRITING = "send a video or an image";
const AS_PNG = "save it as PNG or JPEG";

/** Kinds by media type, or by its beginning if that ends in a slash. */
const KINDS: Readonly<Record<string, FileKind>> = {
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": {
    name: "a PowerPoint presentation",
    advice: OFFICE,
  },
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": {
    name: "a Word document",
    advice: OFFICE,
  },
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": {
    name: "an Excel workbook",
    advice: OFFICE,
  },
  "application/vnd.oasis.opendocument.": { name: "an OpenDocument file", advice: OFFICE },
  "application/x-cfb": { name: "an old Word, Excel or PowerPoint file", advice: OFFICE },
  "application/rtf": { name: "a text document (RTF)", advice: OFFICE },
  "application/pdf": { name: "a PDF document", advice: "export its pages as images" },
  "application/epub+zip": { name: "an e-book", advice: WRITING },
  "application/postscript": { name: "a PostScript file", advice: AS_PNG },
  "application/eps": { name: "a PostScript file", advice: AS_PNG },
  "application/zip": { name: "a ZIP archive", advice: UNPACK },
  "application/x-rar-compressed": { name: "a RAR archive", advice: UNPACK },
  "application/x-7z-compressed": { name: "a 7-Zip archive", advice: UNPACK },
  "application/x-tar": { name: "a tar archive", advice: UNPACK },
  "application/gzip": { name: "a gzip archive", advice: UNPACK },
  "application/x-msdownload": PROGRAM,
  "application/x-elf": PROGRAM,
  "application/x-mach-binary": PROGRAM,
  "application/xml": { name: "XML text", advice: RESPONSE },
  "text/html": { name: "a web page (HTML)", advice: RESPONSE },
  "application/json": { name: "JSON text", advice: RESPONSE },
  "application/vnd.apple.mpegurl": {
    name: "a playlist of other files",
    advice: "send the video itself",
  },
  "image/svg+xml": { name: "a drawing (SVG)", advice: AS_PNG },
  "text/vtt": { name: "a subtitle file", advice: "send it as `transcript` with its video" },
  "text/plain": { name: "a text file", advice: WRITING },
  "audio/": { name: "sound of a kind that isn't read here", advice: "save it as MP3, M4A or WAV" },
};

const EMPTY = { name: "empty", advice: "send it again" };
const UNKNOWN = { name: "of an unknown format", advice: "send a video as MP4, an image as JPEG" };

/** Says what a file is that was refused, by its media type and its first bytes, and what to do. */
export function describeFile(head: Uint8Array, mime: string | undefined): string {
  const { name, advice } = fileKind(head, mime);
  return `The file is ${name}: ${advice}.`;
}

function fileKind(head: Uint8Array, sniffedMime: string | undefined): FileKind {
  if (head.length === 0) return EMPTY;
  const mime = refineType(head, sniffedMime);
  if (mime === undefined) return UNKNOWN;
  if (mime.startsWith("video/")) return { name: "a video", advice: "send it as a video" };
  const format = imageFormat(mime);
  if (format) return { name: `an image (${format.name})`, advice: "send it as an image" };
  const kind = Object.entries(KINDS).find(([type]) =>
    /[/.]$/.test(type) ? mime.startsWith(type) : mime === type,
  );
  if (!kind && mime.startsWith("image/")) {
    return { name: `an image of a kind that isn't read (${mime})`, advice: AS_PNG };
  }
  const { name, advice } = kind?.[1] ?? { name: mime, advice: WRITING };
  return { name: `${name}, not a video or an image`, advice };
}

/** Parts of an Office file, whose names are in the first bytes of its ZIP archive. */
const OFFICE_PARTS: [name: string, type: string][] = [
  ["ppt/", "presentationml.presentation"],
  ["word/", "wordprocessingml.document"],
  ["xl/", "spreadsheetml.sheet"],
];

/** Texts by how they begin. The order matters: XML may be SVG. */
const TEXTS: [beginning: RegExp, type: string][] = [
  [/^<!doctype html|^<html|^<head|^<body/i, "text/html"],
  [/^(?:<\?xml[^>]*>|<!--[^]*?-->|<!doctype svg[^>]*>|\s)*<svg[\s>]/i, "image/svg+xml"],
  [/^#EXTM3U|^\[playlist\]|^(?:<\?xml[^>]*>\s*)?<MPD[\s>]/i, "application/vnd.apple.mpegurl"],
  [/^WEBVTT|^\d+\r?\n\d\d:\d\d:\d\d[,.]\d{3} --> /, "text/vtt"],
  [/^<\?xml/, "application/xml"],
  [/^[{[]/, "application/json"],
  [/^#!/, "application/x-elf"], // a script is a program, too
  [/^/, "text/plain"],
];

/** Returns the media type of a kind of file that signatures don't tell apart. */
function refineType(head: Uint8Array, mime: string | undefined): string | undefined {
  if (mime === "application/zip") {
    const names = Buffer.from(head).toString("latin1");
    const part = OFFICE_PARTS.find(([name]) => names.includes(name));
    return part ? `application/vnd.openxmlformats-officedocument.${part[1]}` : mime;
  }
  if (mime !== undefined && mime !== "application/xml") return mime;
  const text = decodeText(head)?.trimStart();
  return text === undefined ? mime : TEXTS.find(([beginning]) => beginning.test(text))![1];
}

/** Decodes the beginning of a text; undefined for other bytes. */
function decodeText(head: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(head, {
      stream: true,
    });
    return /[^\P{Cc}\t\n\r\f]/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
