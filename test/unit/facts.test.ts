import { describe, expect, it } from "vitest";
import type { Case } from "../../bench/answers/case.ts";
import { makeFacts } from "../../bench/answers/facts.ts";
import { judge, sumUp } from "../../bench/answers/outcomes.ts";
import { createRandom } from "../../scripts/picture-space/random.ts";

describe("facts", () => {
  const { stated, unstated } = makeFacts(createRandom(1));

  it("are the same for the same chance, and others for another", () => {
    expect(makeFacts(createRandom(1))).toEqual({ stated, unstated });
    expect(makeFacts(createRandom(2)).stated).not.toEqual(stated);
  });

  it("hold what answers them, and leave open what nothing states", () => {
    expect(stated).toHaveLength(60);
    for (const { sentence, keys } of stated) {
      for (const key of keys) expect(sentence.toLowerCase()).toContain(key);
      expect(sentence).not.toMatch(/[{}]/);
    }
    const answered = new Set(stated.flatMap(({ asked }) => asked.map(({ question }) => question)));
    expect(answered.size).toBe(120);
    expect(new Set(unstated.map(({ question }) => question)).size).toBe(100);
    expect(unstated.filter(({ question }) => answered.has(question))).toEqual([]);
  });
});

describe("an answer is judged", () => {
  const moment = { file: "a.mp4", span: { start: 10, end: 12 } };
  const asked: Case = { set: "told", question: "?", right: [moment], keys: ["bells"] };
  const open: Case = { ...asked, right: [], keys: [] };
  const citing = (answer: string, ...starts: number[]) => {
    const citations = starts.map((start) => {
      return { title: "a.mp4", start_seconds: start, end_seconds: start + 5 };
    });
    return { answer, grounded: starts.length > 0, citations, model: "extractive" };
  };

  it("by what it cites and says", () => {
    const right = citing("The bell rings. [1]", 5.5);
    expect(judge(asked, right, right.citations)).toMatchObject({
      isHit: true,
      rightlyCited: 1,
      isCorrect: true,
      isGenerated: false,
    });
    const wrong = citing("The bell rings. [1]", 12);
    expect(judge(asked, wrong, wrong.citations)).toMatchObject({ isHit: false, rightlyCited: 0 });
    expect(judge(asked, citing("Nothing."), null)).toMatchObject({ isHit: null, isCorrect: false });
  });

  it("and summed up, where what isn't answered counts as wrong", () => {
    const outcomes = [
      judge(asked, citing("Bells. [1] Or not. [2]", 10, 40), null),
      judge(asked, citing("Nothing."), null),
      judge(open, citing("Nothing."), null),
      judge(open, citing("Bells. [1]", 10), null),
    ];
    expect(sumUp("all", "answer", outcomes)).toEqual({
      set: "all",
      by: "answer",
      questions: 4,
      hit_rate: "–",
      answered: 0.5,
      precision: 0.333,
      recall: 0.5,
      correct: 0.5,
      refused: 0.5,
      generated: 0,
    });
  });
});
