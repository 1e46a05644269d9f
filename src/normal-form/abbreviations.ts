import type { Language } from "./function-words.ts";

/** Titles, saints and streets that are written out or abbreviated, folded; English has its own. */
const ABBREVIATED: Partial<Record<Language, string>> = {
  de: "doktor dr|professor prof|sankt st|strasse str|nummer nr",
  fr: "docteur dr|professeur prof|saint st|sainte ste|madame mme|mademoiselle mlle|boulevard bd",
  es: `doctor dr|doctora dra|profesor prof|senor sr|senora sra|senorita srta|avenida avda
    |avenida av|numero num`,
  it: "dottor dott|dottore dott|dottor dr|professor prof|professore prof|signor sig|avvocato avv",
  pt: "doutor dr|doutora dra|professor prof|senhor sr|senhora sra|avenida av",
  nl: "dokter dr|doctor dr|professor prof|meneer dhr|mevrouw mevr|mevrouw mw|sint st",
  scandinavian: "doktor dr|professor prof|sankt st|nummer nr",
  ro: "doctor dr|profesor prof|domnul dl|doamna dna|strada str",
  tr: "doktor dr|profesor prof",
  pl: "doktor dr|profesor prof|ulica ul|swiety sw",
  cs: "doktor dr|profesor prof|ulice ul|svaty sv",
  hu: "doktor dr|professzor prof|utca u",
};

const OTHERS = new Map<string, string[]>();
for (const [language, pairs] of Object.entries(ABBREVIATED)) {
  for (const pair of pairs.split("|")) {
    const [whole, short] = pair.trim().split(" ") as [string, string];
    for (const [own, other] of [
      [whole, short],
      [short, whole],
    ] as const) {
      const key = `${language} ${own}`;
      OTHERS.set(key, [...(OTHERS.get(key) ?? []), other]);
    }
  }
}

/** Returns what a folded word is abbreviated to, and what it is an abbreviation of. */
export function otherTitles(folded: string, language: Language): readonly string[] {
  return OTHERS.get(`${language} ${folded}`) ?? [];
}
