import { tellingWords } from "../../src/search/query.ts";
import { type Random, shuffle } from "../../scripts/picture-space/random.ts";
import { KINDS, type Kind, type Property } from "./fact-kinds.ts";

/** How a question is worded: like the statement, or not. */
type Wording = "near" | "far";

interface Asked {
  wording: Wording;
  question: string;
}

/** Something that is stated somewhere. */
export interface Fact {
  sentence: string;
  asked: Asked[];
  /** Words without which no answer is right. */
  keys: string[];
}

/** A question that nothing answers. */
interface Unstated extends Asked {
  /** `property`: other things are stated of this thing, and this of others. `thing`: nothing is stated of it. */
  missing: "property" | "thing";
}

export interface Facts {
  /** In an order of chance. */
  stated: Fact[];
  unstated: Unstated[];
}

const KNOWN = 3;
/** Of each thing that is known, so many of the four properties are stated. */
const STATED = 2;

/**
 * Facts of things of all kinds, two of each thing, so that each has near misses: the same thing's other
 * fact, and the same fact of other things. The same chance gives the same facts.
 */
export function makeFacts(random: Random): Facts {
  const facts = KINDS.map((kind) => factsOf(kind, random));
  const stated = facts.flatMap((some) => some.stated);
  return {
    stated: shuffle(stated.length, random).map((at) => stated[at]!),
    unstated: facts.flatMap((some) => some.unstated),
  };
}

function factsOf({ names, properties }: Kind, random: Random): Facts {
  const things = shuffle(names.length, random).map((at) => names[at]!);
  const facts: Facts = { stated: [], unstated: [] };
  for (const [i, thing] of things.entries()) {
    for (const [at, property] of properties.entries()) {
      const isKnown = i < KNOWN;
      const isStated = isKnown && (at - i + properties.length) % properties.length < STATED;
      if (isStated) facts.stated.push(factOf(thing, property, i));
      else if (isKnown || at % 2 === i % 2) {
        const asks = asksOf(thing, property);
        const missing = isKnown ? "property" : "thing";
        facts.unstated.push({ ...asks[(i + Math.floor(at / 2)) % asks.length]!, missing });
      }
    }
  }
  return facts;
}

function factOf(thing: string, property: Property, at: number): Fact {
  const value = property.values[at % property.values.length]!;
  return {
    sentence: property.says.replace("{e}", thing).replace("{v}", value),
    asked: asksOf(thing, property),
    keys: tellingWords(value),
  };
}

function asksOf(thing: string, { near, far }: Property): Asked[] {
  return [
    { wording: "near", question: near.replace("{e}", thing) },
    { wording: "far", question: far.replace("{e}", thing) },
  ];
}
