/** Words of questions that name nothing specific. */
export const GENERAL = new Set(
  `about anybody anyone can content could describe does done everybody everyone explain get gets give
   given go goes going got had happen happened happening happens having here kept let lets look made
   make makes many may might much must narrator nobody one ones overview part people person put puts
   said say saying says scene see seen shall should show shown shows somebody someone something speaker
   story summarise summarize summary take talk talked talking talks tell tells thing things use used
   uses video videos watch would`.split(/\s+/),
);

/** Prepositions, conjunctions and adverbs, which a sentence in other words need not have. */
export const FUNCTION_WORDS = new Set(
  `about above across after again against ago all along also although among any anything apart around
   away back because before behind below beneath beside besides between both currently down during each
   else even ever every exactly first further here herself him himself inside instead itself just left
   like near next now off once only onto other out outside over own past per s same since still than
   there through till together too toward towards under until up upon us very via while within without
   yet`.split(/\s+/),
);

/** Verbs of where something is, which the words of an image leave out. */
export const POSITION_VERBS = new Set(
  `found hang hanging have kept left lie lies lying located placed see seen show shown sit sits sitting
   situated stand stands standing visible`.split(/\s+/),
);
