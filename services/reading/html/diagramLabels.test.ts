import { expect, test } from "vitest";
import { readHtml } from "./readHtml.ts";

/** The labels of a drawing on a page. */
const read = async (drawing: string): Promise<string> => {
  const [page = ""] = await readHtml(Buffer.from(`<p>Page</p><svg viewBox="0 0 9 9">${drawing}</svg>`));
  return page.replace("Page\n\n", "");
};

test.each([
  [
    "on lines of their own",
    '<text x="5" y="9"><tspan x="5" dy="0">Harbour</tspan><tspan x="5" dy="1.2em">office</tspan></text>',
    "Harbour office",
  ],
  ["side by side", '<text y="9"><tspan x="0">Name</tspan><tspan x="50">Age</tspan></text>', "Name Age"],
  ["at another height", '<text><tspan y="1">A</tspan><tspan y="9">B</tspan></text>', "A B"],
  ["in another style", '<text x="1" y="9">Pay<tspan class="b">able</tspan> <tspan>now</tspan></text>', "Payable now"],
  ["raised", '<text x="1" y="9">12 m<tspan dy="-4">2</tspan></text>', "12 m2"],
  [
    "letter by letter",
    '<text y="9"><tspan x="0">Q</tspan><tspan x="6" y="9">u</tspan><tspan x="9">ay</tspan></text>',
    "Qu ay",
  ],
  ["with a hint", "<text>North<title>The north quay</title></text>", "North The north quay"],
  ["as a page", "<foreignObject><div>Order<br>paid</div><p>by Ann</p></foreignObject>", "Order paid by Ann"],
  [
    "as a page with a copy for older programs",
    "<switch><foreignObject><div>Order</div></foreignObject><text>Ord...</text></switch><switch><g/><a><text>Text is not SVG</text></a></switch>",
    "Order",
  ],
])("parts of a drawing's label are separate words if they have a place of their own: %s", async (_, drawing, text) => {
  expect(await read(drawing)).toBe(text);
});

test("a drawing within a label is read once", async () => {
  const inner = "<foreignObject><svg><text>Pump</text><text>Valve</text></svg></foreignObject>";
  expect(await read(`<g>${inner}</g>`)).toBe("Pump Valve");
});
