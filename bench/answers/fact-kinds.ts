import { parseFactKinds } from "../../tools/facts/fact-kinds.ts";

/** Things that aren't, so that no model knows them from elsewhere. */
const TABLE = `
Oban; Lerwick; Kirkwall; Mallaig; Ullapool
The ferry to {e} leaves at {v}. | When does the ferry to {e} leave? | At what time does the boat for {e} depart? | When should travellers to {e} be at the pier? | At which hour does the vessel set off for {e}? | seven in the morning; a quarter past nine; half past four; eleven at night
A ticket for the ferry to {e} costs {v}. | What does a ticket for the ferry to {e} cost? | How much do passengers pay to sail to {e}? | What is the fare to {e} by sea? | What does one pay for the passage to {e}? | fourteen pounds; twenty-two pounds; nine pounds fifty; thirty pounds
The captain of the ferry to {e} is {v}. | Who is the captain of the ferry to {e}? | Which person commands the boat that goes to {e}? | Who is in command of the ship to {e}? | Who steers the vessel bound for {e}? | Ingrid Solberg; Duncan MacRae; Paula Voss; Tomas Lind
The crossing to {e} on the ferry takes {v}. | How long does the ferry crossing to {e} take? | How much time does one spend aboard on the way to {e}? | How long are passengers at sea before they reach {e}? | What is the duration of the voyage to {e}? | forty-five minutes; three hours; two and a half hours; ninety minutes

Oban; Bergen; Lerwick; Turku; Aarhus
The museum in {e} is closed on {v}. | On which day is the museum in {e} closed? | When can nobody visit the exhibition in {e}? | Which day of the week are the doors of the collection in {e} shut? | On what day is there no admission to the exhibits in {e}? | Mondays; Tuesdays; Thursdays; Sundays
The museum in {e} owns {v}. | What does the museum in {e} own? | Which famous thing is kept in the collection at {e}? | What treasure do visitors find in the museum of {e}? | Which object belongs to the collection of {e}? | a Viking sword; a whale skeleton; a meteorite; a printing press
The museum in {e} was founded by {v}. | Who founded the museum in {e}? | Whose idea was it to start a collection in {e}? | Who created the museum of {e}? | Which person established the collection at {e}? | Agnes Holm; Peter Lund; a retired judge; the harbour guild
Guided tours of the museum in {e} start at {v}. | When do guided tours of the museum in {e} start? | At what hour are visitors in {e} led around the exhibition? | When can one join a guide through the rooms in {e}? | What time do the tours at {e} begin? | ten o'clock; two o'clock; noon; a quarter to five

Grauberg; Silverhorn; Eagle Rock; Larch Pass; Stonefield
The hut at {e} has {v} beds. | How many beds does the hut at {e} have? | How many climbers can sleep up at {e}? | How many hikers find a place to sleep at {e}? | What number of beds is there for guests at {e}? | twenty-six; eighteen; forty; thirty-two
The hut at {e} stands {v} above the sea. | How high above the sea does the hut at {e} stand? | What is the altitude of the shelter at {e}? | How high up is the mountain shelter at {e}? | At what elevation does the cabin at {e} lie? | 2140 metres; 1870 metres; 2655 metres; 3012 metres
{v} cooks for the guests of the hut at {e}. | Who cooks for the guests of the hut at {e}? | Which person prepares the meals at {e}? | Who makes dinner for hikers at {e}? | Who is the cook up at {e}? | Old Matthias; Maria Berger; Jonas Reck; Sister Helene
The path to the hut at {e} begins in {v}. | Where does the path to the hut at {e} begin? | From which village do hikers set out for {e}? | Where do walkers to {e} start? | In what place does the trail to {e} have its beginning? | Oberdorf; Saint Gall; Vals; Kandern

Marlow; Fenwick; Delacroix; Hollis; Brandt
The {e} bakery bakes its bread with {v}. | What does the {e} bakery bake its bread with? | Which flour goes into the loaves at {e}? | Which grain do the bakers of {e} use? | What is in the dough of {e}? | rye from Poland; spelt grown nearby; barley malt; buckwheat
The oven of the {e} bakery was built in {v}. | When was the oven of the {e} bakery built? | From which year is the furnace at {e}? | In what year did {e} get its oven? | How long has the oven of {e} existed, by its year? | 1911; 1874; 1963; 1938
The {e} bakery sells {v} rolls a day. | How many rolls does the {e} bakery sell a day? | What number of buns do customers of {e} buy daily? | How many bread rolls go over the counter of {e} each day? | What is the daily sale of rolls at {e}? | four hundred; nine hundred; six hundred; two thousand
The {e} bakery belongs to {v}. | To whom does the {e} bakery belong? | Who is the owner of {e}? | Whose bakery is {e}? | Which person owns the bread shop {e}? | Clara Whitfield; two brothers; the parish; Samuel Okoro

Kessel; Arden; Windmere; Tolland; Brandt
The {e} bridge is {v} long. | How long is the {e} bridge? | What is the span from bank to bank at {e}? | What length does the bridge at {e} have? | How far is it across the water at {e}? | 312 metres; half a mile; 90 metres; 1200 feet
The {e} bridge was designed by {v}. | Who designed the {e} bridge? | Which engineer drew the plans for the crossing at {e}? | Who was the architect of the crossing at {e}? | Whose design is the bridge at {e}? | Louise Armand; Henry Castell; a monk; Ada Prewitt
The {e} bridge is painted {v}. | In which colour is the {e} bridge painted? | What hue does the steel at {e} have? | Which colour has the bridge at {e}? | What colour do people see on the steel of {e}? | dark green; rust red; pale blue; silver grey
The {e} bridge carries {v}. | What does the {e} bridge carry? | Which traffic goes over the river at {e}? | What travels across the bridge at {e}? | What is moved over the water at {e}? | two railway tracks; a tram line; a canal; cattle and carts

Harmonia; Bellwether; Saint Cecilia; Northern Lights; Old Quay
The {e} choir rehearses on {v}. | When does the {e} choir rehearse? | On which evening do the singers of {e} practise? | Which day of the week does the chorus {e} practise? | When do the voices of {e} meet for practice? | Wednesdays; Fridays; Saturdays; Mondays
The {e} choir is led by {v}. | Who leads the {e} choir? | Which conductor stands before the singers of {e}? | Who is the conductor of {e}? | Who directs the singers of {e}? | Maestro Bellini; Joan Tarrant; Ruben Castro; Frieda Lang
The {e} choir has toured {v}. | Where has the {e} choir toured? | Which country did the singers of {e} travel through? | In which country did {e} give concerts? | Where did the singers of {e} travel? | Portugal; Japan; Argentina; Iceland
The {e} choir wears {v}. | What does the {e} choir wear? | How are the singers of {e} dressed? | Which clothes do the singers of {e} have on? | What is the costume of {e}? | yellow scarves; long black coats; straw hats; white gloves

Corvus; Halley; Meridian; Antares; Polaris
The mirror of the {e} telescope is {v} wide. | How wide is the mirror of the {e} telescope? | What diameter does the reflector at {e} have? | How large is the mirror of the observatory {e}? | How broad is the main mirror at {e}? | four metres; six metres; eleven feet; two metres
The {e} telescope stands in {v}. | Where does the {e} telescope stand? | In which country is the observatory {e}? | Where was the observatory {e} built? | Which country hosts the telescope {e}? | Chile; Namibia; Tibet; Hawaii
The {e} telescope discovered {v}. | What did the {e} telescope discover? | Which object did astronomers at {e} see first? | What did the scientists at {e} find? | Which thing in the sky was found at {e}? | a ring of dust; two comets; a dwarf planet; a pulsar
The {e} telescope needs {v} of power. | How much power does the {e} telescope need? | What is the consumption of electricity at {e}? | How much electricity does the observatory {e} use? | What power does {e} consume? | eighty kilowatts; half a megawatt; twelve kilowatts; two megawatts

Oskar Brenner; Lucia Ferrante; Hedda Nystrom; Emile Rocher; Vera Kolar
The painter {e} was born in {v}. | Where was the painter {e} born? | Which town does the artist {e} come from? | In which town did {e} come into the world? | What is the birthplace of {e}? | Trieste; Lund; Ghent; Krakow
The painter {e} studied under {v}. | Under whom did the painter {e} study? | Who was the teacher of {e}? | Who taught {e} to paint? | From whom did {e} learn the art? | Anton Weiss; Madame Duval; an uncle; Carlo Ricci
The painter {e} is known for pictures of {v}. | For what kind of pictures is the painter {e} known? | Which subjects made {e} famous? | Which motif do people know {e} for? | What did {e} love to paint? | sleeping cats; empty harbours; stormy skies; market women
The painter {e} lived with {v}. | With whom did the painter {e} live? | Who shared the home of {e}? | Who lived under one roof with {e}? | With whom did {e} share a house? | a blind aunt; three parrots; a retired sailor; two sisters

plum cake; onion pie; almond bread; potato soup; chestnut pudding
The {e} has to cook for {v}. | How long does the {e} have to cook? | After how much time can I take the {e} off the heat? | How long must the {e} stay on the stove? | What is the cooking time of the {e}? | fifty minutes; two hours; a quarter of an hour; thirty-five minutes
The secret of the {e} is {v}. | What is the secret of the {e}? | Which special ingredient goes into the {e}? | What makes the {e} so special? | Which hidden ingredient improves the {e}? | orange peel; a spoon of mustard; cold butter; black pepper
The {e} is served with {v}. | What is the {e} served with? | Which side dish do people eat together with the {e}? | What comes to the table beside the {e}? | What do guests get together with the {e}? | sour cream; pickled beets; green salad; warm custard
The recipe of the {e} comes from {v}. | Where does the recipe of the {e} come from? | Who invented the {e}? | From whom do we have the recipe of the {e}? | What is the origin of the {e}? | a Bavarian monastery; Aunt Rosalind; a lighthouse keeper; the hotel Miramar

Lumenor; Brightwell; Tessaro; Quillmark; Harmonia
The company {e} makes {v}. | What does the company {e} make? | Which goods come out of the factory of {e}? | What does the firm {e} produce? | Which product does {e} manufacture? | hearing aids; bicycle lamps; fountain pens; wind turbines
The company {e} employs {v} people. | How many people does the company {e} employ? | How large is the workforce of {e}? | How many workers does the firm {e} have? | What number of staff work at {e}? | two hundred; fifteen hundred; sixty; nine thousand
The headquarters of the company {e} are in {v}. | Where are the headquarters of the company {e}? | In which city does {e} have its main office? | Where is the main office of {e}? | From which city is the firm {e} run? | Leipzig; Toulouse; Porto; Gdansk
The company {e} was bought by {v}. | Who bought the company {e}? | Which firm took over {e}? | Who is the new owner of {e}? | Who acquired the firm {e}? | a Swiss bank; Nordvik Holding; the youngest founder; Palmer and Sons

Orpheum; Lyceum; Grand; Palace; Rialto
The curtain of the {e} theatre rises at {v}. | When does the curtain of the {e} theatre rise? | At what time do shows begin at the {e}? | When must spectators be in their seats at the {e}? | At which hour do the actors of the {e} start? | eight in the evening; half past seven; nine o'clock; a quarter past six
The {e} theatre seats {v} people. | How many people does the {e} theatre seat? | How large an audience fits into the {e}? | What number of spectators can the {e} hold? | For how many visitors is there space in the {e}? | nine hundred; two hundred; four hundred; eighteen hundred
The {e} theatre was restored by {v}. | Who restored the {e} theatre? | Which architect renovated the {e}? | Who repaired the stage house {e}? | Whose work gave the {e} its old beauty again? | Judith Crane; Victor Almeida; the city council; Rose and Hartley
The {e} theatre opens its season with {v}. | What does the {e} theatre open its season with? | Which play starts the year at the {e}? | What is the first performance of the season at the {e}? | Which piece will audiences of the {e} see first? | a Greek tragedy; an opera; a puppet show; a comedy by Moliere

Saint Agnes; Northfield; Hawthorne; Birchwood; Kingsley
The school {e} has {v} pupils. | How many pupils does the school {e} have? | How many children go to class at {e}? | What number of students attend {e}? | How big is {e}, counted in students? | six hundred; ninety; twelve hundred; three hundred and fifty
Lessons at the school {e} begin at {v}. | When do lessons at the school {e} begin? | At what time must students be in class at {e}? | At what hour does teaching start at {e}? | When does the bell ring for the first class at {e}? | eight o'clock; a quarter to nine; half past eight; nine in the morning
The school {e} teaches {v} as a foreign language. | What does the school {e} teach as a foreign language? | Which foreign language do children learn at {e}? | What language may pupils study at {e}? | Which tongue other than their own do students of {e} speak in class? | Spanish; Mandarin; Russian; Italian
The headmaster of the school {e} is {v}. | Who is the headmaster of the school {e}? | Which person runs {e}? | Who is the principal of {e}? | Who directs the teachers at {e}? | Gordon Pike; Sylvia Moreno; Brother Thomas; Alan Whitby

Tamar; Volga Minor; Silverstream; Ardenne; Kestrel
The river {e} rises in {v}. | Where does the river {e} rise? | In what place is the source of the {e}? | Where does the water of the {e} come from? | In which region does the stream {e} begin? | the Harz mountains; a peat bog; Moravia; the northern hills
The river {e} is {v} long. | How long is the river {e}? | What is the length of the {e}? | How far does the stream {e} run from source to mouth? | What distance does the water of the {e} travel? | two hundred miles; 90 kilometres; 140 miles; 65 kilometres
The river {e} flooded the valley in {v}. | When did the river {e} flood the valley? | In which year did the {e} overflow its banks? | In what year was the valley under water from the {e}? | When did the inundation by the {e} take place? | 1953; 1889; 2002; 1970
Fishermen catch {v} in the river {e}. | What do fishermen catch in the river {e}? | Which fish live in the {e}? | What can anglers hope to find in the {e}? | Which animals are pulled from the water of the {e}? | trout; eels; salmon; pike

Camden; Rialton; Portobello; Naschgasse; Kleinmarkt
The market in {e} takes place on {v}. | When does the market in {e} take place? | On which day do traders sell in {e}? | Which day of the week can one shop at the stalls in {e}? | On what day are the booths of {e} set up? | Saturdays; Wednesdays; Fridays; Sundays
The market in {e} is famous for {v}. | What is the market in {e} famous for? | Which goods draw buyers to {e}? | What do visitors mainly purchase in {e}? | For which wares is the trade in {e} known? | goat cheese; old clocks; leather bags; spices
A stall at the market in {e} costs {v} a day. | How much does a stall at the market in {e} cost a day? | What must a trader pay for a place in {e}? | What is the daily rent of a booth in {e}? | How much money does a seller need for a day in {e}? | twelve euros; thirty pounds; forty dollars; eight francs
The oldest trader of the market in {e} is {v}. | Who is the oldest trader of the market in {e}? | Which seller has the most years behind him in {e}? | Who among the merchants of {e} is the most aged? | Which person has sold in {e} for the longest time? | Old Bessie; Mister Ferrara; Tilda Kranz; Ahmed Nassar

Quicksilver; Nimbus; Gulliver; Albatross; Zephyr
The airship {e} flies at {v}. | How fast does the airship {e} fly? | What is the speed of the {e}? | At which speed does the {e} move through the air? | How quickly can the {e} travel? | sixty miles an hour; ninety kilometres an hour; forty knots; seventy miles an hour
The airship {e} is filled with {v}. | What is the airship {e} filled with? | Which gas lifts the {e}? | What keeps the {e} in the air? | What substance is inside the hull of the {e}? | helium; hydrogen; hot air; methane
The airship {e} was christened in {v}. | Where was the airship {e} christened? | In which town did the {e} receive its name? | In what city was the {e} baptised? | Where did the naming ceremony of the {e} happen? | Lisbon; Hamburg; Seattle; Trondheim
The pilot of the airship {e} is {v}. | Who is the pilot of the airship {e}? | Who steers the {e}? | Which person sits at the controls of the {e}? | Who is in command of the {e} in flight? | Erik Halvorsen; Amelia Stone; Jun Takeda; Olga Brandt

Barnaby; Pepper; Rufus; Clover; Duchess
The dog {e} guards {v}. | What does the dog {e} guard? | Which place does the hound {e} protect? | What is {e} there to keep safe? | What does the animal {e} watch over? | a scrapyard; the vicarage; a flock of sheep; an orchard
The dog {e} was born in {v}. | When was the dog {e} born? | In which month did the puppy {e} come into the world? | What is the birth month of {e}? | When did {e} see the light of day? | March; November; June; August
The dog {e} is afraid of {v}. | What is the dog {e} afraid of? | Which thing frightens {e}? | What scares {e}? | From what does {e} run away in fear? | thunder; vacuum cleaners; geese; balloons
The dog {e} belongs to {v}. | To whom does the dog {e} belong? | Who is the owner of {e}? | Whose pet is {e}? | Which person takes {e} home at night? | Hannah Brook; a blacksmith; the twins; Colonel Marsh

Lantern; Harvest; Midsummer; Kite; Cherry
The {e} festival lasts {v}. | How long does the {e} festival last? | For how much time do people celebrate at the {e}? | How many days go by until the {e} ends? | What is the duration of the {e}? | three days; a week; ten days; one night
The {e} festival is held in {v}. | Where is the {e} festival held? | In which town do people gather for the {e}? | What city welcomes the guests of the {e}? | To what place must one travel to be at the {e}? | Granada; Leeds; Kobe; Bruges
The {e} festival ends with {v}. | What does the {e} festival end with? | What is the last event of the {e}? | What happens at the close of the {e}? | Which spectacle finishes the {e}? | fireworks; a boat race; a common meal; a bonfire
The {e} festival was started by {v}. | Who started the {e} festival? | Who had the idea for the {e}? | Which people founded the {e}? | Who launched the {e}? | weavers; Father Ignatius; Laura Benton; two teachers

Hampton; Bellrose; Fairmont; Glenlee; Ashcombe
The garden of {e} is known for its {v}. | What is the garden of {e} known for? | Which plants made the park of {e} famous? | What do visitors come to smell and see in the park of {e}? | Which flowers attract people to {e}? | black tulips; water lilies; roses; orchids
The garden of {e} was laid out in {v}. | When was the garden of {e} laid out? | In which year was the park of {e} designed? | How old is the park of {e}, by its year? | From what year are the flower beds of {e}? | 1750; 1822; 1690; 1911
The garden of {e} closes at {v}. | When does the garden of {e} close? | Until what time may people walk in the park of {e}? | At what hour are the gates of {e} shut? | When do visitors have to leave the park of {e}? | dusk; six o'clock; eight in the evening; half past five
The head gardener of {e} is {v}. | Who is the head gardener of {e}? | Which person looks after the plants of {e}? | Who directs those that water the flowers of {e}? | Who is responsible for the beds of {e}? | Percy Lamb; Yoko Arai; Miss Thornberry; Emil Novak

Skerry; Blackrock; Gull Point; Farne; Hook Head
The lighthouse of {e} is {v} tall. | How tall is the lighthouse of {e}? | What is the height of the tower at {e}? | How high does the beacon of {e} rise? | How many metres or feet does the tower at {e} measure? | forty metres; ninety feet; thirty-one metres; 120 feet
The light of the lighthouse of {e} is {v}. | Which colour is the light of the lighthouse of {e}? | What colour do sailors see shining from {e}? | In which hue does the beacon at {e} shine? | What tint has the lamp at {e}? | green; white; red; yellow
The lighthouse of {e} was automated in {v}. | When was the lighthouse of {e} automated? | Since which year has no keeper worked at {e}? | In what year did the last keeper leave {e}? | When did machines take over at {e}? | 1982; 1998; 1967; 2005
The lighthouse of {e} is visited by {v}. | Who visits the lighthouse of {e}? | Which people come to see the tower at {e}? | Who travels to the beacon of {e}? | Which guests climb the steps at {e}? | bird watchers; schoolchildren; painters; pilgrims

Velour; Needle and Thread; Bespoke House; Savoy; Tweedside
The tailor {e} sews {v}. | What does the tailor {e} sew? | Which clothes are made at {e}? | What can customers order at {e}? | Which garments leave the workshop of {e}? | wedding dresses; uniforms; silk shirts; winter coats
A suit from the tailor {e} costs {v}. | How much does a suit from the tailor {e} cost? | What does a customer pay for a suit at {e}? | What is the price of clothes at {e}? | How much money does one leave at {e} for a suit? | nine hundred dollars; four hundred pounds; six hundred euros; two thousand francs
The tailor {e} has his shop in {v}. | Where does the tailor {e} have his shop? | In which street or town is the workshop {e}? | Where can one be measured by {e}? | In what place does {e} receive customers? | Mayfair; Antwerp; Beacon Hill; Salamanca
A dress from the tailor {e} takes {v}. | How long does a dress from the tailor {e} take? | How much time does {e} need for a dress? | How long must customers wait for {e}? | After what time is the work of {e} done? | six weeks; ten days; two months; four weeks
`;

export const KINDS = parseFactKinds(TABLE);
