import { type Copy, DockerfileParser, type Instruction, Keyword } from "dockerfile-ast";

/** What a Dockerfile has to agree with. */
export interface DockerfileRules {
  /** Version of Node in `package.json`. */
  nodeVersion: string;
  /** Port that the Worker calls. */
  port: number;
  /** Whether the build context has a file or folder. */
  exists: (path: string) => boolean;
}

const ROOT_USERS: ReadonlySet<string> = new Set(["root", "0"]);

/** Returns a sentence for each unknown instruction of a Dockerfile, and each broken rule. */
export function findDockerfileProblems(
  file: string,
  text: string,
  rules: DockerfileRules,
): string[] {
  const at = (line: number, problem: string) => `${file}:${line + 1} ${problem}`;
  const instructions = DockerfileParser.parse(text).getInstructions();
  const last = (keyword: string) =>
    instructions.findLast((instruction) => instruction.getKeyword() === keyword);
  const problems = instructions.flatMap((instruction) =>
    problemsOf(instruction, rules).map((problem) => at(instruction.getRange().start.line, problem)),
  );
  const end = text.trimEnd().split("\n").length - 1;
  const user = last("USER");
  const isSet = user !== undefined && isBefore(last("FROM"), user);
  if (!isSet || ROOT_USERS.has(valuesOf(user)[0]?.split(":")[0] ?? "root")) {
    problems.push(at(end, "The last stage runs as root: set USER."));
  }
  const exposed = last("EXPOSE");
  if (!exposed || valuesOf(exposed).join() !== String(rules.port)) {
    problems.push(at(end, `The image must EXPOSE ${rules.port}, which the Worker calls.`));
  }
  return problems;
}

function problemsOf(instruction: Instruction, { nodeVersion, exists }: DockerfileRules): string[] {
  const values = valuesOf(instruction);
  switch (instruction.getKeyword()) {
    case "FROM": {
      const isPinned = values[0]?.startsWith(`node:${nodeVersion}-`) ?? false;
      return isPinned ? [] : [`FROM must be node:${nodeVersion}-…, the project's version.`];
    }
    case "ADD":
      return ["ADD may fetch and unpack: use COPY."];
    case "COPY": {
      const isOfStage = (instruction as Copy).getFlags().some((flag) => flag.getName() === "from");
      const missing = isOfStage ? [] : values.slice(0, -1).filter((source) => !exists(source));
      return missing.map((source) => `The build context has no ${source}.`);
    }
    case "ENV":
      return values
        .filter((value) => /KEY|SECRET|TOKEN|PASSWORD/.test(value))
        .map((value) => `${value} would be in the image for everybody.`);
    default: {
      const keyword = instruction.getKeyword();
      return keyword in Keyword ? [] : [`Unknown instruction: ${keyword}`];
    }
  }
}

function valuesOf(instruction: Instruction): string[] {
  return instruction.getArguments().map((argument) => argument.getValue());
}

function isBefore(one: Instruction | undefined, other: Instruction): boolean {
  return one !== undefined && one.getRange().start.line < other.getRange().start.line;
}
