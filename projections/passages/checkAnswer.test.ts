import { describe, expect, test } from "vitest";
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
  test("is supported by a passage with its words and numbers, at the place where they stand", async () => {
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

  test("is unsupported if its words stand nowhere", async () => {
    expect((await check("The warranty covers engines for life.", RATES, LEAVE))[0]).toMatchObject({
      verdict: "unsupported",
    });
    expect((await check("The warranty covers engines for life."))[0]).toMatchObject({
      verdict: "unsupported",
      source: null,
    });
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
