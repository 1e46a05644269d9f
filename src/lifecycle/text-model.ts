import { MODELS } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import { Remembered } from "../isolate-memory.ts";
import { log } from "../log.ts";
import { getTextModelCheck, setTextModelCheck } from "../models/call-limiter.ts";
import { embedText } from "../models/embed-text.ts";
import { areEqualVectors } from "../search/embed-query.ts";

/** Two texts of different meaning in each script: "harbour at night" and "red bicycle". */
const TEXTS: Record<string, [string, string]> = {
  Latin: ["harbour at night", "red bicycle"],
  Greek: ["λιμάνι τη νύχτα", "κόκκινο ποδήλατο"],
  Cyrillic: ["порт ночью", "красный велосипед"],
  Hebrew: ["נמל בלילה", "אופניים אדומים"],
  Arabic: ["ميناء ليلا", "دراجة حمراء"],
  Devanagari: ["रात में बंदरगाह", "लाल साइकिल"],
  Bengali: ["রাতের বন্দর", "লাল সাইকেল"],
  Tamil: ["இரவில் துறைமுகம்", "சிவப்பு மிதிவண்டி"],
  Thai: ["ท่าเรือยามค่ำคืน", "จักรยานสีแดง"],
  Armenian: ["նավահանգիստ գիշերը", "կարմիր հեծանիվ"],
  Georgian: ["პორტი ღამით", "წითელი ველოსიპედი"],
  Hangul: ["밤의 항구", "빨간 자전거"],
  Kana: ["よるのみなと", "あかいじてんしゃ"],
  Han: ["夜晚的港口", "红色自行车"],
};

/** Time after which the model is checked again: its provider may change it. */
const CHECKED_MS = 24 * 3600 * 1000;
/** When this isolate last read or made a check. */
const checkedAt = new Remembered(-Infinity);

/**
 * Checks once a day, and after the start of an isolate if that is due, in which scripts the text
 * model returns equal vectors for different texts. `GET /health?deep=true` lists them.
 */
export async function checkTextModel(env: Env, now: number): Promise<void> {
  if (now - checkedAt.value < CHECKED_MS) return;
  const { id: model } = MODELS.embedText;
  const stored = await getTextModelCheck(env);
  if (stored?.model === model && now - stored.checkedAt < CHECKED_MS) {
    checkedAt.value = stored.checkedAt;
    return;
  }
  try {
    const vectors = await embedText(env.AI, Object.values(TEXTS).flat());
    const equalScripts = Object.keys(TEXTS).filter((_, i) =>
      areEqualVectors(vectors[2 * i]!, vectors[2 * i + 1]!),
    );
    if (equalScripts.length > 0)
      log("warn", "lifecycle.equal_vectors", { model, scripts: equalScripts.join(" ") });
    await setTextModelCheck(env, { model, equalScripts, checkedAt: now });
    checkedAt.value = now;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log("warn", "lifecycle.text_model_unavailable", { cause: traceOf(error) });
  }
}
