/** A `Content-Disposition` for a file that is named after a video (RFC 6266). */
export function attachment(title: string, ending: string): string {
  return disposition("attachment", `${title.replace(/\.\w{1,5}$/, "")}.${ending}`);
}

/** Likewise for any file, to be shown or saved. */
export function disposition(type: "inline" | "attachment", name: string): string {
  const safe = fileName(name);
  const plain = safe.replaceAll(/[^\w .()-]/g, "_");
  const encoded = encodeURIComponent(safe).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${type}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/**
 * The name as a file may have it anywhere: no folders, nothing that can't be seen or turns the writing round, no
 * dot at its ends, so that it shows what it is.
 */
export function fileName(name: string): string {
  const visible = name.toWellFormed().replaceAll(/[\p{C}\p{Zl}\p{Zp}"*/:<>?\\|]/gu, "_");
  return visible.replaceAll(/^[\s.]+|[\s.]+$/g, "") || "file";
}

/** By media type, the first where a name has none of them; else what comes after the slash. */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
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

/** The name, ending as files of that type do, so that nothing takes it for a program. */
export function withEnding(name: string, contentType = "application/bin"): string {
  const endings = ENDINGS[contentType] ?? [contentType.replace(/^\w+\/(x-|vnd\.)?/, "")];
  const isEnded = endings.some((ending) => name.toLowerCase().endsWith(`.${ending}`));
  return isEnded ? name : `${name}.${endings[0]}`;
}
