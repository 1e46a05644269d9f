import { parseFactKinds } from "../../facts/fact-kinds.ts";

/** Facts to fit on, about other things than those that answers are measured with. */
const TABLE = `
Maple Street; Elmwood; Riverside; Hill Park; Canal Row
The swimming pool at {e} opens at {v}. | When does the swimming pool at {e} open? | From what time can one bathe at {e}? | six in the morning; eight o'clock; half past seven; noon
Entrance to the swimming pool at {e} costs {v}. | How much does entrance to the swimming pool at {e} cost? | What does a visitor pay to get into the baths at {e}? | four euros; six dollars; three pounds fifty; eight francs
The swimming pool at {e} is {v} deep. | How deep is the swimming pool at {e}? | What depth does the water at {e} have? | two metres; five feet; three metres; twelve feet
The lifeguard of the swimming pool at {e} is {v}. | Who is the lifeguard of the swimming pool at {e}? | Which person watches over the bathers at {e}? | Tim Archer; Rosa Delgado; Kurt Hansen; Mina Patel

Wexford; Draycott; Pemberton; Ashby; Colford
The library of {e} has {v} books. | How many books does the library of {e} have? | How large is the collection of volumes in {e}? | ten thousand; forty thousand; six hundred; two million
The library of {e} lends {v}. | What does the library of {e} lend? | Which objects may readers in {e} borrow? | musical instruments; board games; garden tools; fishing rods
The library of {e} is managed by {v}. | Who manages the library of {e}? | Which woman or man is in charge of the books in {e}? | Doctor Linley; Grace Osei; Walter Finch; a former teacher
The library of {e} was burned down in {v}. | When was the library of {e} burned down? | In which year did a fire destroy the reading room of {e}? | 1902; 1944; 1871; 1988

Thornton; Calder; Morville; Sandow; Lisle
The {e} farm keeps {v}. | What does the {e} farm keep? | Which animals live on the land of {e}? | black sheep; dairy cows; two llamas; a hundred geese
The {e} farm grows {v}. | What does the {e} farm grow? | Which crop is harvested on the fields of {e}? | barley; sweet corn; lavender; sunflowers
The barn of the {e} farm is painted {v}. | In which colour is the barn of the {e} farm painted? | What shade does the building for the cattle at {e} have? | bright red; white; light green; dark brown
The {e} farm was inherited by {v}. | Who inherited the {e} farm? | Which relative got the land of {e}? | a nephew; Clara Dunn; the eldest son; Martin Ayers

Azure; Pelican; Corona; Sapphire; Bluebird
The hotel {e} stands in {v}. | Where does the hotel {e} stand? | In which town can guests sleep at the {e}? | Naples; Split; Valletta; Cadiz
A room in the hotel {e} costs {v} a night. | What does a room in the hotel {e} cost a night? | How much must travellers pay to stay at the {e}? | eighty euros; ninety dollars; forty pounds; two hundred francs
Breakfast in the hotel {e} is served until {v}. | Until when is breakfast in the hotel {e} served? | At what hour does the morning meal at the {e} end? | ten o'clock; half past nine; eleven in the morning; noon
The hotel {e} has {v} rooms. | How many rooms does the hotel {e} have? | What number of bedrooms are there in the {e}? | fifteen; ninety; two hundred; thirty-six

Express; Comet; Northstar; Valley; Skyline
The {e} train goes to {v}. | Where does the {e} train go? | Which city is the destination of the {e}? | Vienna; Madrid; Warsaw; Glasgow
The journey of the {e} train takes {v}. | How long does the journey of the {e} train take? | How much time do passengers spend on the {e}? | five hours; forty minutes; two days; ninety minutes
The driver of the {e} train is {v}. | Who is the driver of the {e} train? | Which man or woman steers the {e}? | Paul Kessler; Ines Moreau; George Tate; Anna Wrona
The {e} train carries {v}. | What does the {e} train carry? | Which freight travels on the {e}? | fresh fish; new cars; timber; mail

Doctor Reed; Professor Sato; Maria Conti; Henrik Dahl; Sofia Marin
The scientist {e} studies {v}. | What does the scientist {e} study? | What is the field of research of {e}? | bats; earthquakes; old bones; river mud
The scientist {e} works in {v}. | Where does the scientist {e} work? | In which city is the laboratory of {e}? | Boston; Kyoto; Bologna; Uppsala
The scientist {e} won {v}. | What did the scientist {e} win? | Which award was given to {e}? | a gold medal; the Keller Prize; a grant; a silver cup
The scientist {e} is married to {v}. | To whom is the scientist {e} married? | Who is the husband or wife of {e}? | a baker; Lena Voss; an opera singer; Carl Lindqvist

Tornado; Avalanche; Wolves; Falcons; Lakers
The {e} team plays {v}. | What does the {e} team play? | Which sport do the athletes of the {e} practise? | volleyball; ice hockey; water polo; rugby
The {e} team trains on {v}. | When does the {e} team train? | Which day of the week do the players of the {e} exercise? | Mondays; Thursdays; Sundays; Tuesdays
The coach of the {e} team is {v}. | Who is the coach of the {e} team? | Who instructs the players of the {e}? | Bruno Costa; Emma Lowe; Yusuf Demir; an old champion
The {e} team wears {v} shirts. | Which colour are the shirts of the {e} team? | What hue do the jerseys of the {e} have? | orange; yellow; purple; striped

Juniper; Willow; Hazel; Rowan; Aspen
The cat {e} sleeps {v}. | Where does the cat {e} sleep? | In what place does the kitten {e} take a nap? | under the stairs; on the piano; in a basket; behind the stove
The cat {e} eats {v}. | What does the cat {e} eat? | Which food is given to the pet {e}? | tuna; boiled chicken; dry biscuits; fresh liver
The cat {e} was found by {v}. | Who found the cat {e}? | Which person discovered the kitten {e}? | a postman; Mrs Holloway; two schoolgirls; Officer Ray
The cat {e} is {v} old. | How old is the cat {e}? | What is the age of the kitten {e}? | three years; nine months; fifteen years; six weeks

Alpha; Beacon; Crescent; Delta; Ember
The rocket {e} was launched from {v}. | Where was the rocket {e} launched from? | From which country did the spacecraft {e} take off? | Florida; Kazakhstan; Guiana; India
The rocket {e} carries {v}. | What does the rocket {e} carry? | Which cargo is on board of the {e}? | a weather satellite; three mice; a telescope; supplies
The rocket {e} weighs {v}. | How much does the rocket {e} weigh? | How heavy is the spacecraft {e}? | ninety tons; four hundred tonnes; two thousand kilos; sixty tons
The rocket {e} was built by {v}. | Who built the rocket {e}? | Which firm constructed the spacecraft {e}? | a Dutch firm; students; Orbital Works; two engineers

tomato jam; walnut cake; fish stew; garlic soup; lemon tart
The {e} needs {v}. | What does the {e} need? | Which ingredients does the cook add to the {e}? | brown sugar; two eggs; white wine; fresh thyme
The {e} was cooked by {v}. | Who cooked the {e}? | Who prepared the {e}? | Uncle Theo; my grandmother; the monks; Chef Laurent
The {e} should rest for {v}. | How long should the {e} rest? | After how many hours may one eat the {e}? | two hours; one day; thirty minutes; three hours
The {e} is eaten at {v}. | When is the {e} eaten? | On which occasion do families serve the {e}? | Christmas; weddings; Easter; harvest time

Ben; Carla; Dimitri; Esther; Farid
The cook {e} is proud of {v}. | What is the cook {e} proud of? | Which thing fills {e} with pride? | What does {e} boast about? | a copper pan; her knives; an old recipe; his bread
The cook {e} learned the trade in {v}. | Where did the cook {e} learn the trade? | In which town was {e} trained? | In what city did {e} become a chef? | Lyon; Bilbao; Parma; Osaka
The cook {e} gets up at {v}. | When does the cook {e} get up? | At what hour does {e} leave the bed? | At which time does the day of {e} start? | five in the morning; half past six; six o'clock; a quarter to seven
The cook {e} is allergic to {v}. | What is the cook {e} allergic to? | Which food can't {e} eat? | What makes {e} ill? | nuts; shellfish; strawberries; milk

Tower Bank; Union Bank; Mercantile; Seaside Savings; Fidelity
The {e} was robbed in {v}. | When was the {e} robbed? | In which year did thieves enter the {e}? | In what year was money stolen from the {e}? | 1931; 1976; 2008; 1955
The safe of the {e} is behind {v}. | What is the safe of the {e} behind? | Where is the money of the {e} hidden? | In what place does the {e} keep its treasure? | a painting; a steel door; a bookcase; the counter
The {e} lends money to {v}. | To whom does the {e} lend money? | Which people get a loan from the {e}? | Who borrows from the {e}? | farmers; students; shipowners; young families
The {e} has {v} branches. | How many branches does the {e} have? | In how many places can customers find the {e}? | What number of offices does the {e} run? | twelve; forty; three; a hundred

Violet; Marigold; Fern; Ivy; Poppy
The girl {e} wants to become {v}. | What does the girl {e} want to become? | Which profession does {e} dream of? | What would {e} like to be one day? | a pilot; a vet; a judge; a carpenter
The girl {e} is good at {v}. | What is the girl {e} good at? | In which subject does {e} excel? | What does {e} do well? | chess; drawing; maths; swimming
The girl {e} was named after {v}. | After whom was the girl {e} named? | Whose name does {e} bear? | From whom did {e} get her name? | an aunt; a queen; her godmother; a singer
The girl {e} is {v} tall. | How tall is the girl {e}? | What is the height of {e}? | How high is {e} from head to foot? | four feet; 150 centimetres; five feet; 130 centimetres

Aurora; Leviathan; Marie Celine; Sea Wolf; Discovery
The ship {e} is loaded with {v}. | What is the ship {e} loaded with? | Which goods are in the hold of the {e}? | What does the vessel {e} transport? | coffee; iron ore; bananas; steel pipes
The ship {e} sank near {v}. | Where did the ship {e} sink? | In which waters does the wreck of the {e} lie? | Near what place did the {e} go down? | Iceland; Malta; Newfoundland; Sardinia
The ship {e} has a crew of {v}. | How large is the crew of the ship {e}? | How many sailors work on the {e}? | What number of men and women sail on the {e}? | twenty; thirty-five; eleven; sixty
The ship {e} is named for {v}. | For whom is the ship {e} named? | Which person gave the {e} her name? | Who is honoured by the name of the {e}? | an admiral; the owner's wife; a saint; Queen Sophie

Redwood; Longacre; Summit; Birch Hill; Clearwater
The hospital {e} is known for {v}. | What is the hospital {e} known for? | What do patients praise about {e}? | For which treatment do people come to {e}? | heart surgery; eye care; kind nurses; hip operations
The hospital {e} was opened by {v}. | Who opened the hospital {e}? | Which person cut the ribbon at {e}? | Who inaugurated {e}? | the mayor; Princess Anne; a bishop; Doctor Salk
The hospital {e} has {v} beds. | How many beds does the hospital {e} have? | How many patients can stay at {e}? | What number of sick people does {e} have room for? | eighty; three hundred; forty-two; six hundred
The kitchen of the hospital {e} is in {v}. | Where is the kitchen of the hospital {e}? | In which part of {e} are the meals made? | In what place does the staff of {e} cook? | the cellar; the east wing; the attic; a separate house

Giant; Opal; Mirror; Heron; Falling Star
The lake {e} freezes in {v}. | When does the lake {e} freeze? | In which month does ice cover the {e}? | In what month can people skate on the {e}? | December; January; February; November
The lake {e} is full of {v}. | What is the lake {e} full of? | Which animals live in the {e}? | What swims in large numbers in the {e}? | perch; frogs; carp; swans
The lake {e} belongs to {v}. | To whom does the lake {e} belong? | Who owns the {e}? | In whose hands is the {e}? | a count; the village; two farmers; the state
The water of the lake {e} is {v}. | Which colour is the water of the lake {e}? | In what hue does the {e} shimmer? | What colour do bathers see in the {e}? | turquoise; brown; green; black

Cello; Tamtam; Fiddlestick; Allegro; Forte
The shop {e} repairs {v}. | What does the shop {e} repair? | Which things can one have mended at {e}? | What do customers bring to {e} when it is broken? | violins; bicycles; watches; shoes
The shop {e} is closed in {v}. | When is the shop {e} closed? | In which month are the doors of {e} shut? | During what month is nobody at {e}? | August; July; January; October
The shop {e} is run by {v}. | Who runs the shop {e}? | Which person is behind the counter of {e}? | Who manages {e}? | a widow; Nils Ekberg; three cousins; Madame Roche
The rent of the shop {e} is {v}. | How much is the rent of the shop {e}? | What does {e} pay for its rooms each month? | How high are the monthly costs of {e} for its rooms? | nine hundred euros; two thousand dollars; six hundred pounds; four hundred francs

Stormwind; Silver Arrow; Prince; Thunder; Lightfoot
The horse {e} won {v}. | What did the horse {e} win? | Which race did {e} finish first? | What is the greatest success of {e}? | the spring derby; a silver plate; the county race; a gold cup
The horse {e} is ridden by {v}. | Who rides the horse {e}? | Which jockey sits on {e}? | Who is in the saddle of {e}? | Kim Doyle; a young jockey; Pedro Ruiz; Lady Camilla
The horse {e} comes from {v}. | Where does the horse {e} come from? | In which country was {e} bred? | What is the origin of {e}? | Ireland; Hungary; Morocco; Poland
The horse {e} is fed with {v}. | What is the horse {e} fed with? | Which food is in the manger of {e}? | What do the grooms give {e} to eat? | oats; apples; hay; carrots

Rosenfels; Hohenried; Drachenstein; Wolkenburg; Altmark
The castle {e} was destroyed by {v}. | Who destroyed the castle {e}? | Which army tore down the fortress of {e}? | Who left the walls of {e} in ruins? | the Swedes; a fire; General Torv; rebels
The tower of the castle {e} is {v} high. | How high is the tower of the castle {e}? | What height does the keep at {e} reach? | How far does the tower of {e} rise above the yard? | forty metres; 120 feet; sixty metres; ninety feet
The chapel of the castle {e} contains {v}. | What does the chapel of the castle {e} contain? | Which object can the faithful see in {e}? | What is inside the little church at {e}? | a marble tomb; a carved altar; an old organ; two bells
The prisoners of the castle {e} slept in {v}. | Where did the prisoners of the castle {e} sleep? | In which room were captives locked up at {e}? | In what place did inmates of {e} spend the night? | the cellar; the round tower; a stable; the cistern

Lindgren; Barrow Park; Nordheim; Palmgrove; Seewald
The zoo of {e} was the first to breed {v}. | What was the zoo of {e} the first to breed? | Which animals had young ones at {e} before anywhere else? | What species was born in captivity at {e}? | pandas; white tigers; condors; okapis
The zoo of {e} feeds its lions at {v}. | When does the zoo of {e} feed its lions? | At what hour do the big cats of {e} get their meat? | What time should visitors of {e} come for the feeding? | three o'clock; half past eleven; noon; four in the afternoon
The zoo of {e} has {v} keepers. | How many keepers does the zoo of {e} have? | What number of people look after the animals in {e}? | How large is the staff that cares for the animals of {e}? | thirty; sixty-five; a hundred and ten; eighteen
The oldest elephant in the zoo of {e} is called {v}. | What is the oldest elephant in the zoo of {e} called? | Which name does the oldest elephant of {e} have? | How is the most aged elephant in {e} named? | Rani; Tembo; Old Bertha; Suki

Winter Harvest; The Glass Road; Midnight Toll; Seven Sparrows; Paper Crowns
The film {e} was shot in {v}. | Where was the film {e} shot? | In which country did the cameras of {e} stand? | At what place were the scenes of {e} recorded? | Norway; Tunisia; the Azores; Chile
The film {e} lasts {v}. | How long does the film {e} last? | How much time does an audience need for {e}? | What is the running time of {e}? | ninety minutes; two hours; three and a half hours; eighty minutes
The music of the film {e} was written by {v}. | Who wrote the music of the film {e}? | Which composer worked on {e}? | Whose score accompanies {e}? | Ilse Brandl; Marco Testa; a jazz quartet; Jun Ito
The film {e} cost {v}. | How much did the film {e} cost? | What was the budget of {e}? | How expensive was it to make {e}? | two million dollars; eighty thousand euros; ten million pounds; six million francs

Ekman; Varga; Petrosian; Quigley; Aldana
The cyclist {e} rides {v}. | What does the cyclist {e} ride? | Which bicycle does {e} use? | On what does {e} race? | a steel bicycle; a red tandem; a borrowed bike; a carbon machine
The cyclist {e} broke {v}. | What did the cyclist {e} break? | Which bone was fractured when {e} fell? | What injury did {e} suffer? | his collarbone; a rib; her wrist; his left arm
The cyclist {e} trains {v} a week. | How long does the cyclist {e} train a week? | How much time does {e} spend on exercise each week? | How many hours of practice does {e} do weekly? | twenty hours; fifteen hours; three days; thirty hours
The cyclist {e} was discovered by {v}. | Who discovered the cyclist {e}? | Which person noticed the talent of {e}? | Who found out how gifted {e} was? | a teacher; Luc Perrin; his uncle; an old trainer

Goldbach; Tin Hollow; Ironside; Copper Hill; Black Seam
The mine {e} produces {v}. | What does the mine {e} produce? | Which mineral do the workers of {e} dig out? | What is brought up from the shaft of {e}? | silver; rock salt; coal; zinc
The mine {e} employs {v} workers. | How many workers does the mine {e} employ? | What number of people earn their living at {e}? | How many jobs does {e} offer? | two hundred; eighty; a thousand; three hundred and fifty
The mine {e} was flooded in {v}. | When was the mine {e} flooded? | In which year did water pour into {e}? | In what year did the tunnels of {e} fill up with water? | 1898; 1923; 1951; 1969
The miners of {e} wear {v} helmets. | Which colour are the helmets of the miners of {e}? | What shade do the helmets at {e} have? | What colour protects the heads of the workers in {e}? | yellow; white; orange; blue

Amberley; Fairwater; Kingsmead; Larkhill; Oakhurst
The wedding in {e} was celebrated in {v}. | Where was the wedding in {e} celebrated? | In what building did the couple of {e} hold their party? | In which place did the guests at {e} dance? | a barn; the town hall; a tent; an orangery
The bride of the wedding in {e} wore {v}. | What did the bride of the wedding in {e} wear? | Which clothes had the bride in {e} put on? | How was the bride of {e} dressed? | a silk gown; her mother's dress; a green suit; lace gloves
The wedding in {e} had {v} guests. | How many guests did the wedding in {e} have? | What number of people were invited to {e}? | How large was the party in {e}? | fifty; two hundred; thirty-one; ninety
The cake of the wedding in {e} was a gift from {v}. | From whom was the cake of the wedding in {e} a gift? | Who gave the cake to the couple in {e}? | Which person presented the cake at {e}? | Aunt Selma; the neighbours; a pastry cook; Lord Finlay

Mika; Otto; Ravi; Selim; Tessa
The gardener {e} plants {v}. | What does the gardener {e} plant? | Which vegetables does {e} grow? | What does {e} put into the soil? | cabbages; leeks; runner beans; pumpkins
The gardener {e} waters the beds at {v}. | When does the gardener {e} water the beds? | At what time of day does {e} sprinkle the flowers? | At which hour does {e} come with the hose? | dawn; six in the evening; sunset; seven o'clock
The gardener {e} fears {v}. | What does the gardener {e} fear? | Which animals are a threat to {e}? | What is {e} afraid of? | slugs; wild boars; wasps; moles
The gardener {e} bought a greenhouse from {v}. | From whom did the gardener {e} buy a greenhouse? | Who sold a greenhouse to {e}? | Which person was the seller of the greenhouse that {e} has? | a florist; Henry Wood; two brothers; the abbey

Solaris; Quantum; Pinewood; Helix; Monsoon
The factory {e} makes {v}. | What does the factory {e} make? | Which products leave the halls of {e}? | What is manufactured by {e}? | umbrellas; ball bearings; glass bottles; rubber boots
The factory {e} works in {v} shifts. | How many shifts does the factory {e} work in? | What number of shifts are there at {e}? | In how many shifts is {e} run? | two; three; four; six
The chimney of the factory {e} was blown up in {v}. | When was the chimney of the factory {e} blown up? | In which year did the chimney of {e} come down? | In what year did explosives bring down the chimney at {e}? | 1987; 1994; 2003; 1979
The factory {e} sends its goods to {v}. | Where does the factory {e} send its goods? | Which country imports the products of {e}? | To what country does {e} export? | Canada; Brazil; Sweden; Kenya

Bluewater; Highfield; Moorland; Northgate; Sunrise
The dairy {e} collects its milk in {v}. | When does the dairy {e} collect its milk? | At what time of day do the tankers of {e} arrive? | When do the farmers hand over the milk to {e}? | the morning; the evening; the afternoon; the night
The cheese of the dairy {e} ripens for {v}. | How long does the cheese of the dairy {e} ripen? | How much time does a loaf of cheese lie in {e}? | After what time is the cheese of {e} ready? | six weeks; two years; nine months; ten days
The dairy {e} sells butter to {v}. | To whom does the dairy {e} sell butter? | Who buys butter from {e}? | Which customers does {e} have? | bakers; a hotel; schools; a supermarket
The best cow of the dairy {e} gives {v} of milk a day. | How much milk does the best cow of the dairy {e} give a day? | How many litres a day come from the champion of {e}? | What amount does the top cow at {e} yield? | forty litres; thirty litres; fifty-five litres; sixty litres

Halcyon; Marquess; Tivoli; Ambassador; Regal
The restaurant {e} is famous for {v}. | What is the restaurant {e} famous for? | Which dish made {e} well known? | What do guests praise most at {e}? | onion soup; roast duck; fish pie; pancakes
The waiters of the restaurant {e} wear {v} jackets. | Which colour are the jackets of the waiters of the restaurant {e}? | What colour is the uniform at {e}? | In which colour is the staff of {e} dressed? | red; white; black; green
A table in the restaurant {e} must be booked {v} ahead. | How long ahead must a table in the restaurant {e} be booked? | How early do guests have to reserve at {e}? | How much time before the meal should one call {e}? | two weeks; three days; a month; six hours
The restaurant {e} was once {v}. | What was the restaurant {e} once? | What was in the rooms of {e} before? | What did the building of {e} use to be? | a bank; a chapel; a cinema; a post office

Ilsa; Tomek; Brunhild; Casimir; Olaf
The sailor {e} crossed the ocean in {v}. | How long did the sailor {e} need to cross the ocean? | How many days was {e} on the open sea? | How much time did the voyage of {e} take? | forty days; three weeks; two months; ninety days
The sailor {e} lost {v} in a storm. | What did the sailor {e} lose in a storm? | Which thing was torn from {e} by the wind? | What was washed overboard when {e} sailed? | a mast; the rudder; both oars; his compass
The sailor {e} sails with {v}. | With whom does the sailor {e} sail? | Who keeps {e} company on board? | Which companion travels with {e}? | a parrot; her son; two friends; a one-eyed cat
The sailor {e} carves {v} from driftwood. | What does the sailor {e} carve from driftwood? | Which figures does {e} make out of wood? | What does {e} produce with a knife? | whales; spoons; small ships; masks

Linden; Castle Hill; Old Mill; Harbour Gate; Observatory
The bus to {e} runs every {v}. | How often does the bus to {e} run? | At what intervals can people ride to {e}? | How frequent are the buses to {e}? | ten minutes; half hour; two hours; quarter of an hour
The bus to {e} stops at {v}. | Where does the bus to {e} stop? | At which stop can passengers to {e} get on? | In what place do people wait for a ride to {e}? | the market square; the hospital; the old bridge; the university
The bus to {e} is driven by {v}. | Who drives the bus to {e}? | Who is at the wheel on the way to {e}? | Which person takes passengers to {e}? | a student; Fatima Noor; a former pilot; Gregor Blum
The number of the bus to {e} is {v}. | What is the number of the bus to {e}? | Which number does the bus have that goes to {e}? | What number must travellers to {e} look for? | seven; forty-two; nineteen; a hundred and six

Verdi; Corvin; Tasman; Ottoline; Pembroke
The poet {e} wrote {v} by candlelight. | What did the poet {e} write by candlelight? | Which works did {e} create at night? | What came from the pen of {e} after dark? | sonnets; love letters; a long ballad; fables
The poet {e} was born in {v}. | Where was the poet {e} born? | What is the birthplace of {e}? | In which town did {e} come into the world? | Trieste; Ghent; Cork; Dresden
The poet {e} died of {v}. | What did the poet {e} die of? | Which illness killed {e}? | What was the cause of the death of {e}? | fever; a cold; consumption; old age
The poet {e} admired {v}. | Whom did the poet {e} admire? | Who was the idol of {e}? | Which person did {e} look up to? | Homer; a schoolmistress; Lord Byron; his grandfather

Fjord; Prairie; Savanna; Taiga; Oasis
The expedition {e} set out from {v}. | Where did the expedition {e} set out from? | In which city did the {e} journey begin? | What was the starting point of {e}? | Tromso; Omaha; Nairobi; Irkutsk
The expedition {e} used {v}. | What did the expedition {e} use? | Which animals carried the loads of {e}? | On what did the members of {e} travel? | sledge dogs; camels; mules; reindeer
The expedition {e} was paid for by {v}. | Who paid for the expedition {e}? | Who gave the money for {e}? | Which sponsor made {e} possible? | a newspaper; King Oscar; a tea merchant; the academy
The expedition {e} found {v}. | What did the expedition {e} find? | Which discovery was made by {e}? | What did the researchers of {e} come across? | a salt lake; ancient graves; a new route; hot springs
`;

export const TRAINING_KINDS = parseFactKinds(TABLE);
