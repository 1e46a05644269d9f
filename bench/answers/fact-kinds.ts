/** A property of one kind of entity. `{e}` stands for the entity, `{v}` for the value. */
export interface Property {
  statement: string;
  /** A question in the words of the statement, and one in other words. */
  literalQuestion: string;
  paraphrasedQuestion: string;
  values: string[];
}

export interface FactKind {
  /** Names of entities. Some names occur in several kinds. */
  entities: string[];
  properties: Property[];
}

/**
 * Each block: a line of entity names, then a line per property. A property has a statement, two
 * questions and its values, separated by `|`; names and values by `;`.
 */
const TABLE = `
Oban; Lerwick; Kirkwall; Mallaig; Ullapool
The ferry to {e} leaves at {v}. | When does the ferry to {e} leave? | At what time does the boat for {e} depart? | seven in the morning; a quarter past nine; half past four; eleven at night
A ticket for the ferry to {e} costs {v}. | What does a ticket for the ferry to {e} cost? | How much do passengers pay to sail to {e}? | fourteen pounds; twenty-two pounds; nine pounds fifty; thirty pounds
The captain of the ferry to {e} is {v}. | Who is the captain of the ferry to {e}? | Which person commands the boat that goes to {e}? | Ingrid Solberg; Duncan MacRae; Paula Voss; Tomas Lind
The crossing to {e} on the ferry takes {v}. | How long does the ferry crossing to {e} take? | How much time does one spend aboard on the way to {e}? | forty-five minutes; three hours; two and a half hours; ninety minutes

Oban; Bergen; Lerwick; Turku; Aarhus
The museum in {e} is closed on {v}. | On which day is the museum in {e} closed? | When can nobody visit the exhibition in {e}? | Mondays; Tuesdays; Thursdays; Sundays
The museum in {e} owns {v}. | What does the museum in {e} own? | Which famous thing is kept in the collection at {e}? | a Viking sword; a whale skeleton; a meteorite; a printing press
The museum in {e} was founded by {v}. | Who founded the museum in {e}? | Whose idea was it to start a collection in {e}? | Agnes Holm; Peter Lund; a retired judge; the harbour guild
Guided tours of the museum in {e} start at {v}. | When do guided tours of the museum in {e} start? | At what hour are visitors in {e} led around the exhibition? | ten o'clock; two o'clock; noon; a quarter to five

Grauberg; Silverhorn; Eagle Rock; Larch Pass; Stonefield
The hut at {e} has {v} beds. | How many beds does the hut at {e} have? | How many climbers can sleep up at {e}? | twenty-six; eighteen; forty; thirty-two
The hut at {e} stands {v} above the sea. | How high above the sea does the hut at {e} stand? | What is the altitude of the shelter at {e}? | 2140 metres; 1870 metres; 2655 metres; 3012 metres
{v} cooks for the guests of the hut at {e}. | Who cooks for the guests of the hut at {e}? | Which person prepares the meals at {e}? | Old Matthias; Maria Berger; Jonas Reck; Sister Helene
The path to the hut at {e} begins in {v}. | Where does the path to the hut at {e} begin? | From which village do hikers set out for {e}? | Oberdorf; Saint Gall; Vals; Kandern

Marlow; Fenwick; Delacroix; Hollis; Brandt
The {e} bakery bakes its bread with {v}. | What does the {e} bakery bake its bread with? | Which flour goes into the loaves at {e}? | rye from Poland; spelt grown nearby; barley malt; buckwheat
The oven of the {e} bakery was built in {v}. | When was the oven of the {e} bakery built? | From which year is the furnace at {e}? | 1911; 1874; 1963; 1938
The {e} bakery sells {v} rolls a day. | How many rolls does the {e} bakery sell a day? | What number of buns do customers of {e} buy daily? | four hundred; nine hundred; six hundred; two thousand
The {e} bakery belongs to {v}. | To whom does the {e} bakery belong? | Who is the owner of {e}? | Clara Whitfield; two brothers; the parish; Samuel Okoro

Kessel; Arden; Windmere; Tolland; Brandt
The {e} bridge is {v} long. | How long is the {e} bridge? | What is the span from bank to bank at {e}? | 312 metres; half a mile; 90 metres; 1200 feet
The {e} bridge was designed by {v}. | Who designed the {e} bridge? | Which engineer drew the plans for the crossing at {e}? | Louise Armand; Henry Castell; a monk; Ada Prewitt
The {e} bridge is painted {v}. | In which colour is the {e} bridge painted? | What hue does the steel at {e} have? | dark green; rust red; pale blue; silver grey
The {e} bridge carries {v}. | What does the {e} bridge carry? | Which traffic goes over the river at {e}? | two railway tracks; a tram line; a canal; cattle and carts

Harmonia; Bellwether; Saint Cecilia; Northern Lights; Old Quay
The {e} choir rehearses on {v}. | When does the {e} choir rehearse? | On which evening do the singers of {e} practise? | Wednesdays; Fridays; Saturdays; Mondays
The {e} choir is led by {v}. | Who leads the {e} choir? | Which conductor stands before the singers of {e}? | Maestro Bellini; Joan Tarrant; Ruben Castro; Frieda Lang
The {e} choir has toured {v}. | Where has the {e} choir toured? | Which country did the singers of {e} travel through? | Portugal; Japan; Argentina; Iceland
The {e} choir wears {v}. | What does the {e} choir wear? | How are the singers of {e} dressed? | yellow scarves; long black coats; straw hats; white gloves

Corvus; Halley; Meridian; Antares; Polaris
The mirror of the {e} telescope is {v} wide. | How wide is the mirror of the {e} telescope? | What diameter does the reflector at {e} have? | four metres; six metres; eleven feet; two metres
The {e} telescope stands in {v}. | Where does the {e} telescope stand? | In which country is the observatory {e}? | Chile; Namibia; Tibet; Hawaii
The {e} telescope discovered {v}. | What did the {e} telescope discover? | Which object did astronomers at {e} see first? | a ring of dust; two comets; a dwarf planet; a pulsar
The {e} telescope needs {v} of power. | How much power does the {e} telescope need? | What is the consumption of electricity at {e}? | eighty kilowatts; half a megawatt; twelve kilowatts; two megawatts

Oskar Brenner; Lucia Ferrante; Hedda Nystrom; Emile Rocher; Vera Kolar
The painter {e} was born in {v}. | Where was the painter {e} born? | Which town does the artist {e} come from? | Trieste; Lund; Ghent; Krakow
The painter {e} studied under {v}. | Under whom did the painter {e} study? | Who was the teacher of {e}? | Anton Weiss; Madame Duval; an uncle; Carlo Ricci
The painter {e} is known for pictures of {v}. | For what kind of pictures is the painter {e} known? | Which subjects made {e} famous? | sleeping cats; empty harbours; stormy skies; market women
The painter {e} lived with {v}. | With whom did the painter {e} live? | Who shared the home of {e}? | a blind aunt; three parrots; a retired sailor; two sisters

plum cake; onion pie; almond bread; potato soup; chestnut pudding
The {e} has to cook for {v}. | How long does the {e} have to cook? | After how much time can I take the {e} off the heat? | fifty minutes; two hours; a quarter of an hour; thirty-five minutes
The secret of the {e} is {v}. | What is the secret of the {e}? | Which special ingredient goes into the {e}? | orange peel; a spoon of mustard; cold butter; black pepper
The {e} is served with {v}. | What is the {e} served with? | Which side dish do people eat together with the {e}? | sour cream; pickled beets; green salad; warm custard
The recipe of the {e} comes from {v}. | Where does the recipe of the {e} come from? | Who invented the {e}? | a Bavarian monastery; Aunt Rosalind; a lighthouse keeper; the hotel Miramar

Lumenor; Brightwell; Tessaro; Quillmark; Harmonia
The company {e} makes {v}. | What does the company {e} make? | Which goods come out of the factory of {e}? | hearing aids; bicycle lamps; fountain pens; wind turbines
The company {e} employs {v} people. | How many people does the company {e} employ? | How large is the workforce of {e}? | two hundred; fifteen hundred; sixty; nine thousand
The headquarters of the company {e} are in {v}. | Where are the headquarters of the company {e}? | In which city does {e} have its main office? | Leipzig; Toulouse; Porto; Gdansk
The company {e} was bought by {v}. | Who bought the company {e}? | Which firm took over {e}? | a Swiss bank; Nordvik Holding; the youngest founder; Palmer and Sons
`;

/** Things that aren't, so that no model knows them from elsewhere. */
export const KINDS: readonly FactKind[] = TABLE.trim()
  .split("\n\n")
  .map((block) => {
    const [entities = "", ...lines] = block.split("\n");
    return { entities: entities.split("; "), properties: lines.map(readProperty) };
  });

function readProperty(line: string): Property {
  const [statement = "", literalQuestion = "", paraphrasedQuestion = "", values = ""] =
    line.split(" | ");
  return { statement, literalQuestion, paraphrasedQuestion, values: values.split("; ") };
}
