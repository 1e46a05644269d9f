import type { Command, CommandContext } from "../command.ts";
import { completionScript, SHELLS } from "../completion-script.ts";

/** Makes the command that prints the completions of all commands. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    summary: "Print a completion script for a shell.",
    parameters: [{ name: "shell", choices: SHELLS }],
    options: [],
    examples: [
      {
        line: "completion bash > ~/.local/share/bash-completion/completions/sightline",
        does: "bash",
      },
      { line: 'completion zsh > "${fpath[1]}/_sightline"', does: "zsh" },
      { line: "completion fish > ~/.config/fish/completions/sightline.fish", does: "fish" },
    ],
    run: async ({ args, output }: CommandContext) => {
      const shell = SHELLS.find((one) => one === args.positionals[0])!;
      const script = completionScript(shell, commands());
      output.json({ shell, script });
      output.text(script);
    },
  };
}
