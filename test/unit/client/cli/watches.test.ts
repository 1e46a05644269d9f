import { describe, expect, it } from "vitest";
import { CommandArguments } from "../../../../client/src/cli/command-arguments.ts";
import type { Command, CommandContext } from "../../../../client/src/cli/command.ts";
import { previewCommand } from "../../../../client/src/cli/commands/watch-preview.ts";
import { tailCommand } from "../../../../client/src/cli/commands/watch-tail.ts";
import { watchCommands } from "../../../../client/src/cli/commands/watches.ts";
import { Output } from "../../../../client/src/cli/output.ts";
import { readNewWatch } from "../../../../client/src/cli/watch-request.ts";
import { ConnectionError } from "../../../../client/src/errors.ts";

type Values = Record<string, string | boolean>;

/** Runs a command with a client and an index of the test. */
async function run(
  command: Command,
  { positionals = [], values = {} }: { positionals?: string[]; values?: Values },
  { index, sightline = {} }: { index: object; sightline?: object },
) {
  let [stdout, stderr] = ["", ""];
  const streams = {
    stdout: { write: (text: string) => (stdout += text), isTTY: false },
    stderr: { write: (text: string) => (stderr += text), isTTY: false },
  } as unknown as NodeJS.Process;
  const error: unknown = await command
    .run({
      args: new CommandArguments(positionals, values),
      output: new Output(streams, {}, { isJson: values["json"] === true, isQuiet: false }),
      env: { SIGHTLINE_INDEX: "trip" },
      signal: new AbortController().signal,
      client: async () => ({ ...sightline, index: () => ({ name: "trip", ...index }) }),
    } as unknown as CommandContext)
    .then(
      () => null,
      (reason: unknown) => reason,
    );
  return { stdout, stderr, error };
}

describe("a new watch", () => {
  const readName = async (positionals: string[], values: Values = {}) =>
    (await readNewWatch(new CommandArguments(positionals, values))).name;

  it("is named after what it is for, or as the option says", async () => {
    expect(await readName(["red truck"])).toBe("red truck");
    expect(await readName([], { "similar-to": "seg_1" })).toBe("seg_1");
    expect(await readName([], { image: import.meta.filename })).toBe("watches.test.ts");
    expect(await readName(["red truck"], { name: "Truck" })).toBe("Truck");
  });

  it("of a long query has a name of at most 200 characters, without half an emoji", async () => {
    const name = await readName([`a${"🚚".repeat(150)}`]);
    expect(name).toBe(`a${"🚚".repeat(99)}…`);
  });

  it.each([
    [[], {}, "Give a query"],
    [["a"], { image: "a.jpg", "similar-to": "seg_1" }, "either --image or --similar-to"],
    [["a"], { mode: "smell" }, "--mode takes video"],
    [["a"], { "asset-types": "video,film" }, '--asset-types takes video, image, audio, not "film"'],
    [["a"], { image: "/nowhere.jpg" }, "no file at /nowhere.jpg"],
  ])("of %j with %j is refused: %s", async (positionals, values, message) => {
    await expect(readName(positionals, values as Values)).rejects.toThrow(message);
  });
});

describe("the command that edits a watch", () => {
  const command = watchCommands.find(({ name }) => name === "watch edit")!;
  const edit = async (values: Values) => {
    const changes: unknown[] = [];
    const update = async (id: string, change: object) => {
      changes.push([id, change]);
      const watch = { similar_to: null, has_image: false, filter: {}, modes: [], asset_types: [] };
      return { watch_id: id, name: "Truck", query: "truck", ...watch, ...change };
    };
    const index = { watches: { update } };
    return { changes, ...(await run(command, { positionals: ["wat_1"], values }, { index })) };
  };

  it.each<[Values, object]>([
    [{ query: "blue truck" }, { query: "blue truck" }],
    [
      { name: "Blue", mode: "visual,speech", "asset-types": "video", "min-probability": "0.8" },
      { name: "Blue", modes: ["visual", "speech"], asset_types: ["video"], min_probability: 0.8 },
    ],
    [{ webhook: "" }, { webhook_url: null }],
    [{ webhook: "https://a.example/x" }, { webhook_url: "https://a.example/x" }],
    [{ filter: '{"camera": "gate"}' }, { filter: { camera: "gate" } }],
  ])("sends of %j only %j", async (values, change) => {
    const { changes, error } = await edit(values);
    expect(error).toBeNull();
    expect(changes).toEqual([["wat_1", change]]);
  });

  it("says what the watch is for now", async () => {
    const { stdout } = await edit({ query: "blue\ntruck", mode: "visual" });
    expect(stdout).toBe("Changed the watch wat_1 (Truck): blue truck (visual).\n");
  });

  it("asks what to change if no option says so", async () => {
    const { changes, error } = await edit({});
    expect(changes).toEqual([]);
    expect(String(error)).toContain("Say what to change");
  });
});

it("a list says what each watch is for, and what restricts it", async () => {
  const watch = { query: "boat", similar_to: null, has_image: false, filter: {}, modes: [] };
  const settings = { asset_types: [], min_probability: 0.9, matches: 3, paused: false };
  const watches = [
    {
      watch_id: "wat_1",
      name: "Boats",
      ...watch,
      ...settings,
      modes: ["speech"],
      filter: { a: 1 },
    },
    { watch_id: "wat_2", name: "a\nb", ...watch, ...settings, query: null, has_image: true },
    { watch_id: "wat_3", name: "c", ...watch, ...settings, similar_to: "seg_1", paused: true },
  ];
  async function* list() {
    yield* watches;
  }
  const command = watchCommands.find(({ name }) => name === "watch list")!;
  const { stdout } = await run(command, {}, { index: { watches: { list } } });
  expect(stdout.split("\n")).toEqual([
    "watch  name   looks for               score ≥  matches  state",
    'wat_1  Boats  boat (speech, {"a":1})      0.9        3  active',
    "wat_2  a b    an image                    0.9        3  active",
    "wat_3  c      boat, like seg_1            0.9        3  paused",
    "",
  ]);
});

describe("a preview", () => {
  const hit = {
    rank: 1,
    asset_type: "video",
    title: "gate.mp4",
    start_seconds: 41,
    end_seconds: 47,
    clip_url: "https://a.example/gate.mp4",
    caption: "",
    transcript: "",
    on_screen_text: "",
    evidence: [{ kind: "visual", score: 0.3 }],
  };
  const preview = (result: object) => {
    const watches = { preview: async () => ({ job_id: "job_1" }) };
    const jobs = { wait: async () => ({ result }) };
    const args = { positionals: ["truck"] };
    return run(previewCommand, args, { index: { watches }, sightline: { jobs } });
  };

  it("prints matches by day, examples, and what is expected of each threshold", async () => {
    const { stdout, stderr } = await preview({
      min_probability: 0.9,
      matches: 40,
      matches_by_day: [
        { date: "2026-11-25", matches: 30 },
        { date: "2026-11-26", matches: 1 },
      ],
      thresholds: [
        { min_probability: 0.9, matches: 31, expected_precision: 0.934 },
        { min_probability: 0.95, matches: 0, expected_precision: null },
      ],
      best: [{ ...hit, score: 0.98 }],
      nearest_threshold: [{ ...hit, score: 0.8974 }],
      calibration: "borrowed",
    });
    expect(stdout).toBe(`40 matches so far, with a score of at least 0.9.

added (UTC)  matches
2026-11-25        30  ${"█".repeat(30)}
2026-11-26         1  █

Best matches:
#  score  title     time       why
1  0.980  gate.mp4  0:41–0:47  visual

Nearest to the threshold 0.9:
#  score  title     time       why
1  0.897  gate.mp4  0:41–0:47  visual

score ≥  matches  expected to be right
    0.9       31  93 %
   0.95        0
`);
    expect(stderr).toContain("aren't exact");
  });

  it("of many days prints the latest 30", async () => {
    const matches_by_day = Array.from({ length: 40 }, (_, i) => {
      return { date: `day ${i}`, matches: 1 };
    });
    const { stdout } = await preview({ matches: 40, matches_by_day, calibration: "fitted" });
    expect(stdout).not.toMatch(/^day 9 /m);
    expect(stdout).toMatch(/^day 10 /m);
    expect(stdout).toContain("and 10 earlier days\n");
  });

  it("without matches says so, and prints the nearest", async () => {
    const { stdout } = await preview({
      min_probability: 0.9,
      matches: 0,
      matches_by_day: [],
      thresholds: [{ min_probability: 0.9, matches: 0, expected_precision: null }],
      best: [],
      nearest_threshold: [{ ...hit, score: 0.2 }],
    });
    expect(stdout).toMatch(/^No match so far: nothing has a score of at least 0\.9\.\n\nNearest /);
    expect(stdout).not.toContain("Best");
  });

  it.each([
    [{}, "Give the id of a watch"],
    [
      { positionals: ["wat_1"], values: { filter: "{}" } },
      "--filter can't be combined with the id",
    ],
  ])("with %j is refused: %s", async (args, message) => {
    const { error } = await run(previewCommand, args, { index: {} });
    expect(String(error)).toContain(message);
  });
});

describe("a tail", () => {
  const match = {
    segment_id: "seg_1",
    start_seconds: 3,
    end_seconds: 5,
    score: 0.94,
    evidence: [{ kind: "text", score: 1, text: "a <mark>red</mark> truck" }],
  };
  const data = { watch_id: "wat_1", watch_name: "Truck", title: "a\nb.mp4", total: 3 };
  const timestamp = "2026-11-26T10:13:06.289Z";
  const matched = { type: "watch.matched", id: "evt_2", timestamp };
  const tail = (values: Values, events: object[], positionals: string[] = []) => {
    const opened: unknown[] = [];
    const index = {
      watches: {
        get: async () => ({ name: "Truck", paused: true }),
        list: async () => ({ total: 0 }),
      },
      async *events({ onOpen, lastEventId }: { onOpen: () => void; lastEventId?: string }) {
        opened.push(lastEventId);
        onOpen();
        yield* events;
        onOpen();
        throw new ConnectionError("No answer.");
      },
    };
    return run(tailCommand, { positionals, values }, { index }).then((outcome) => {
      return { ...outcome, opened };
    });
  };

  it("prints a line for each match, and one for those that the event leaves out", async () => {
    const events = [
      { type: "asset.updated", id: "evt_1", timestamp, data: {} },
      { ...matched, data: { ...data, matches: [match] } },
    ];
    const { stdout, stderr, error } = await tail({}, events);
    expect(stdout.split("\n")).toEqual([
      "2026-11-26T10:13:06Z  0.94  Truck  a b.mp4  0:03–0:05  text: a «red» truck",
      "2026-11-26T10:13:06Z        Truck  a b.mp4             and 2 more",
      "",
    ]);
    expect(stderr).toBe(
      "Following trip, which has no watch yet. Ctrl-C ends this.\n" +
        "To go on here later, add --since evt_2\n",
    );
    expect(error).toBeInstanceOf(ConnectionError);
  });

  it("of one watch prints only its matches, after the event that --since names", async () => {
    const events = [
      { type: "reset", id: "evt_1", timestamp, data: {} },
      { ...matched, data: { ...data, watch_id: "wat_2", matches: [match] } },
      { ...matched, data: { ...data, total: 1, matches: [match] } },
    ];
    const { stdout, stderr, opened } = await tail({ since: "evt_0" }, events, ["wat_1"]);
    expect(stdout).toMatch(/^\S+ {2}0\.94 {2}a b\.mp4 +0:03–0:05 +text: a «red» truck\n$/);
    expect(stderr).toMatch(/^Following Truck, which is paused\..*\nMatches may be missing/);
    expect(opened).toEqual(["evt_0"]);
  });

  it("with --json prints each event with its id on a line", async () => {
    const event = { ...matched, data: { ...data, matches: [match] } };
    const { stdout } = await tail({ json: true }, [event]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([event]);
  });
});
