import type { Language } from "./function-words.ts";

/**
 * Verbs whose forms have more than one stem: the infinitive, then the others, folded. The closed
 * classes of German strong verbs, of Dutch ones and of irregular French ones, without rare words.
 */
const VERBS: Partial<Record<Language, string>> = {
  de: `backen backt buk gebacken|befehlen befiehlt befahl befohlen|beginnen begann begonnen
    |beissen biss gebissen|biegen bog gebogen|bieten bot geboten|binden band gebunden
    |bitten bat gebeten|blasen blast blies geblasen|bleiben blieb geblieben|braten brat briet
    |brechen bricht brich brach gebrochen|brennen brannte gebrannt|bringen brachte gebracht
    |denken dachte gedacht|essen isst iss ass gegessen|fahren fahrt fuhr gefahren|fallen fallt fiel
    |fangen fangt fing gefangen|finden fand gefunden|fliegen flog geflogen|fliehen floh geflohen
    |fliessen floss geflossen|fressen frisst friss frass|frieren fror gefroren|geben gibt gib gab gegeben
    |gehen geht ging gegangen|giessen goss gegossen|graben grabt grub|greifen griff gegriffen
    |halten halt hielt gehalten|hangen hing gehangen|heben hob gehoben|helfen hilft hilf half geholfen
    |kennen kannte gekannt|klingen klang geklungen|kommen kam gekommen|kriechen kroch gekrochen
    |laden ladt lud geladen|lassen lasst liess gelassen|laufen lauft lief gelaufen
    |leiden litt gelitten|leihen lieh geliehen|lesen liest lies las gelesen|liegen lag gelegen
    |lugen log gelogen|messen misst mass|nehmen nimmt nimm nahm genommen|nennen nannte genannt
    |pfeifen pfiff gepfiffen|raten rat riet|reiben rieb gerieben|reissen riss gerissen
    |reiten ritt geritten|rennen rannte gerannt|riechen roch gerochen|rufen rief gerufen
    |schieben schob geschoben|schiessen schoss geschossen|schlafen schlaft schlief geschlafen
    |schlagen schlagt schlug geschlagen|schleichen schlich|schliessen schloss geschlossen
    |schmelzen schmilzt schmolz|schneiden schnitt geschnitten|schreiben schrieb geschrieben
    |schreien schrie geschrien|schweigen schwieg|schwimmen schwamm geschwommen
    |sehen sieht sieh sah gesehen|singen sang gesungen|sinken sank gesunken|sitzen sass gesessen
    |sprechen spricht sprich sprach gesprochen|springen sprang gesprungen|stechen sticht stich stach gestochen
    |stehen stand gestanden|stehlen stiehlt stahl gestohlen|steigen stieg gestiegen
    |sterben stirbt stirb starb gestorben|stossen stiess|streichen strich|streiten stritt gestritten
    |tragen tragt trug getragen|treffen trifft triff traf getroffen|treiben trieb getrieben
    |treten tritt trat|trinken trank getrunken|tun tut tat getan|verlieren verlor verloren
    |vergessen vergisst vergiss vergass|wachsen wachst wuchs gewachsen|waschen wascht wusch gewaschen
    |werfen wirft wirf warf geworfen|wiegen wog gewogen|wissen weiss wusste gewusst|ziehen zog gezogen
    |zwingen zwang gezwungen`,
  fr: `aller va vont allait ira irai iras irons iront allons allez|apprendre apprend appris apprennent|boire boit bu boivent buvait
    |comprendre comprend compris|conduire conduit conduisent|connaitre connait connu
    |construire construit construisent|courir court couru|couvrir couvre couvert|croire croit cru croyait
    |cueillir cueille|devoir doit doivent du devra|dire dit disent|dormir dort dors dorment
    |ecrire ecrit ecrivent ecrivait|faire fait font faisait fera|lire lit lisent lu lisait|mettre met mis mettent
    |mourir meurt mort meurent|naitre nait ne naissent|offrir offre offert|ouvrir ouvre ouvert
    |partir part partent|perdre perd perdu|pouvoir peut peuvent pu pourra|prendre prend pris prennent prenait
    |recevoir recoit recu recoivent|rire rit rient|savoir sait savent su saura|sentir sent sentent
    |servir sert servent|sortir sort sortent|suivre suit suivi|tenir tient tenu tiennent
    |vendre vend vendu|venir vient venu viennent viendra vint|vivre vit vivent vecu|voir voit vu voient voyait verra
    |vouloir veut veulent voulu voudra`,
  nl: `beginnen begon begonnen|bijten beet gebeten|blijven blijft bleef gebleven|breken brak gebroken
    |brengen bracht gebracht|denken dacht gedacht|drinken dronk gedronken|eten eet at gegeten
    |gaan gaat ging gegaan|geven geeft gaf gegeven|helpen hielp geholpen|kiezen koos gekozen
    |kijken keek gekeken|komen kwam gekomen|kopen kocht gekocht|lezen leest las gelezen
    |liggen lag gelegen|lopen loopt liep gelopen|nemen nam genomen|rijden reed gereden
    |roepen riep geroepen|schrijven schreef geschreven|slapen slaapt sliep geslapen
    |spreken sprak gesproken|springen sprong gesprongen|staan staat stond gestaan
    |sterven stierf gestorven|trekken trok getrokken|vallen viel gevallen|vechten vocht
    |verliezen verloor verloren|vinden vond gevonden|vliegen vloog gevlogen|vragen vroeg
    |werpen wierp geworpen|zien ziet zag gezien|zingen zong gezongen|zitten zat gezeten
    |zoeken zocht gezocht|zwemmen zwom gezwommen`,
};
/** Prefixes that change nothing in how a verb is conjugated, but for "ge". */
const INSEPARABLE = /^(?:be|ent|er|ver|zer|ont|her|re|de)/;

const FORMS = new Map<string, readonly string[]>();
for (const [language, verbs] of Object.entries(VERBS)) {
  for (const verb of verbs.split("|")) {
    const forms = verb.trim().split(/\s+/);
    for (const form of forms) FORMS.set(`${language} ${form}`, forms);
  }
}

/** Returns the forms of the irregular verb that a folded word is a form of; none if it is none. */
export function irregularForms(folded: string, language: Language): string[] {
  const own = FORMS.get(`${language} ${folded}`);
  if (own !== undefined) return [...own];
  const [prefix] = INSEPARABLE.exec(folded) ?? [];
  if (prefix === undefined) return [];
  const rest = folded.slice(prefix.length);
  // "verstanden" is "ver" and "gestanden" without "ge".
  const forms = FORMS.get(`${language} ${rest}`) ?? FORMS.get(`${language} ge${rest}`) ?? [];
  return forms.map((form) => prefix + form.replace(/^ge(?=.{4})/, ""));
}
