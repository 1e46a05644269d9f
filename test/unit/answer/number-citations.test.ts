import { expect, it } from "vitest";
import {
  type Answer,
  type AnswerEvent,
  answerEvents,
  numberCitations,
} from "../../../src/answer/compose.ts";
import type { Hit } from "../../../src/search/hits.ts";

const hitOf = (title: string) => ({ asset: { title } }) as Hit;
const CITABLE = [1, 4, 7].map((marker) => ({ marker, hit: hitOf(`${marker}.mp4`) }));

/** Events with the title of each citation: `[1] 7.mp4`. */
async function readEvents(events: AsyncIterable<AnswerEvent>) {
  const read: string[][] = [];
  for await (const event of events) {
    if ("delta" in event) read.push([event.delta]);
    else {
      const { citations } = "done" in event ? event.done : event;
      const cited = citations.map(({ marker, hit }) => `[${marker}] ${hit.asset.title}`);
      read.push("done" in event ? [event.done.text, ...cited] : cited);
    }
  }
  return read;
}

const answerOf = (text: string, cited: number[]) =>
  ({
    text,
    grounded: cited.length > 0,
    citations: CITABLE.filter(({ marker }) => cited.includes(marker)),
  }) as Answer;

it("Citations are numbered in the order of their use, before the text that uses them", async () => {
  async function* events(): AsyncGenerator<AnswerEvent> {
    yield { citations: CITABLE };
    yield { delta: "He rowed [7]." };
    yield { delta: " She sang [1][7], as in [3] and \\[4\\]." };
    yield { done: answerOf("He rowed [7]. She sang [1][7], as in [3] and \\[4\\].", [7, 1]) };
  }
  expect(await readEvents(numberCitations(events()))).toEqual([
    ["[1] 7.mp4"],
    ["He rowed [1]."],
    ["[1] 7.mp4", "[2] 1.mp4"],
    [" She sang [2][1], as in [3] and \\[4\\]."],
    ["He rowed [1]. She sang [2][1], as in [3] and \\[4\\].", "[1] 7.mp4", "[2] 1.mp4"],
  ]);
});

it("A refused answer has no citations", async () => {
  async function* refused() {
    yield* answerEvents(answerOf("Nothing in this video answers that.", []));
  }
  expect(await readEvents(numberCitations(refused()))).toEqual([
    ["Nothing in this video answers that."],
    ["Nothing in this video answers that."],
  ]);
});
