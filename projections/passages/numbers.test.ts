import { describe, expect, test } from "vitest";
import { findNumbers, indexNumbers } from "./numbers.ts";

const has = (source: string, claim: string): boolean => {
  const index = indexNumbers(source);
  return findNumbers(claim).every((number) => index.has(number));
};

describe("a number is the same", () => {
  test.each([
    ["grouped or not", "1,234.50", "1234.5"],
    ["in German form", "1.234,50", "1,234.5"],
    ["grouped by apostrophes", "1'234'567", "1234567"],
    ["grouped by narrow spaces", "1\u202f234\u00a0567", "1234567"],
    ["grouped by plain spaces", "1 234 567", "1234567"],
    ["grouped as in India", "12,34,567", "1234567"],
    ["in Arabic digits", "١٬٢٣٤٫٥", "1234.5"],
    ["in Thai digits", "๕๗", "57"],
    ["in Devanagari digits", "१२", "12"],
    ["in full-width digits", "５７", "57"],
    ["with a scale", "5 million", "5,000,000"],
    ["with a scale and a fraction", "1.5 million", "1,500,000"],
    ["with a German scale", "2,5 Mrd. €", "€2.5 billion"],
    ["with an attached scale", "$5M", "5 million dollars"],
    ["with a Chinese scale", "5万元", "50,000"],
    ["below a header that scales it", "| in millions | 2024 |\n| Sales | 57.5 |", "57.5 million"],
    ["below such a header, written out", "Amounts in thousands. Sales: 57", "57,000"],
    ["as a date in another form", "2024-05-12", "12.05.2024"],
    ["as a date in the form of the web", "12.05.2024", "2024-05-12"],
    ["as a date with strokes", "12/05/2024", "12.05.2024"],
    ["below a header with a currency", "| | EUR million |\n| Sales | 57.5 |", "€57.5 million"],
    ["below a German header", "| Umsatz (Mio. €) |\n| 57,5 |", "57,5 Millionen"],
    ["as one of two that a space parts", "12 345", "345"],
    ["with its unit on the other side", "USD 57", "57 $"],
    ["without its unit, as in a table", "| Deposit (EUR) | 500 |", "€500"],
    ["with another word before its unit", "14 calendar days", "14 days"],
    ["negative in an account", "(1,234)", "-1,234"],
    ["at the end of a range", "10-15 days", "15 days"],
    ["as a version", "2.9.10", "2.9.10"],
  ])("%s", (_, source, claim) => {
    expect(has(source, claim)).toBe(true);
  });
});

describe("a number differs", () => {
  test.each([
    ["by a fraction below one", "125", "0.125"],
    ["the other way round", "0.125", "125"],
    ["by a digit", "57.50", "67.50"],
    ["by its scale", "5 billion", "5 million"],
    ["by a German scale", "5 Milliarden Euro", "5 Millionen Euro"],
    ["by its unit of time", "14 weeks", "14 days"],
    ["by its unit of length", "5 miles", "5 km"],
    ["by percent and money", "€5", "5 %"],
    ["by its currency", "€500", "$500"],
    ["by its sign", "5 °C", "-5 °C"],
    ["by its sign in a table", "| 5 |", "−5"],
    ["as a version", "2.9.10", "2.9.1"],
    ["by a day of a date", "2024-05-13", "12.05.2024"],
    ["from the parts of a date", "Since 2024-05-12", "5 days"],
    ["by a scale that another number has", "5 customers paid 7 million", "5 million"],
    ["by being parts of another", "1234567", "234"],
  ])("%s", (_, source, claim) => {
    expect(has(source, claim)).toBe(false);
  });
});

test("numbers are named as they are written, with their sign", () => {
  expect(findNumbers("From -5 to 1,234.50, 10-15").map(({ text }) => text)).toEqual(["-5", "1,234.50", "10", "15"]);
});
