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
