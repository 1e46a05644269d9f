import { describe, expect, it } from "vitest";
import { parseArguments, UsageError } from "../../../../client/src/cli/command-arguments.ts";
import type { CommandContext } from "../../../../client/src/cli/command.ts";
import { searchCommand } from "../../../../client/src/cli/commands/search.ts";
import type { SearchRequest } from "../../../../client/src/index.ts";

const STEP = { caption: "", transcript: "", on_screen_text: "", score: 0.9 };
const toStep = (start: number, text: string) => ({
  ...STEP,
  segment: { ...STEP, start_seconds: start, end_seconds: start + 5 },
  evidence: [{ kind: "speech", score: 1, text }],
});
const HIT = {
  ...STEP,
  rank: 1,
  title: "story.mp4",
  start_seconds: 5,
  end_seconds: 70,
  clip_url: "https://a.example/story.mp4#t=5,70",
  evidence: [],
  steps: [toStep(5, "the <mark>glacier</mark>"), toStep(65, "this <mark>cabin</mark>\u001B[2J")],
};

/** Runs a search against a service that has one hit; returns the requests and the table's rows. */
async function runSearch(argv: string[]) {
  const [requests, rows]: [SearchRequest[], string[][]] = [[], []];
  const search = async (request: SearchRequest) => {
    requests.push(request);
    return { segments: [HIT], total: 1, next_cursor: null, calibration: "fitted" };
  };
  await searchCommand.run({
    args: parseArguments(searchCommand, argv),
    output: {
      json() {},
      hasHyperlinks: false,
      table: (_: unknown, printed: string[][]) => rows.push(...printed),
    },
    env: { SIGHTLINE_INDEX: "trip" },
    signal: new AbortController().signal,
    client: async () => ({ index: () => ({ search }) }),
  } as unknown as CommandContext);
  return { requests, rows };
}

describe("a search with --then", () => {
  it("sends the query and what comes next as a sequence", async () => {
    const { requests } = await runSearch(["a boat", "--then", "a pier", "--then=-gulls rain"]);
    expect(requests).toEqual([
      { sequence: ["a boat", "a pier", "-gulls rain"], top_k: 10, correct: true },
    ]);
  });

  it("takes the other options of a search, and a time between two steps", async () => {
    const argv = ["a", "--then", "b", "--within", "1:05", "--top-p", "0.5", "--mode", "speech"];
    const { requests } = await runSearch([...argv, "--as-written"]);
    expect(requests).toEqual([
      {
        sequence: ["a", "b"],
        within_seconds: 65,
        top_k: 10,
        top_p: 0.5,
        modes: ["speech"],
        correct: false,
      },
    ]);
  });

  it("prints the start of each step and why it was found, without control characters", async () => {
    const { rows } = await runSearch(["glacier", "--then", "cabin"]);
    expect(rows).toHaveLength(1);
    expect(rows[0]!.slice(1, 4)).toEqual(["0.90", "story.mp4", "0:05–1:10"]);
    expect(rows[0]!.at(-1)).toMatch(/^0:05 speech: the «glacier» → 1:05 speech: this «cabin»/);
    expect(rows[0]!.at(-1)).not.toContain("\u001B");
  });

  it.each([
    [["--then", "b"], "--then needs a query"],
    [["a", ..."bcdef".split("").flatMap((next) => ["--then", next])], "4 times"],
    [["a", "--then", "b", "--image", "a.jpg"], "can't be combined with an image"],
    [["a", "--then", "b", "--from", "5"], "--from"],
    [["a", "--within", "5"], "--within needs --then"],
    [["a", "--then", "b", "--within", "soon"], "--within must be a number"],
  ])("%j is a usage error", async (argv, message) => {
    await expect(runSearch(argv)).rejects.toThrow(UsageError);
    await expect(runSearch(argv)).rejects.toThrow(message);
  });
});
