import { trimEndOf } from "../trim-end.ts";

/** Responds with a text to download, in a file that is named after a video. */
export function textFile(type: string, title: string, extension: string, text: string): Response {
  const name = `${title.replace(/\.\w{1,5}$/, "")}.${extension}`;
  const headers = {
    "content-type": `${type}; charset=utf-8`,
    "content-disposition": contentDisposition("attachment", name),
  };
  return new Response(text, { headers });
}

/** Returns a `Content-Disposition` with an ASCII name and its UTF-8 form (RFC 8187). */
export function contentDisposition(type: "inline" | "attachment", name: string): string {
  const safeName = fileName(name);
  const asciiName = safeName.replaceAll(/[^\w .()-]/g, "_");
  const encodedName = encodeURIComponent(safeName).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${type}; filename="${asciiName}"; filename*=UTF-8''${encodedName}`;
}

/**
 * Makes a name safe as a file name on every system: path separators, reserved and invisible
 * characters (bidirectional controls among them) become `_`; leading and trailing dots are removed.
 */
export function fileName(name: string): string {
  const visible = name.toWellFormed().replaceAll(/[\p{C}\p{Zl}\p{Zp}"*/:<>?\\|]/gu, "_");
  return trimEndOf(visible.replace(/^[\s.]+/, ""), /[\s.]/) || "file";
}

/**
 * Makes a name safe, percent-encodes it, and shortens it to `maxCharacters`: the end of its stem is
 * left out.
 */
export function shortFileName(name: string, maxCharacters: number): string {
  const [, stem = "", extension = ""] = /^(.+?)(\.\w{1,5})?$/su.exec(fileName(name)) ?? [];
  let encoded = "";
  for (const { segment } of new Intl.Segmenter().segment(stem)) {
    const character = encodeURIComponent(segment);
    if (encoded.length + character.length + extension.length > maxCharacters) break;
    encoded += character;
  }
  return (encoded || "file") + extension;
}

/** File extensions by media type. The first one is appended; other types append their subtype. */
const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  "image/jpeg": ["jpg", "jpeg"],
  "video/mp4": ["mp4", "m4v"],
  "video/ogg": ["ogv", "ogg"],
  "video/x-ms-asf": ["wmv", "asf"],
  "video/quicktime": ["mov"],
  "video/matroska": ["mkv"],
  "video/mp2t": ["ts", "mts", "m2ts"],
  "video/mpeg": ["mpg", "mpeg"],
  "video/3gpp": ["3gp"],
  "video/3gpp2": ["3g2"],
  "video/vnd.avi": ["avi"],
};

/** Appends the extension of the media type unless present, so that no file passes for a program. */
export function withExtension(name: string, contentType = "application/bin"): string {
  const extensions = EXTENSIONS[contentType] ?? [contentType.replace(/^\w+\/(x-|vnd\.)?/, "")];
  const hasExtension = extensions.some((extension) => name.toLowerCase().endsWith(`.${extension}`));
  return hasExtension ? name : `${name}.${extensions[0]}`;
}
