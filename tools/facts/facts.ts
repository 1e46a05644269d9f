import { contentWords } from "../../src/search/query.ts";
import { type Random } from "../random-numbers.ts";
import { shuffle } from "../training/random.ts";
import type { FactKind, Property } from "./fact-kinds.ts";

/** Wording of a question: like the statement (`near`), or in other words (`far`). */
type Wording = "near" | "far";

interface FactQuestion {
  wording: Wording;
  question: string;
}

/** A fact that some medium states. */
export interface Fact {
  sentence: string;
  questions: FactQuestion[];
  /** Words that every right answer contains. */
  keys: string[];
}

/** A question that no medium answers. */
interface UnansweredQuestion extends FactQuestion {
  /**
   * `property`: the entity has other facts, and other entities have this one. `entity`: no medium
   * states anything about the entity.
   */
  missing: "property" | "entity";
}

/** Stated facts, and questions without an answer. */
export interface Facts {
  /** Facts in random order. */
  stated: Fact[];
  unanswered: UnansweredQuestion[];
}

const KNOWN_ENTITIES = 3;
/** Number of the four properties that are stated for each known entity. */
const STATED_PROPERTIES = 2;

/**
 * Creates facts about entities of all kinds, two facts for each entity, so that each fact has near
 * misses: the other fact of the entity, and the same property of other entities. The same random
 * numbers give the same facts.
 */
export function makeFacts(kinds: readonly FactKind[], random: Random): Facts {
  const facts = kinds.map((kind) => createKindFacts(kind, random));
  const stated = facts.flatMap((kindFacts) => kindFacts.stated);
  return {
    stated: shuffle(stated.length, random).map((at) => stated[at]!),
    unanswered: facts.flatMap((kindFacts) => kindFacts.unanswered),
  };
}

function createKindFacts({ entities: names, properties }: FactKind, random: Random): Facts {
  const entities = shuffle(names.length, random).map((at) => names[at]!);
  const facts: Facts = { stated: [], unanswered: [] };
  for (const [i, entity] of entities.entries()) {
    for (const [at, property] of properties.entries()) {
      const isKnown = i < KNOWN_ENTITIES;
      const isStated =
        isKnown && (at - i + properties.length) % properties.length < STATED_PROPERTIES;
      if (isStated) facts.stated.push(createFact(entity, property, i));
      else if (isKnown || at % 2 === i % 2) {
        const [literal, ...others] = createQuestions(entity, property);
        const other = others[(i + at) % others.length]!;
        const missing = isKnown ? "property" : "entity";
        const asked = isKnown ? [literal!, other] : [at % 2 === 0 ? literal! : other];
        for (const { wording, question } of asked) {
          facts.unanswered.push({ wording, question, missing });
        }
      }
    }
  }
  return facts;
}

function createFact(entity: string, property: Property, at: number): Fact {
  const value = property.values[at % property.values.length]!;
  return {
    sentence: property.statement.replace("{e}", entity).replace("{v}", value),
    questions: createQuestions(entity, property),
    keys: contentWords(value),
  };
}

function createQuestions(
  entity: string,
  { literalQuestion, paraphrasedQuestions }: Property,
): FactQuestion[] {
  const questions = [
    { wording: "near" as const, question: literalQuestion },
    ...paraphrasedQuestions.map((question) => ({ wording: "far" as const, question })),
  ];
  return questions.map(({ wording, question }) => {
    return { wording, question: question.replace("{e}", entity) };
  });
}
