import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PROJECT } from "../stack/local-state.ts";

/** A place where SQL is composed: an offset in a file. */
interface Template {
  file: string;
  text: string;
  at: number;
}

interface CountedRange {
  startOffset: number;
  endOffset: number;
  count: number;
}

/** Finds which templates of SQL are evaluated, of modules that are loaded after its start. */
export class TemplateCoverage {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post("Profiler.enable");
    await this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** Lists the templates, as `file:line`, that nothing has evaluated. */
  async listUnreached(sources: ReadonlyMap<string, string>): Promise<string[]> {
    const { result } = await this.#session.post("Profiler.takePreciseCoverage");
    this.#session.disconnect();
    const ranges = new Map(
      result.map(({ url, functions }) => [url, functions.flatMap((each) => each.ranges)]),
    );
    return [...sources]
      .flatMap(([file, text]) => findTemplates(file, text))
      .filter(
        ({ file, at }) => !isReached(ranges.get(pathToFileURL(join(PROJECT, file)).href) ?? [], at),
      )
      .map(({ file, text, at }) => `${file}:${text.slice(0, at).split("\n").length}`);
  }
}

function findTemplates(file: string, text: string): Template[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => " ".repeat(comment.length));
  return [...code.matchAll(/\bsql`/g)].map(({ index }) => ({ file, text, at: index }));
}

/** Whether the innermost range around an offset has run. Node strips types without moving code. */
function isReached(ranges: readonly CountedRange[], at: number): boolean {
  const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset);
  const sizeOf = ({ startOffset, endOffset }: CountedRange) => endOffset - startOffset;
  const innermost = around.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0];
  return innermost !== undefined && innermost.count > 0;
}
