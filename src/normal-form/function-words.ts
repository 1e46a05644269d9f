import { fold } from "./fold.ts";

/**
 * Languages in Latin letters with a stemmer of their own. Others are stemmed as English. Danish,
 * Norwegian and Swedish are one: short texts don't tell them apart, and most of their endings are
 * the same.
 */
export const LANGUAGES = [
  "en",
  "de",
  "fr",
  "es",
  "it",
  "pt",
  "nl",
  "scandinavian",
  "fi",
  "hu",
  "ro",
  "tr",
  "id",
  "pl",
  "cs",
] as const;
export type Language = (typeof LANGUAGES)[number];

/** Function words, which tell languages apart. A text has them as written, not by their stem. */
const FUNCTION_WORDS: Record<Language, string> = {
  en: `the and of is in to a was on for with that it at by an are from this I you he she they we
    his her our my your their its not but have has had be been were will would can all there what
    who when where how which as or if so no out up into over after before about than then them`,
  de: `der die das und ist ein eine einen einer eines dem den des nicht mit auf für von vom im am zum
    zur sind wird wurde wir sie er es ich auch bei nach aus über unter oder aber jede jeder jedes um
    ihr ihre sein seine mein meine kein keine haben hatte wie als wenn noch nur durch ohne gegen vor
    hat dass sich ihm ihn mir mich dir dich bitte schon mehr alle dieser diese dieses unser unsere
    heute gestern morgen immer hier dort jetzt`,
  fr: `le la les des une est et dans du au aux pour pas sur avec que qui ce cette sont il elle elles
    nous vous ont de un en devant sous chez on ils ne plus ses son sa leur leurs je tu mon ma mes
    ton ta tes se mais ou où par été cet ces tous tout très bien être avait était notre votre a à`,
  es: `el la los las un una unos unas de del y en con por para que es son no se su sus al lo le les
    pero muy está están este esta ese esa mi tu nos todos todas hay fue como sin sobre cuando antes
    ya más mis yo me te desde hasta entre también esto eso fin ha han era porque donde hoy
    mucho mucha muchos muchas todo toda nada quien otro otra tiene tienen puede ser`,
  it: `il lo la gli le un uno una di del della dei delle dello degli da dal dalla in nel nella nei e
    è con per che non si al alla ai alle sul sulla mio mia suo sua sono ha hanno ma anche questo
    questa ogni i ho hai abbiamo mi ti ci vi come dopo prima molto più loro nostro nostra tutti`,
  pt: `o a os as um uma de do da dos das e em no na nos nas com por para que não é se ao à seu sua meu
    minha são está estão mas muito eu ele ela eles elas foi pelo pela este esta numa num sem mais
    já nós também quando como até entre ser tem têm isso depois todos todas aos às`,
  nl: `de het een en van in op is dat die niet met voor te zijn er aan ook om maar naar bij uit hij
    zij ze we wij ik je wordt werd heeft onze deze dit nog over onder door haar mijn als dan geen
    kan moet veel tot was worden hun ons wie wat waar na zonder tegen toen`,
  scandinavian: `och att det som en på är av för med till den har inte om ett men var jag sig från vi så kan
    när år under också efter eller nu sin där vid mot ska skulle kommer ut får finns vara hade
    alla andra mycket än här då sedan över bara in blir upp vad dem sitt han hon hans hennes de
    i mitt min din vår våra mina utan mellan genom og at er til af for der jeg ikke fra et hun
    ved være over også når ud skal blev blive op hvad hvis alle noget deres denne dette mig os
    mit mine dig hende ham her havde end mod uden mellem gennem hver etter seg nå ble bli opp
    hva noe meg oss deg henne hadde enn uten mellom gjennom fikk går ei`,
  fi: `ja on ei että se oli hän mutta ovat kun niin myös joka ovat kuin tai jos nyt vain sen mitä
    tämä minä sinä me te he ole olen olemme meidän minun hänen siellä täällä ennen sitten kaikki
    koko vielä jo kanssa ilman jälkeen päällä alla joka aina mukaan olivat tämän mikä missä yli`,
  hu: `a az és hogy nem is egy volt van de ha már csak meg mint ezt azt ez még el ki minden én te ő
    mi ti ők mert vagy után alatt között nagyon lesz voltak vannak sem le fel be itt ott most ami
    aki amikor mellett előtt szerint azért ennek annak első sok`,
  ro: `și în de la cu pe nu un o este din care să pentru mai sunt fost al a ale lui ei ce se că au
    am dar sau prin dintre după fără foarte cum când unde acest această aceste acestui noi voi ei
    ele mea meu tău sa său lor despre până toate toți era erau va vor iar`,
  tr: `ve bir bu da de için ile çok ne o ben sen biz siz onlar ama gibi daha var yok mi mı mu mü
    olan olarak sonra önce kadar her şey değil en ki bana sana onu bunu şu diye ya hem veya ise
    bütün tüm hiç nasıl neden niye kim yarın bugün dün`,
  id: `yang di dan itu dengan untuk dari tidak ini pada adalah ke akan saya kami kita mereka dia
    anda ada oleh atau juga sudah telah bisa dapat dalam karena seperti lebih satu kamu aku belum
    jika lagi sangat para tapi tetapi saat setelah sebelum sejak hari setiap bagi`,
  pl: `i w na z się nie do to że jest po o jak za od co ale dla ma przez są już czy tak był była było
    być tylko ich jego jej ten ta te tego tej tym które który która przed pod nad ze we tu
    tam gdy kiedy bardzo może mnie mi go jego on ona oni my wy nas nam bez przy ani`,
  cs: `a v se na je s z že do to o i k ve pro za by po si ale od ze jako tak jsem jsou jeho její jak
    které který která už co nebo není byl byla bylo být až při když ještě jen pod nad před mezi
    kvůli můj moje náš naše tento tato toto ten ta tu tam kde kdy velmi každý všechno`,
};
/** The languages of each function word, in lower case and capitalized. */
const LANGUAGES_OF_WORD = new Map<string, Language[]>();
const FOLDED = new Map<Language, Set<string>>();
for (const language of LANGUAGES) {
  const own = new Set(FUNCTION_WORDS[language].split(/\s+/));
  FOLDED.set(language, new Set([...own].map(fold)));
  for (const lower of own) {
    for (const word of new Set([lower, lower[0]!.toUpperCase() + lower.slice(1)])) {
      LANGUAGES_OF_WORD.set(word, [...(LANGUAGES_OF_WORD.get(word) ?? []), language]);
    }
  }
}

/** Returns the languages that have a word, as written, as a function word. */
export function languagesWith(written: string): readonly Language[] {
  return LANGUAGES_OF_WORD.get(written) ?? [];
}

/** Tests whether a word is a function word of a language, of which marks were left out: "nao". */
export function isMissingMarks(written: string, language: Language): boolean {
  return isFunctionWord(written, language) && !languagesWith(written).includes(language);
}

/** Tests whether a folded word is a function word of a language. */
export function isFunctionWord(folded: string, language: Language): boolean {
  return FOLDED.get(language)!.has(folded);
}

/** Stop words: they don't distinguish texts, so they match only if a query has no others. */
const STOP_WORDS = new Set(
  `a am an and are as at be been being but by did do does for from had has have he her his how i
   if in into is it its me my no not of on or our she so some that the their them then there
   these they this to was we were what when where which who whom whose why will with you your
   的 了 在 是 の は が を に で と も へ か です ます する กับ และ ใน ที่ เป็น`.split(/\s+/),
);

/** Tests whether a folded word is a stop word. */
export function isStopWord(folded: string): boolean {
  return STOP_WORDS.has(folded);
}
