/**
 * What generated scenes are made of: each line is a concept, in the words of several people. The
 * first word of a concept's first wording is its article or verb.
 */

const lines = (text: string): string[][] =>
  text
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((wording) => wording.trim()));

export const SUBJECTS = lines(`
  a dog | a puppy | a hound
  a cat | a kitten | a tabby
  an old man | a grandfather | an elderly gentleman
  a girl | a schoolgirl | a young lass
  a cyclist | a bike rider | a man on a bicycle
  a chef | a cook | a kitchen hand
  a horse | a mare | a pony
  a fisherman | an angler | a man with a fishing rod
  a guitarist | a street musician | a busker
  a doctor | a physician | a medic
  a farmer | a farm worker | a ploughman
  a pilot | an aviator | an airman
  a policewoman | a female officer | a constable
  a carpenter | a joiner | a woodworker
  a group of tourists | a party of travellers | a crowd of sightseers
  a toddler | an infant | a small child
  a football team | a soccer squad | a side of footballers
  a mechanic | a garage worker | a car repairman
  a bride | a newly married woman | a woman in a wedding dress
  a soldier | a trooper | a man in uniform
  a teacher | a schoolmaster | a tutor
  a robot | an android | a walking machine
  a postman | a mail carrier | a delivery man
  a dancer | a ballerina | a performer
  a bear | a grizzly | a large brown animal
  a waiter | a restaurant server | a steward
  a reporter | a journalist | a news correspondent
  a firefighter | a fireman | a member of the fire brigade
  a swimmer | a bather | a person in swimming trunks
  a monk | a friar | a man of prayer
  a hunter | a man with a rifle | a gamekeeper
  a painter | an artist | a woman at an easel
  a goat | a kid with horns | a bearded farm animal
  an elephant | a huge grey animal | a beast with a trunk
  a judge | a magistrate | a man in a black robe
  a dentist | a tooth surgeon | a dental expert
  a skateboarder | a boy on a skateboard | a skater
  a violinist | a fiddler | a woman with a fiddle
  a beekeeper | an apiarist | a honey maker
  a lifeguard | a beach rescuer | a pool attendant
  a thief | a burglar | a robber
  a seamstress | a dressmaker | a tailor
  an astronaut | a spaceman | a cosmonaut
  a parrot | a colourful bird | a macaw
  a wrestler | a fighter in the ring | a grappler
  a secretary | an office clerk | a typist
  a gardener | a woman with a watering can | a groundsman
  a magician | a conjurer | an illusionist
  a miner | a pit worker | a collier
  a mayor | a town leader | a local politician
`);

export const ACTIONS = lines(`
  jumps over a fence | leaps across a railing | clears a barrier
  sleeps on a sofa | naps on a couch | dozes on the settee
  reads a newspaper | looks through the daily paper | studies the press
  eats an apple | bites into a piece of fruit | chews a pear
  paints a wall | gives the plaster a coat of colour | decorates with a brush
  repairs an engine | fixes a motor | mends a machine
  carries a heavy box | lifts a large crate | hauls a big parcel
  waves at a train | greets passing railway carriages | signals to a locomotive
  drinks coffee | sips an espresso | enjoys a hot drink
  climbs a ladder | goes up the rungs | ascends some steps
  plays chess | moves a pawn | thinks about checkmate
  runs through the rain | hurries along in a downpour | races through a shower
  washes a car | cleans a vehicle | soaps an automobile
  sings a song | performs a tune | hums a melody
  opens a letter | unseals an envelope | reads the mail
  throws a ball | tosses a rubber sphere | pitches
  feeds the birds | scatters grain for pigeons | gives crumbs to ducks
  takes a photograph | snaps a picture | uses a camera
  digs a hole | shovels earth | makes a pit
  counts money | adds up coins | sorts banknotes
  lights a candle | strikes a match | kindles a flame
  cuts bread | slices a loaf | saws at a baguette
  sweeps the floor | brushes up dust | tidies with a broom
  argues on the telephone | quarrels in a phone call | shouts into a handset
  hides behind a curtain | takes cover beneath drapes | disappears from view
  wins a prize | receives a trophy | is given a medal
  falls into the water | tumbles in with a splash | gets soaked
  builds a tower of stones | piles up rocks | stacks pebbles
  looks at a map | plans the route | searches for directions
  ties a rope | makes a knot | fastens a line
  shuts a gate | closes the entrance | bolts a wooden door
  measures a plank | checks the length of a board | uses a tape on timber
  writes in a notebook | takes notes | jots something down
  breaks a window | smashes a pane | shatters glass
  pours milk | fills a glass with a white drink | empties a jug
  catches a butterfly | nets an insect | traps a moth
  dances a waltz | whirls around | moves to the music
  irons a shirt | presses a blouse | smooths laundry
  buries a treasure | hides gold below the soil | covers a chest with sand
  rings a bell | pulls a chime | makes a gong sound
  packs a suitcase | fills a travel bag | folds clothes for a trip
  weighs a fish | puts a trout on the scales | checks how heavy the catch is
  shakes hands with a stranger | greets an unknown person | meets somebody new
  searches for a lost key | hunts for something missing | turns out all pockets
  blows out a lamp | puts out a light | makes it dark
  waters a plant | sprinkles a flowerpot | gives a fern a drink
  rides a motorbike | steers a scooter | speeds by on two wheels
  laughs at a joke | giggles about a funny story | bursts out in amusement
  mends a net | repairs a mesh | sews up holes in a fishing net
  signs a contract | puts a name under a deal | agrees in writing
`);

export const SETTINGS = lines(`
  in a kitchen | next to the stove | where meals are cooked
  on a beach | by the sea | on the sandy shore
  at a railway station | on the platform | where trains stop
  in a snowy forest | among white pines | between frozen trees
  on a rooftop | high above the streets | on top of the house
  in a library | between bookshelves | in a reading room
  at the market | between the stalls | where vegetables are sold
  in a hospital | on a ward | in the clinic
  on a bridge | above the river | halfway across the water
  in a garden | among the flower beds | on the lawn
  at the airport | in the departure hall | near the runway
  in a workshop | at the workbench | surrounded by tools
  on a mountain path | on the way to the summit | high in the hills
  in a theatre | on the stage | before an audience
  in a classroom | in front of the blackboard | at school
  on a ship | on deck | aboard a vessel
  in a cave | underground | in a dark cavern
  at a petrol station | by the fuel pumps | where cars fill up
  in the desert | among sand dunes | in an arid plain
  in a courtroom | before the judge | during a trial
  in a supermarket | between the shelves of groceries | at the checkout
  at a stadium | on the pitch | in the arena
  in a castle | behind thick walls | in an old fortress
  in a barn | among bales of hay | where cattle are kept
  in a bakery | beside the oven | where loaves are sold
  at a bus stop | by the roadside shelter | where commuters wait
  in a swamp | knee-deep in a marsh | amid reeds and mud
  on an island | surrounded by the ocean | far from the mainland
  in a museum | among the exhibits | in a gallery of old masters
  at the zoo | outside the cages | near the monkey house
  in a lighthouse | up in the beacon | above the cliffs
  in a laundry | between washing machines | where linen is cleaned
  on a farm track | along a muddy lane | on the road through the fields
  in a lift | inside an elevator | between two floors
  at a funfair | beneath the big wheel | by the merry-go-round
  in an attic | under the roof beams | among dusty trunks
  in a vineyard | along rows of grapes | where wine is grown
  at a harbour | on the quay | next to moored boats
  in a cinema | in front of the big screen | in the back row
  in a prison | behind bars | in a narrow cell
`);

export const TIMES = lines(`
  at night | after dark | under the stars
  at sunrise | early in the morning | at the break of day
  in winter | in the cold season | in freezing weather
  in summer | on a hot July day | in the heat
  during a storm | in strong wind | while lightning strikes
  at noon | in the middle of the day | at lunchtime
  on a holiday | during a festival | on a day of celebration
  in fog | in thick mist | when nothing can be seen far away
`);

export const DETAILS = lines(`
  in a red scarf | with a crimson shawl | wearing something scarlet round the neck
  with an umbrella | under a parasol | holding a brolly
  in rubber boots | wearing wellingtons | with waterproof footwear
  with a broken arm | in a plaster cast | with an injured limb
  wearing sunglasses | with dark lenses | behind tinted shades
  in a yellow raincoat | with a bright mackintosh | in an oilskin jacket
  with a basket | carrying a wicker hamper | holding a woven bag
  in a straw hat | with a wide brim over the eyes | wearing a sun hat
  covered in mud | dirty all over | smeared with earth
  with a lantern | holding a lamp | carrying a light
  in a blue jersey | with a navy sweater | wearing a dark woollen top
  with a flag | holding a banner | carrying the national colours
  in a costume | dressed up | in fancy dress
  with headphones | listening to something | with music in both ears
`);
