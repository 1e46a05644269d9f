/**
 * What an element has: text, or attributes and elements by their names. A list repeats an element;
 * under the name "" it has elements of several names in order.
 */
export type XmlContent = string | number | null | XmlContent[] | { [name: string]: XmlContent };

/**
 * Formats a document whose root has `content`. Scalars are attributes if `isAttribute` says so of
 * their names, else elements with a text. What is null is left out.
 */
export function formatXml(
  root: string,
  content: XmlContent,
  isAttribute: (name: string) => boolean,
): string {
  const format = (name: string, value: XmlContent, indent: string): string => {
    if (value === null) return "";
    if (Array.isArray(value)) return value.map((one) => format(name, one, indent)).join("");
    if (name === "")
      return Object.entries(value)
        .map((one) => format(...one, indent))
        .join("");
    if (typeof value !== "object") return `${indent}<${name}>${escapeXml(value)}</${name}>\n`;
    let [open, inside] = [`${indent}<${name}`, ""];
    for (const [key, one] of Object.entries(value)) {
      if (one === null) continue;
      if (typeof one === "object" || !isAttribute(key)) inside += format(key, one, `${indent} `);
      else open += ` ${key}="${escapeXml(one)}"`;
    }
    return inside === "" ? `${open}/>\n` : `${open}>\n${inside}${indent}</${name}>\n`;
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE ${root}>\n${format(root, content, "")}`;
}

/** Escapes text. Characters that XML 1.0 can't have are left out. */
function escapeXml(text: string | number): string {
  return String(text)
    .toWellFormed()
    .replaceAll(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
