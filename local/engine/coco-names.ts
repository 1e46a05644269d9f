import { toPlural } from "./caption.ts";
import { COCO_LABELS, type CocoLabel } from "./coco.ts";

/** Synonyms and hyponyms by class, with irregular plurals. */
const OTHER_NAMES: Partial<Record<CocoLabel, string>> = {
  person:
    "people, human, man, men, woman, women, boy, girl, child, children, kid, baby, babies, toddler, " +
    "lady, ladies, guy, gentleman, gentlemen, teenager, adult, crowd, pedestrian, worker, player, " +
    "rider, cyclist, skier, surfer, skater, climber, hiker, swimmer, dancer, soldier",
  bicycle: "bike",
  car: "taxi, cab, sedan, suv, jeep, automobile",
  motorcycle: "motorbike, scooter, moped",
  airplane: "aeroplane, plane, aircraft, jet, biplane",
  bus: "buses, coach, minibus",
  train: "tram, locomotive",
  truck: "lorry, lorries, pickup",
  boat: "ship, canoe, kayak, sailboat, yacht, ferry, ferries, rowboat, dinghy, dinghies, vessel",
  "traffic light": "traffic signal, stoplight",
  "fire hydrant": "hydrant",
  bird: "duck, goose, geese, seagull, gull, pigeon, parrot, chicken, swan, eagle",
  cat: "kitten, kitty",
  dog: "puppy, puppies, hound, terrier, poodle, retriever, collie, greyhound, dalmatian",
  horse: "pony, ponies, foal",
  sheep: "lamb",
  cow: "cattle, calf, calves, bull",
  backpack: "rucksack, knapsack",
  umbrella: "parasol",
  handbag: "purse",
  tie: "necktie",
  suitcase: "luggage",
  skis: "ski",
  "sports ball": "ball, football, basketball, tennis ball, soccer ball, volleyball, baseball",
  surfboard: "surf board, bodyboard",
  "tennis racket": "racket, racquet",
  "wine glass": "wine glasses, wineglass",
  cup: "mug, teacup",
  knife: "knives",
  donut: "doughnut",
  cake: "cupcake, birthday cake",
  chair: "armchair, stool",
  couch: "sofa",
  "potted plant": "houseplant, house plant",
  "dining table": "table",
  tv: "television, monitor",
  laptop: "notebook computer",
  mouse: "mice, computer mouse",
  remote: "remote control",
  "cell phone": "phone, mobile phone, cellphone, smartphone, telephone",
  refrigerator: "fridge",
  "teddy bear": "teddy",
  "hair drier": "hair dryer, hairdryer",
};

/** Hypernyms: names of groups of classes. */
const KINDS: Record<string, readonly CocoLabel[]> = {
  animal: COCO_LABELS.slice(COCO_LABELS.indexOf("bird"), COCO_LABELS.indexOf("giraffe") + 1),
  vehicle: COCO_LABELS.slice(COCO_LABELS.indexOf("bicycle"), COCO_LABELS.indexOf("boat") + 1),
  fruit: ["banana", "apple", "orange"],
};

/** Quantity before the head noun: "a group of", "two pairs of". */
const QUANTITIES =
  /^(?:(?:a|an|the|some|two|three|several|large|small) )*(?:group|couple|pair|bunch|herd|flock|crowd|lot|number|team|row|pile)s? of /;
/** Boundary after the first noun phrase: punctuation, a preposition, a conjunction or a verb. */
const PHRASE_END = // bounded: the name of an object in a query
  /[,.;:!?]| (?:in|on|at|of|with|without|by|near|from|to|into|under|over|behind|beside|between|through|and|or|who|that|which|is|are|[a-z]+ing)(?: |$)/;

const LABELS_BY_NAME = new Map<string, readonly CocoLabel[]>([
  ...COCO_LABELS.flatMap((label) => {
    const names = [label, ...(OTHER_NAMES[label]?.split(", ") ?? [])];
    return names.flatMap((name) => withPlural(name, [label]));
  }),
  ...Object.entries(KINDS).flatMap(([name, labels]) => withPlural(name, labels)),
]);

/**
 * Returns the classes of a phrase's first noun, found by the longest suffix that names a class
 * ("two brown puppies in the snow" → `dog`); empty without one. Adjectives and verbs are ignored,
 * because the detector knows classes only.
 */
export function labelsForPhrase(phrase: string): readonly CocoLabel[] {
  const plain = phrase.toLowerCase().trim().replace(QUANTITIES, "");
  const [nounPhrase = ""] = plain.split(PHRASE_END);
  const words = nounPhrase.trim().split(/\s+/);
  for (const from of words.keys()) {
    const labels = LABELS_BY_NAME.get(words.slice(from).join(" "));
    if (labels) return labels;
  }
  return [];
}

function withPlural(name: string, labels: readonly CocoLabel[]) {
  return [name, toPlural(name)].map((form) => [form.toLowerCase(), labels] as const);
}
