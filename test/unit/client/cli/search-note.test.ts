import { expect, it } from "vitest";
import { CommandArguments } from "../../../../client/src/cli/command-arguments.ts";
import type { CommandContext } from "../../../../client/src/cli/command.ts";
import { searchCommand } from "../../../../client/src/cli/commands/search.ts";

it.each([
  ["borrowed", ["Nothing was found."], 1],
  ["fitted", ["Nothing was found."], 0],
])("a search with %s scores prints %j and %d notes", async (calibration, lines, noteCount) => {
  const [printed, notes]: [string[], string[]] = [[], []];
  const search = async () => ({ segments: [], total: 0, next_cursor: null, calibration });
  await searchCommand.run({
    args: new CommandArguments(["boat"], {}),
    output: {
      json() {},
      line: (text: string) => printed.push(text),
      note: (text: string) => notes.push(text),
    },
    env: { SIGHTLINE_INDEX: "trip" },
    signal: new AbortController().signal,
    client: async () => ({ index: () => ({ search }) }),
  } as unknown as CommandContext);
  expect(printed).toEqual(lines);
  expect(notes).toHaveLength(noteCount);
  for (const note of notes) expect(note).toContain("aren't exact");
});

/** Runs a search command, and returns the request that it sends and its notes. */
async function runCommand(words: string[], options: Record<string, string>, query = {}) {
  const [requests, notes]: [unknown[], string[]] = [[], []];
  const search = async (request: unknown) => {
    requests.push(request);
    return { segments: [], total: 0, next_cursor: null, calibration: "fitted", query };
  };
  await searchCommand.run({
    args: new CommandArguments(words, options),
    output: { json() {}, line() {}, note: (text: string) => notes.push(text) },
    env: { SIGHTLINE_INDEX: "trip" },
    signal: new AbortController().signal,
    client: async () => ({ index: () => ({ search }) }),
  } as unknown as CommandContext);
  return { request: requests[0], notes };
}

it.each<[string[], Record<string, string>, object]>([
  [["beach"], { without: "people, dogs" }, { query: "beach", none: ["people", "dogs"] }],
  [[], { all: "a boat", scope: "0:10" }, { all: ["a boat"], scope_seconds: 10 }],
])("a search for %j with %j sends %j", async (words, options, expected) => {
  const { request } = await runCommand(words, options);
  expect(request).toEqual({ top_k: 10, correct: true, ...expected });
});

it.each<[string[], Record<string, string>, string]>([
  [["beach"], { scope: "10" }, "--scope can't be combined with"],
  [[], { image: "a.jpg", without: "people" }, "--without can't be combined with an image"],
  [[], {}, "Give a query, --all, --without"],
])("a search for %j with %j is refused: %s", async (words, options, message) => {
  await expect(runCommand(words, options)).rejects.toThrow(message);
});

it("a search for a thing without another says how to leave it out", async () => {
  const suggested = { query: "a beach", none: ["people", "dogs"] };
  const { notes } = await runCommand(["a beach without people or dogs"], {}, { suggested });
  expect(notes).toEqual(['For what isn\'t there: search "a beach" --without "people, dogs"']);
});
