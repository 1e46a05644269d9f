/** A property of one kind of entity. `{e}` stands for the entity, `{v}` for the value. */
export interface Property {
  statement: string;
  /** A question in the words of the statement. */
  literalQuestion: string;
  /** Questions in other words. */
  paraphrasedQuestions: string[];
  values: string[];
}

export interface FactKind {
  /** Names of entities. Some names occur in several kinds. */
  entities: string[];
  properties: Property[];
}

/**
 * Parses kinds of facts. Each block: a line of entity names, then a line for each property: a
 * statement, questions and values, separated by `|`. The first question is in the words of the
 * statement. Names and values are separated by `;`.
 */
export function parseFactKinds(table: string): FactKind[] {
  return table
    .trim()
    .split("\n\n")
    .map((block) => {
      const [entities = "", ...lines] = block.split("\n");
      return { entities: entities.split("; "), properties: lines.map(parseProperty) };
    });
}

function parseProperty(line: string): Property {
  const parts = line.split(" | ");
  const [statement = "", literalQuestion = "", ...paraphrasedQuestions] = parts.slice(0, -1);
  return {
    statement,
    literalQuestion,
    paraphrasedQuestions,
    values: parts.at(-1)!.split("; "),
  };
}
