import { judge, type Observations } from "./assumptions.ts";
import { listFacts } from "./bindings.ts";

/**
 * Compares what two platforms answered, such as a deployment and the stand-ins. Returns a sentence
 * for each difference; what one didn't check is left out.
 */
export function compareObservations(one: Observations, other: Observations): string[] {
  const verdicts = (seen: Observations) => {
    const checked = judge(seen).filter(({ outcome }) => outcome !== "not checked");
    return new Map(checked.map(({ assumption, outcome }) => [assumption, outcome] as const));
  };
  const facts = ({ bindings }: Observations) => (bindings ? listFacts(bindings) : new Map());
  return [
    ...listDifferences(verdicts(one), verdicts(other)),
    ...listDifferences(facts(one), facts(other)),
  ];
}

function listDifferences(
  one: ReadonlyMap<string, string>,
  other: ReadonlyMap<string, string>,
): string[] {
  return [...one].flatMap(([name, value]) => {
    const otherValue = other.get(name);
    if (otherValue === undefined || otherValue === value) return [];
    return [`${name} One: ${value}; the other: ${otherValue}.`];
  });
}
