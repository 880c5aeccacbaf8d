import { describe, expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { checkAnswer } from "./checkAnswer.ts";

const RATES =
  "| Work | Rate |\n| --- | --- |\n| Body labor | $57.50 |\n| Paint labor | $61.00 |\n\nParts are charged at cost. The shop opens at 8 in the morning.";
const LEAVE = "Employees may work from home on up to three days a week. Requests go to the office manager.";

const check = (answer: string, ...texts: string[]) =>
  checkAnswer(
    answer,
    texts.map((text) => ({ text })),
  );

describe("a sentence", () => {
  test("is supported by a passage with its words and numbers, and gets their place", async () => {
    const [sentence] = await check("Body labor is charged at a rate of $57.50.", LEAVE, RATES);
    expect(sentence).toMatchObject({ verdict: "supported", missing_numbers: [], source: { passage: 1 } });
    expect(RATES.slice(sentence!.source!.start, sentence!.source!.end)).toContain("| Body labor | $57.50 |");
  });

  test("is unsupported if a number differs, which is named", async () => {
    expect((await check("Body labor is charged at a rate of $67.50.", RATES))[0]).toMatchObject({
      verdict: "unsupported",
      missing_numbers: ["67.50"],
    });
  });

  test("is unsupported if its words are in no passage", async () => {
    expect((await check("The warranty covers engines for life.", RATES, LEAVE))[0]).toMatchObject({
      verdict: "unsupported",
    });
    expect((await check("The warranty covers engines for life."))[0]).toMatchObject({
      verdict: "unsupported",
      source: null,
    });
  });

  test("is supported by a row together with the header of its table, which is in the passage before", async () => {
    const [header, row] = ["| Work | Hourly rate in thousands |\n| --- | --- |", "| Body labor | 57.5 |"];
    const answer = "Body labor has an hourly rate of 57,500.";
    const [sentence] = await checkAnswer(answer, [{ text: row, header }]);
    expect(sentence).toMatchObject({ verdict: "supported", source: { start: 0, end: row.length } });
    expect((await check(answer, row))[0]!.verdict).toBe("unsupported");
  });

  test("without a claim is not judged", async () => {
    expect((await check("Yes.", LEAVE))[0]).toMatchObject({ verdict: "no_claim", source: null });
  });

  test("may use other forms of the words and of the numbers", async () => {
    expect((await check("An employee can work three days from home each week.", LEAVE))[0]!.verdict).toBe("supported");
    expect((await check("Sales reached 1,234.50 in total.", "Total sales: 1234.5"))[0]!.verdict).toBe("supported");
  });
});

test("sentences keep their places, and marks of citations and list numbers are no numbers", async () => {
  const answer = "1. Paint labor costs $61 [12].\n2. Parts are charged at cost【3†rates】.";
  const sentences = await check(answer, RATES);
  expect(sentences.map(({ verdict }) => verdict)).toEqual(["supported", "supported"]);
  for (const { text, start, end } of sentences) expect(answer.slice(start, end)).toBe(text);
});

test("a citation of a part of the answer supports only that part", async () => {
  const answer = "Parts are charged at cost. Employees may work from home three days a week.";
  const cited = { start: 0, end: 26 };
  const [parts, home] = await checkAnswer(answer, [{ text: `${RATES} ${LEAVE}`, cited }]);
  expect([parts!.verdict, home!.verdict]).toEqual(["supported", "unsupported"]);
});

test("a long answer with many passages leaves room for other work", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const texts = Array.from({ length: 50 }, () => `${RATES} ${LEAVE}`.repeat(5));
  expect(await check(`${LEAVE} `.repeat(100), ...texts)).toHaveLength(200);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
});

/** An answer, its parts that cite passages, and the verdicts. */
const cite = (answer: string, ...citations: [part: string, text: string][]) =>
  checkAnswer(
    answer,
    citations.map(([part, text]) => ({
      text,
      cited: { start: answer.indexOf(part), end: answer.indexOf(part) + part.length },
    })),
  );
const verdicts = (sentences: { verdict: string }[]): string[] => sentences.map(({ verdict }) => verdict);

describe("a citation", () => {
  test("whose part is only the mark after the full stop belongs to the sentence before it", async () => {
    const answer = "Body labor costs $57.50. [1] Employees work from home three days a week. [2]";
    expect(verdicts(await cite(answer, ["[1]", RATES], ["[2]", LEAVE]))).toEqual(["supported", "supported"]);
    expect(verdicts(await cite(answer, ["[1]", LEAVE], ["[2]", RATES]))).toEqual(["unsupported", "unsupported"]);
  });

  test("may support a sentence together with the others of the same part", async () => {
    const answer = "Body labor costs $57.50, and employees may work from home three days a week [1][2].";
    expect(verdicts(await cite(answer, ["[1]", RATES], ["[2]", LEAVE]))).toEqual(["supported"]);
    expect(verdicts(await cite(answer, ["[1]", RATES], ["[2]", "Parts are free."]))).toEqual(["unsupported"]);
  });

  test("of the whole answer supports a sentence alone or not at all", async () => {
    const answer = "Body labor costs $57.50, and employees may work from home three days a week.";
    expect(verdicts(await check(answer, RATES, LEAVE))).toEqual(["unsupported"]);
  });
});

describe("a quote", () => {
  const said = "The policy says “employees may work from home on up to three days a week”.";
  test("of six words or more must be in the passage", async () => {
    expect(verdicts(await check(said, LEAVE))).toEqual(["supported"]);
    const [changed] = await check(said.replace("may", "may never"), LEAVE);
    expect(changed).toMatchObject({
      verdict: "unsupported",
      missing_quotes: ["employees may never work from home on up to three days a week"],
    });
  });

  test("may leave something out, and differ in case and punctuation", async () => {
    expect(verdicts(await check('It says "Employees may work from home … three days a week".', LEAVE))).toEqual([
      "supported",
    ]);
    expect(verdicts(await check('It says "[e]mployees may work from home [...] three days".', LEAVE))).toEqual([
      "supported",
    ]);
  });

  test("of a few words is a name", async () => {
    expect(
      verdicts(await check('The "Home Office Rules" let employees work from home three days a week.', LEAVE)),
    ).toEqual(["supported"]);
  });

  test("in Chinese is compared by its characters", async () => {
    const rule = "买方可以在收到货物后十四天内退货，费用由买方承担。";
    expect(verdicts(await check("规定写道「在收到货物后十四天内退货」。", rule))).toEqual(["supported"]);
    expect(verdicts(await check("规定写道「在收到货物后四十天内退货」。", rule))).toEqual(["unsupported"]);
  });
});

describe("what stands in brackets or before a text", () => {
  test.each([
    "[1–3] Paint labor costs $61 [4, 5].",
    "Paint labor costs $61 [^7].",
    "Paint labor costs $61<sup>8</sup>.",
    "• Paint labor costs $61.",
    "(a) Paint labor costs $61.",
    "iv. Paint labor costs $61.",
    "> 9. Paint labor costs $61.",
    'Paint labor costs $61 ([rates](https://example.com/2024/77 "Rates 88")).',
    "Paint labor costs $61, see https://example.com/2024/77.",
    "Paint labor costs $61【3:1†rates 99】.",
  ])("is no number of the sentence: %s", async (answer) => {
    expect(verdicts(await check(answer, RATES))).toEqual(["supported"]);
  });

  test("is one in Chinese brackets that mark no source", async () => {
    expect(
      (await check("【重要】价格为【99元】，工时费用。", "重要：价格为61元，工时费用。"))[0]!.missing_numbers,
    ).toEqual(["99"]);
  });
});

describe("other scripts", () => {
  test.each([
    [
      "Arabic, with articles and vowel signs",
      "يُسمح للموظفين بالعمل من المنزل ثلاثة أيام.",
      "الموظفون: العمل من المنزل ثلاثة ايام يسمح به للموظفين",
    ],
    ["Arabic digits", "السعر ٥٧٫٥ دولار للساعة", "السعر 57.5 دولار للساعة"],
    ["Chinese", "退货期限为14天。", "客户的退货期限为14天，从收到货物之日起计算。"],
    ["Japanese", "有給休暇は年間20日です。", "社員の有給休暇は、年間20日とする。"],
    ["Thai", "พนักงานลาพักร้อนได้ 10 วัน", "พนักงานประจำลาพักร้อนได้ปีละ 10 วันทำการ"],
    ["Hindi", "कीमत ५७ रुपये है।", "इस सेवा की कीमत 57 रुपये है।"],
  ])("%s: a sentence is supported, and with another number it is not", async (_, answer, passage) => {
    expect(verdicts(await check(answer, passage))).toEqual(["supported"]);
    const other = answer.replace(/\p{Nd}+/u, "98");
    if (other !== answer) expect(verdicts(await check(other, passage))).toEqual(["unsupported"]);
    expect(verdicts(await check(answer, "Parts are charged at cost."))).toEqual(["unsupported"]);
  });
});

test("rows of a table are sentences, and its lines are no claims", async () => {
  const rows = await check("| Work | Rate |\n| --- | --- |\n| Body labor | $57.50 |\n| Paint labor | $62.00 |", RATES);
  expect(verdicts(rows)).toEqual(["supported", "no_claim", "supported", "unsupported"]);
});

test.each([
  ["numbers", (n: number) => `${n} `, "1 in millions. "],
  ["words of scripts without spaces", (n: number) => String.fromCharCode(0x4e00 + (n % 20_000)), "买方可以退货。"],
  ["openings of marks", () => "【1†", "A. "],
])("answers full of %s do not hold the event loop", async (_, part, sentence) => {
  const answer = Array.from({ length: 20_000 }, (_unused, n) => part(n))
    .join("")
    .slice(0, 20_000);
  const passages = Array.from({ length: 50 }, () => sentence.repeat(Math.ceil(1_500 / sentence.length)));
  await check(answer.slice(0, 2_000), ...passages);
  expect(await longestTurn(() => check(answer, ...passages))).toBeLessThan(50);
});

test("a text of 20,000 characters without a full stop leaves room for other work", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const answer = Array.from({ length: 3_000 }, (_, n) => `w${n.toString(36)}x`)
    .join(" ")
    .slice(0, 20_000);
  const sentences = await check(answer, ...Array.from({ length: 50 }, () => `${RATES} ${LEAVE}`));
  clearInterval(timer);
  expect(sentences.length).toBeGreaterThan(15);
  expect(turns).toBeGreaterThan(10);
});
