import { describe, expect, it } from "vitest";
import type { AnswerCase } from "../../../bench/answers/case.ts";
import { KINDS } from "../../../bench/answers/fact-kinds.ts";
import { judgeAnswer, summarizeOutcomes } from "../../../bench/answers/outcomes.ts";
import { makeFacts } from "../../../tools/facts/facts.ts";
import { createRandom } from "../../../tools/random-numbers.ts";

describe("generated facts", () => {
  const { stated, unanswered } = makeFacts(KINDS, createRandom(1));

  it("are the same for the same seed, and others for another", () => {
    expect(makeFacts(KINDS, createRandom(1))).toEqual({ stated, unanswered });
    expect(makeFacts(KINDS, createRandom(2)).stated).not.toEqual(stated);
  });

  it("contain their answers, and unanswered questions are about nothing stated", () => {
    expect(stated).toHaveLength(120);
    for (const { sentence, keys } of stated) {
      for (const key of keys) expect(sentence.toLowerCase()).toContain(key);
      expect(sentence).not.toMatch(/[{}]/);
    }
    const answered = new Set(
      stated.flatMap(({ questions }) => questions.map(({ question }) => question)),
    );
    expect(answered.size).toBe(480);
    expect(new Set(unanswered.map(({ question }) => question)).size).toBe(320);
    expect(unanswered.filter(({ question }) => answered.has(question))).toEqual([]);
  });
});

describe("the judge of answers", () => {
  const moment = { file: "a.mp4", range: { start: 10, end: 12 } };
  const answerable: AnswerCase = { set: "spoken", question: "?", right: [moment], keys: ["bells"] };
  const unanswerable: AnswerCase = { ...answerable, right: [], keys: [] };
  const createAnswer = (answer: string, ...starts: number[]) => {
    const citations = starts.map((start) => {
      return { title: "a.mp4", start_seconds: start, end_seconds: start + 5 };
    });
    return { answer, grounded: starts.length > 0, citations, model: "extractive" };
  };

  it("compares citations and words with the case", () => {
    const right = createAnswer("The bell rings. [1]", 5.5);
    expect(judgeAnswer(answerable, right, right.citations)).toMatchObject({
      isHit: true,
      rightCitationCount: 1,
      isCorrect: true,
      isGenerated: false,
    });
    const wrong = createAnswer("The bell rings. [1]", 12);
    expect(judgeAnswer(answerable, wrong, wrong.citations)).toMatchObject({
      isHit: false,
      rightCitationCount: 0,
    });
    expect(judgeAnswer(answerable, createAnswer("Nothing."), null)).toMatchObject({
      isHit: null,
      isCorrect: false,
    });
  });

  it("sums up outcomes, and citations of unanswerable questions count as wrong", () => {
    const outcomes = [
      judgeAnswer(answerable, createAnswer("Bells. [1] Or not. [2]", 10, 40), null),
      judgeAnswer(answerable, createAnswer("Nothing."), null),
      judgeAnswer(unanswerable, createAnswer("Nothing."), null),
      judgeAnswer(unanswerable, createAnswer("Bells. [1]", 10), null),
    ];
    expect(summarizeOutcomes("all", "answer", outcomes)).toEqual({
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
