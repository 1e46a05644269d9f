/** A `Content-Disposition` for a file that is named after a video (RFC 6266). */
export function attachment(title: string, ending: string): string {
  const name = `${title.replace(/\.\w{1,5}$/, "")}.${ending}`.toWellFormed();
  const plain = name.replaceAll(/[^\w .()-]/g, "_");
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
