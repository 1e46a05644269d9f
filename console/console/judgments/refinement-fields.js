/** Returns the fields of the API request for a refined search. */
export function refinementFields(refinement) {
  const [relevant, irrelevant] = [true, false].map((kind) =>
    refinement.filter(({ isRelevant }) => isRelevant === kind).map(({ id }) => id),
  );
  return {
    ...(relevant.length > 0 && { more_like: relevant }),
    ...(irrelevant.length > 0 && { less_like: irrelevant }),
  };
}

/** Says what a search is refined by: "Refined by 2 relevant and 1 not relevant moments". */
export function refinementText(refinement) {
  const relevantCount = refinement.filter(({ isRelevant }) => isRelevant).length;
  const irrelevantCount = refinement.length - relevantCount;
  const kinds = [
    relevantCount > 0 && `${relevantCount} relevant`,
    irrelevantCount > 0 && `${irrelevantCount} not relevant`,
  ];
  const noun = refinement.length === 1 ? "moment" : "moments";
  return `Refined by ${kinds.filter(Boolean).join(" and ")} ${noun}`;
}
