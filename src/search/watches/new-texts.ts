import type { TimeSlice } from "../../concurrency.ts";
import type { SegmentId } from "../../ids.ts";
import { normalForm } from "../../normal-form/tokens.ts";
import type { Segment } from "../../types.ts";
import { textLength } from "../evidence.ts";
import type { QueryTerms } from "../query-terms.ts";

/** The texts of new segments by the stems of their words: each is read once for all watches. */
export class NewTexts {
  readonly #ids: SegmentId[] = [];
  /** The numbers of the segments with a stem. */
  readonly #byStem = new Map<string, Set<number>>();

  /** Reads the texts of segments. */
  static async read(segments: readonly Segment[], slice: TimeSlice): Promise<NewTexts> {
    const texts = new NewTexts();
    for (const segment of segments) {
      await slice.use(textLength(segment));
      texts.#add(segment);
    }
    return texts;
  }

  #add({ segmentId, caption, transcript, onScreenText, labels }: Segment): void {
    const number = this.#ids.push(segmentId) - 1;
    for (const text of [caption, transcript, onScreenText, labels.join(", ")]) {
      if (!text) continue;
      const { tokens, compounds } = normalForm(text);
      for (const { stem } of tokens) this.#addStem(stem, number);
      for (const { stem } of compounds) this.#addStem(stem, number);
    }
  }

  #addStem(stem: string, number: number): void {
    const numbers = this.#byStem.get(stem);
    if (numbers) numbers.add(number);
    else this.#byStem.set(stem, new Set([number]));
  }

  /**
   * Returns the terms that each segment may have; segments without any are left out, and terms
   * without a weight. Segments with the same terms have the same set.
   */
  possibleTerms(terms: QueryTerms, weights: readonly number[]): Map<SegmentId, Set<number>> {
    const byNumber = new Map<number, string>();
    const forms = Map.groupBy(
      terms.listForms().flatMap(({ terms: of, stems }) => of.map((term) => ({ term, stems }))),
      ({ term }) => term,
    );
    for (const [term, own] of forms) {
      if (!weights[term]) continue;
      const found = new Set(own.flatMap(({ stems }) => this.#withAll(stems)));
      for (const number of found) byNumber.set(number, `${byNumber.get(number) ?? ""} ${term}`);
    }
    const sets = new Map<string, Set<number>>();
    for (const key of byNumber.values()) {
      if (!sets.has(key)) sets.set(key, new Set(key.trim().split(" ").map(Number)));
    }
    return new Map([...byNumber].map(([number, key]) => [this.#ids[number]!, sets.get(key)!]));
  }

  /** Returns the numbers of the segments that have all stems. */
  #withAll(stems: readonly string[]): number[] {
    const lists = stems.map((stem) => this.#byStem.get(stem) ?? new Set<number>());
    const [rarest, ...others] = lists.toSorted((a, b) => a.size - b.size);
    return [...rarest!].filter((number) => others.every((list) => list.has(number)));
  }
}
