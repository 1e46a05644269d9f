import { basename } from "node:path";
import type { Sources } from "./check-layers.ts";

/**
 * Words that exported names, API fields and file names don't contain in any form, because a
 * standard term exists. docs/architecture.md lists the terms.
 */
const BANNED =
  "again alike ask became blend care doubt few forget gone hear heard held hold join keep kept " +
  "least left like likeness listen look lost montage most over own picture piece place reach room " +
  "said same seen sheet show shown sight some sound still stretch surviving tell thing told twin " +
  "unspaced want wish";
const SUFFIXES = ["", "s", "es", "d", "ed", "ing", "er", "ers"];
const BANNED_FORMS = new Set<string>();
for (const word of BANNED.split(" ")) {
  for (const suffix of SUFFIXES) BANNED_FORMS.add(word + suffix);
  BANNED_FORMS.add(`${word.replace(/e$/, "")}ing`);
}

const EXPORT =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type) (\w+)/gm;
const TYPE = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm;

/** Returns the banned words of a name in camelCase, snake_case or kebab-case. */
export function bannedWords(name: string): string[] {
  const words = name
    .replaceAll(/contact[-_]?sheet/gi, "")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.filter((word) => BANNED_FORMS.has(word));
}

/** Returns a sentence for each file name and exported name with a banned word. */
export function findBannedNames(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [file, text] of sources) {
    const names = [...text.matchAll(EXPORT)].map(([, name]) => name!);
    for (const name of [basename(file, ".ts"), ...names]) {
      for (const word of bannedWords(name)) {
        problems.push(
          `${file}: "${name}" has the word "${word}"; docs/architecture.md has the terms`,
        );
      }
    }
  }
  return problems;
}

/** Returns a sentence for each type name of two files of `src/`, whether they export it or not. */
export function findDuplicateTypes(sources: Sources): string[] {
  const files = new Map<string, string>();
  const problems: string[] = [];
  for (const [file, text] of sources) {
    if (!file.startsWith("src/")) continue;
    for (const [, name] of text.matchAll(TYPE)) {
      const other = files.get(name!);
      if (other === undefined) files.set(name!, file);
      else problems.push(`${file} and ${other} both have a type "${name}"`);
    }
  }
  return problems;
}

/** Fields that users of other search engines know: `more_like_this`. */
const KNOWN_FIELDS = new Set(["more_like", "less_like"]);

/** Returns a sentence for each property or parameter of an OpenAPI document with a banned word. */
export function findBannedFields(document: unknown): string[] {
  const problems = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if ("properties" in node && typeof node.properties === "object") {
      for (const field of Object.keys(node.properties ?? {})) check(field);
    }
    if ("in" in node && "name" in node && typeof node.name === "string") check(node.name);
    for (const value of Object.values(node)) visit(value);
  };
  const check = (field: string): void => {
    if (KNOWN_FIELDS.has(field)) return;
    for (const word of bannedWords(field)) {
      problems.add(`openapi.json: the field "${field}" has the word "${word}"`);
    }
  };
  visit(document);
  return [...problems];
}

/**
 * Returns a sentence for each term in code font, in the first column of the glossary's tables, that
 * the code doesn't have.
 */
export function findStaleTerms(glossary: string, sources: Sources): string[] {
  const code = [...sources.values()].join("\n");
  const firstCells = [...glossary.matchAll(/^\| ([^|]+)\|/gm)].map(([, cell]) => cell!);
  return [...firstCells.join(" ").matchAll(/`([^`]+)`/g)]
    .map(([, term]) => term!)
    .filter((term) => !code.includes(term))
    .map((term) => `docs/architecture.md names \`${term}\`, which the code doesn't have`);
}

/** Returns a sentence for each term of the API that no page of `docs/` names in code font. */
export function findUndocumentedTerms(terms: readonly string[], pages: Sources): string[] {
  const text = [...pages.values()].join("\n");
  return terms
    .filter((term) => !text.includes(`\`${term}\``))
    .map((term) => `no page of docs/ explains \`${term}\``);
}
