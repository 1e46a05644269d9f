/** A step of a rehearsal. */
export interface Step {
  title: string;
  outcome: "ok" | "failed" | "not checked";
  /** What was seen, or why it failed. */
  note: string;
  seconds: number;
}

/** Runs the steps of a rehearsal and records their outcomes. A step that fails throws nothing. */
export class StepLog {
  readonly steps: Step[] = [];
  readonly #onStep: (step: Step) => void;

  constructor(onStep: (step: Step) => void) {
    this.#onStep = onStep;
  }

  /** Returns whether the step succeeded. `work` returns what was seen. */
  async run(title: string, work: () => Promise<string>): Promise<boolean> {
    const startedAt = Date.now();
    const secondsSince = () => (Date.now() - startedAt) / 1000;
    try {
      const note = await work();
      this.add({ title, outcome: "ok", note, seconds: secondsSince() });
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === "AbortError") throw error;
      const note = error instanceof Error ? error.message : String(error);
      this.add({ title, outcome: "failed", note, seconds: secondsSince() });
      return false;
    }
  }

  add(step: Step): void {
    this.steps.push(step);
    this.#onStep(step);
  }

  get failedCount(): number {
    return this.steps.filter(({ outcome }) => outcome === "failed").length;
  }
}
