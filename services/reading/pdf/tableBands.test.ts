import { expect, test } from "vitest";
import { readPdf } from "./readPdf.ts";
import { pdfOf, show, widthOf } from "./testing/build.ts";

const ending = (x: number, y: number, text: string): string => show(x - widthOf(text, 9), y, 9, text);

test("amounts stay beside their labels if words in between explain their calculation", async () => {
  const charges = [
    ["Standing charge", "30 days at EUR 0.42", "12.60"],
    ["Energy charge, day", "300 kWh at EUR 0.34", "102.00"],
    ["Energy charge, night", "84 kWh at EUR 0.22", "18.48"],
    ["VAT", "7.6 %", "10.10"],
  ];
  const head = [
    ["Account number", "8841 2207"],
    ["Bill date", "3 June 2026"],
    ["Amount due", "EUR 143.18"],
  ];
  const readings = [
    ["Previous reading", "20,114 kWh"],
    ["Present reading", "20,498 kWh"],
    ["Used", "384 kWh"],
  ];
  const page = [
    show(50, 745, 15, "Northport Energy", "bold"),
    ...head.flatMap(([label, value], n) => [show(380, 745 - 13 * n, 9, label!), ending(562, 745 - 13 * n, value!)]),
    ...["Ms Ada Park", "12 Quay Street", "20457 Northport"].map((text, n) => show(50, 700 - 12 * n, 9, text)),
    show(50, 640, 11, "Your electricity", "bold"),
    show(50, 624, 9, "Meter 55-0912"),
    ...readings.flatMap(([label, value], n) => [show(320, 624 - 13 * n, 9, label!), ending(562, 624 - 13 * n, value!)]),
    ...charges.flatMap(([label, how, amount], n) => [
      show(50, 575 - 13 * n, 9, label!),
      show(250, 575 - 13 * n, 9, how!),
      ending(562, 575 - 13 * n, amount!),
    ]),
    show(50, 520, 9, "Total", "bold"),
    ending(562, 520, "143.18"),
  ];
  const [text] = await readPdf(pdfOf([page.join("\n")]));
  for (const row of charges) expect(text).toContain(`| ${row.join(" | ")} |`);
  expect(text).toMatch(/\| Total \|\s+\| 143\.18 \|/);
});
