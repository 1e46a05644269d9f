import type { Command } from "./command.ts";
import { addCommand } from "./commands/add.ts";
import { answerCommand } from "./commands/answer.ts";
import { completionCommand } from "./commands/completion.ts";
import { countCommand } from "./commands/count.ts";
import { exportCommand } from "./commands/export.ts";
import { importCommand } from "./commands/import.ts";
import { indexCommands } from "./commands/indices.ts";
import { jobCommands } from "./commands/jobs.ts";
import { judgeCommand } from "./commands/judge.ts";
import { keyCommands } from "./commands/keys.ts";
import { loginCommands } from "./commands/login.ts";
import { searchCommand } from "./commands/search.ts";
import { statsCommand } from "./commands/stats.ts";
import { transcriptCommands } from "./commands/transcript.ts";
import { traverseCommand } from "./commands/traverse.ts";
import { watchCommands } from "./commands/watches.ts";

/** Every command: the parser, the help and the completions are made from this table. */
export const COMMANDS: readonly Command[] = [
  ...loginCommands,
  ...indexCommands,
  addCommand,
  searchCommand,
  countCommand,
  answerCommand,
  ...transcriptCommands,
  importCommand,
  statsCommand,
  traverseCommand,
  exportCommand,
  judgeCommand,
  ...watchCommands,
  ...keyCommands,
  ...jobCommands,
  completionCommand(() => COMMANDS),
];
