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
`;

export const TRAINING_KINDS = parseFactKinds(TABLE);
