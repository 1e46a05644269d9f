import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Node, parseSync, Visitor } from "oxc-parser";
import { checkSync } from "recheck";
import type { Sources } from "./check-layers.ts";

/** A comment on the line of a pattern, or on the one above it, that says what bounds its input. */
const BOUND = /\/[/*].*\bbounded: \S/;
/** A comment that says it of all patterns of a file. */
const ALL_BOUND = /^\/\/ bounded in this file: \S/m;
/** Files whose patterns read the repository only. */
const READS_REPOSITORY = /^scripts\/check/;
/** What makes a pattern take more than linear time: a repetition without a limit. */
const REPETITION = /[*+]|\{\d+,\}/;
/**
 * Limits of a judgment. Steps are counted, so that each machine comes to one verdict. A pattern
 * that isn't judged in ten minutes counts as slow.
 */
const LIMITS = {
  attackLimit: 3_000_000,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  timeout: 600_000,
} as const;
/** Characters that Unicode properties are judged by, beside ASCII and those of the pattern. */
const SAMPLE = "\u00a0\u0301\u200b\u200e\u2028\u2029\u3000éÉßжЖαאعあア字한。…¿٣½Ⅷ€😀";
const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join("");

/**
 * Returns a sentence for each regular expression whose time grows faster than its input, judged by
 * recheck (https://makenowjust-labs.github.io/recheck/), unless a comment `bounded: …` says why its
 * input is short. Reads literals and `new RegExp` of strings, whose parts may be constants of the
 * same file. Judging takes a minute: `safeFile` keeps the patterns that are safe.
 */
export function findSlowPatterns(sources: Sources, safeFile?: string): string[] {
  process.env["RECHECK_SYNC_BACKEND"] = "pure"; // neither Java nor a native program
  const verdicts = new Map<string, string | null>(
    safeFile !== undefined && existsSync(safeFile)
      ? (JSON.parse(readFileSync(safeFile, "utf8")) as string[]).map((key) => [key, null])
      : [],
  );
  const problems = findIn(sources, verdicts);
  if (safeFile !== undefined) {
    const safe = [...verdicts].flatMap(([key, verdict]) => (verdict === null ? [key] : []));
    mkdirSync(dirname(safeFile), { recursive: true });
    writeFileSync(safeFile, JSON.stringify(safe));
  }
  return problems;
}

function findIn(sources: Sources, verdicts: Map<string, string | null>): string[] {
  return [...sources].flatMap(([file, text]) => {
    if (READS_REPOSITORY.test(file) || ALL_BOUND.test(text)) return [];
    const lines = text.split("\n");
    return findPatterns(file, text).flatMap(({ source, flags, at }) => {
      const line = text.slice(0, at).split("\n").length;
      if (lines.slice(Math.max(0, line - 2), line).some((one) => BOUND.test(one))) return [];
      const key = `/${source}/${flags}`;
      if (!verdicts.has(key)) verdicts.set(key, judge(source, flags));
      const verdict = verdicts.get(key);
      if (verdict == null) return [];
      return [`${file}:${line} has a pattern of ${verdict} time: ${key}`];
    });
  });
}

function judge(source: string, flags: string): string | null {
  if (!REPETITION.test(source)) return null;
  const isUnicode = /[uv]/.test(flags);
  const sampled = isUnicode ? sampleProperties(source) : source;
  const result = checkSync(sampled, flags.replace("v", "u"), LIMITS);
  if (result.status === "safe") return null;
  if (result.status === "unknown") return "unknown";
  return result.complexity.type === "polynomial" ? "more than linear" : "exponential";
}

/**
 * Replaces Unicode properties by those of the sample's characters that have them: whole properties
 * have so many ranges that judging them takes minutes. One that none of them has stays.
 */
function sampleProperties(source: string): string {
  const characters = [...new Set(ASCII + SAMPLE + source)];
  let isInClass = false;
  return source.replaceAll(/\\p\{[^}]*\}|\\.|[[\]]/giu, (token) => {
    if (token === "[" || token === "]") isInClass = token === "[";
    if (!/^\\p\{/i.test(token)) return token;
    const property = new RegExp(token, "u");
    const codes = characters
      .filter((one) => property.test(one))
      .map((one) => String.raw`\u{${one.codePointAt(0)!.toString(16)}}`)
      .join("");
    if (codes === "") return token;
    return isInClass ? codes : `[${codes}]`;
  });
}

interface Pattern {
  source: string;
  flags: string;
  at: number;
}

function findPatterns(file: string, text: string): Pattern[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} can't be parsed: ${errors[0]!.message}`);
  const patterns: Pattern[] = [];
  const constants = new Map<string, string>();
  new Visitor({
    VariableDeclarator({ id, init }) {
      const value = init && textOf(init, constants);
      if (id.type === "Identifier" && value != null) constants.set(id.name, value);
    },
    Literal(node) {
      if (!("regex" in node)) return;
      patterns.push({ source: node.regex.pattern, flags: node.regex.flags, at: node.start });
    },
    NewExpression({ callee, arguments: [first, second], start }) {
      if (callee.type !== "Identifier" || callee.name !== "RegExp" || !first) return;
      const source = textOf(first, constants);
      const flags = second ? textOf(second, constants) : "";
      if (source !== null) patterns.push({ source, flags: flags ?? "", at: start });
    },
  }).visit(program);
  return patterns;
}

/** Returns the text of a literal or a template, null if it depends on anything but constants. */
function textOf(node: Node, constants: ReadonlyMap<string, string>): string | null {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : null;
  if (node.type === "Identifier") return constants.get(node.name) ?? null;
  const isRaw = node.type === "TaggedTemplateExpression";
  const template = isRaw ? node.quasi : node;
  if (template.type !== "TemplateLiteral") return null;
  const parts = template.expressions.map((one) => textOf(one, constants));
  if (parts.includes(null)) return null;
  return template.quasis
    .map(({ value }, i) => `${isRaw ? value.raw : value.cooked}${parts[i] ?? ""}`)
    .join("");
}
