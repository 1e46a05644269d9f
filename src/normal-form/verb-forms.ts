import { derivedForms } from "./derived-forms.ts";
import { fold } from "./fold.ts";
import type { Language } from "./function-words.ts";
import { irregularWordForms } from "./irregular-forms.ts";
import { irregularForms } from "./irregular-verbs.ts";
import { otherScriptForms } from "./script-forms.ts";

const MIN_ROOT = 3;

const isRoot = (root: string) => root.length >= MIN_ROOT && /[aeiouy]/.test(root);

/** How a language forms what its stemmer leaves. */
interface Conjugation {
  /** Endings that forms have, of which a word may have several. */
  endings: readonly RegExp[];
  /** Prefixes that are before the "ge" of a participle. */
  prefixes: RegExp;
  /** Returns forms of a root: the infinitive and others. */
  conjugate: (root: string) => string[];
  /** Returns participles of a root without their prefix. */
  participles: (root: string) => string[];
}

const NO_PREFIX = /^(?!)/;
/**
 * The stemmers of German and Dutch leave endings of verbs and their participles; that of French
 * leaves "ons", which nouns have, too.
 */
const CONJUGATIONS: Partial<Record<Language, Conjugation>> = {
  de: {
    endings: [/e?(?:test|tet|ten|te|st|t)$|e?n$/, /e?n$/, /(?<=[dt])et(?:e[nt]?|est)?$/],
    prefixes: /^(?:ab|an|auf|aus|bei|durch|ein|fort|her|hin|los|mit|nach|um|vor|weg|zuruck|zu)/,
    conjugate: (root) => {
      const infinitive = /[^aeiouy]e[lr]$/.test(root) ? "n" : "en";
      return [root + infinitive, /[dt]$/.test(root) ? `${root}et` : `${root}t`];
    },
    participles: (root) => [/[dt]$/.test(root) ? `ge${root}et` : `ge${root}t`, `ge${root}en`],
  },
  fr: {
    endings: [/(?:ons|ent|ant|ait|er|ez|es|e)$/],
    prefixes: NO_PREFIX,
    conjugate: (root) => (root.length > MIN_ROOT ? [`${root}er`, `${root}ons`] : [`${root}ons`]),
    participles: () => [],
  },
  it: {
    // The stemmer leaves "iamo" behind a short root.
    endings: [/(?<=^...)(?:iamo|are|ere|ire)$/],
    prefixes: NO_PREFIX,
    conjugate: (root) => ["iamo", "are", "ere", "ire"].map((ending) => root + ending),
    participles: () => [],
  },
  nl: {
    endings: [/(?:ten|den|te|de|en|t|d)$/],
    prefixes: /^(?:aan|af|bij|door|in|mee|na|om|op|over|terug|toe|uit|voor|weg)/,
    conjugate: (root) => [`${root}en`, root, `${root}t`, `${root}d`],
    participles: (root) => [`ge${root}t`, `ge${root}d`, `ge${root}en`],
  },
};

/**
 * Returns the forms of the verbs that a folded word may be a form of: "kocht" gives "kochen" and
 * "gekocht". Some are no words.
 */
export function verbForms(folded: string, language: Language): string[] {
  if (!/^[a-z]+$/.test(folded)) {
    return otherScriptForms(folded).filter((form) => form !== folded);
  }
  const irregular = irregularWordForms(folded, language).filter((form) => form !== folded);
  const derived = derivedForms(folded, language);
  return [...new Set([...irregular, ...derived, ...conjugatedForms(folded, language)])];
}

function conjugatedForms(folded: string, language: Language): string[] {
  const conjugation = CONJUGATIONS[language];
  if (conjugation === undefined) return [];
  const { endings, prefixes, conjugate, participles } = conjugation;
  const forms = new Set<string>();
  const [separable = ""] = prefixes.exec(folded) ?? [];
  for (const prefix of new Set(["", separable])) {
    const add = (form: string) => {
      forms.add(prefix + form);
      const irregular = irregularForms(form, language);
      const root = irregular[0]?.replace(/e?n$/, "");
      const regular = root && isRoot(root) ? conjugate(root) : [];
      for (const other of [...irregular, ...regular]) forms.add(prefix + other);
    };
    const rest = folded.slice(prefix.length);
    const withoutGe = rest.replace(/^ge/, "");
    add(rest);
    for (const word of new Set([rest, withoutGe])) {
      const stripped = endings.map((ending) => word.replace(ending, ""));
      const roots = new Set(stripped.filter((root) => root !== word && isRoot(root)));
      for (const root of roots) {
        for (const form of conjugate(root)) add(form);
        if (word === withoutGe) for (const form of participles(root)) add(form);
      }
    }
  }
  forms.delete(folded);
  return [...forms];
}

/** An infinitive or a participle with a particle: "aufstehen", "meegenomen". */
const SEPARABLE: Partial<Record<Language, RegExp>> = {
  de: /^(ab|an|auf|aus|bei|durch|ein|fort|her|hin|los|mit|nach|um|vor|weg|zuruck|zu)(?=.)(?:zu)?(..+(?:e[lr]?n)|ge..+(?:t|en))$/,
  nl: /^(aan|af|bij|door|in|mee|na|om|op|over|terug|toe|uit|voor|weg)(?:te)?(..+en|ge..+(?:[td]|en))$/,
};

/** Returns the forms of a separable verb that its particle may be apart from: "stehe … auf". */
export function separatedForms(
  folded: string,
  language: Language,
): { verb: string; particle: string }[] {
  const [, particle = "", rest = ""] = SEPARABLE[language]?.exec(folded) ?? [];
  if (rest === "") return [];
  const finite = [rest, ...verbForms(rest, language)].filter((verb) => !verb.startsWith("ge"));
  return finite.map((verb) => ({ verb, particle }));
}

/** A word of a text, and what its form is compared with. */
interface FoundWord {
  written: string;
  /** The form of the query's word that has its stem, folded. */
  form: string;
  language: Language;
  text: string;
}

/**
 * Tests whether a word of a text may be such a form. German writes nouns with a capital letter, but
 * infinitives as nouns, too: "Leiche" is no form of "leicht". The weak grade in Finnish and a
 * double consonant in Danish need an ending: "mato" is no form of "matto", nor "vägg" of "väg".
 */
export function mayBeForm({ written, form, language, text }: FoundWord): boolean {
  if (language === "fi") return form !== `${fold(written)}n`;
  if (language === "scandinavian" && /([bdfgklprst])\1en$/.test(form)) {
    return form !== `${fold(written)}en` && !/[äö]/i.test(text);
  }
  if (language !== "de" || written.endsWith("en")) return true;
  if (irregularWordForms(fold(written), language).some((one) => fold(one) === form)) return true;
  return /^\p{Ll}.*(?:te|[^e])$/u.test(written);
}
