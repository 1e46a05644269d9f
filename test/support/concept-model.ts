import {
  ACTIONS,
  DETAILS,
  SETTINGS,
  SUBJECTS,
  TIMES,
} from "../../tools/calibration/scene-concepts.ts";
import { createRandom } from "../../tools/random-numbers.ts";

/** Lists the concepts in the order of their wordings' numbers, one entry per wording. */
const WORDINGS = [SUBJECTS, ACTIONS, SETTINGS, TIMES, DETAILS]
  .flat()
  .flatMap((wordings, concept) => wordings.map((wording) => ({ wording, concept })));

export interface ConceptModel {
  dimensions: number;
  /** Part that all vectors have in common: the larger, the closer are all cosines to 1. */
  common: number;
  /** Part of each vector that says nothing. */
  noise: number;
}

/**
 * Embeds a text: texts with the same concepts of generated scenes have similar vectors, whatever
 * their words. Stands for a text model of any range of cosines.
 */
export function embedConcepts(text: string, { dimensions, common, noise }: ConceptModel): number[] {
  const lower = text.toLowerCase();
  const vector = Array.from({ length: dimensions }, () => 0);
  const add = (seed: number, weight: number) => {
    const random = createRandom(seed);
    for (let i = 1; i < dimensions; i++) vector[i]! += weight * (random() - 0.5);
  };
  const concepts = new Set(
    WORDINGS.filter(({ wording }) => lower.includes(withoutArticle(wording))).map(
      ({ concept }) => concept,
    ),
  );
  for (const concept of concepts) add(1 + concept, 1);
  add(1_000_000 + hash(text), noise);
  const length = Math.hypot(...vector) || 1;
  return vector.map((value, i) => (i === 0 ? common : value / length));
}

function withoutArticle(wording: string): string {
  return wording.replace(/^(?:an?|the) /, "");
}

function hash(text: string): number {
  let sum = 7;
  for (let i = 0; i < text.length; i++) sum = (31 * sum + text.charCodeAt(i)) % 999_983;
  return sum;
}
