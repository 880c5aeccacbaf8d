import { expect, test } from "vitest";
import { readPdf } from "./readPdf.ts";
import { writePdf, objectsOf, show } from "./testing/build.ts";

/* Boxes of forms that people check. */

interface Field {
  /** What its object says. */
  field: string;
  label: string;
  /** Whether the label stands before it. */
  after?: boolean;
}

const CHECKED = "/AS/Yes/V/Yes/AP<</N<</Yes 3 0 R/Off 3 0 R>>>>";

/** A page with a sentence, and boxes with labels below. `tagged`: each is a paragraph. */
const form = (fields: readonly Field[], tagged = false): Buffer => {
  const y = (n: number): number => 660 - 30 * n;
  const texts = [
    show(72, 700, 12, "Which of these did you bring with you to the harbour office?"),
    ...fields.map(({ label, after }, n) => show(after ? 72 : 92, y(n), 12, label)),
  ];
  const objects = objectsOf([texts.map((text, n) => `/P <</MCID ${n}>> BDC ${text} EMC`).join(" ")]);
  const first = objects.length + 1;
  const boxes = fields.map(({ field, after }, n) => {
    const x = after ? 160 : 72;
    return `<</Type/Annot/Subtype/Widget/FT/Btn/T(f${n})/Rect[${x} ${y(n) - 2} ${x + 12} ${y(n) + 10}]${field}>>`;
  });
  const listed = boxes.map((_, n) => `${first + n} 0 R`).join(" ");
  const root = first + boxes.length;
  const marks = `/MarkInfo<</Marked true>>/StructTreeRoot ${root} 0 R`;
  objects[0] = `<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[${listed}]>>${tagged ? marks : ""}>>`;
  objects[3] = String(objects[3]).replace("/Contents", `/StructParents 0/Annots[${listed}]/Contents`);
  const paragraphs = texts.map((_, n) => `${root + 1 + n} 0 R`).join(" ");
  return writePdf([
    ...objects,
    ...boxes,
    `<</Type/StructTreeRoot/K[${paragraphs}]/ParentTree<</Nums[0[${paragraphs}]]>>>>`,
    ...texts.map((_, n) => `<</Type/StructElem/S/${n === 0 ? "H2" : "P"}/P ${root} 0 R/Pg 4 0 R/K[${n}]>>`),
  ]);
};

const FIELDS: Field[] = [
  { field: CHECKED, label: "Passport" },
  { field: "/AS/Off/V/Off", label: "Licence" },
  { field: "/Ff 32768", label: "Nothing" },
  { field: "/F 2", label: "Hidden" },
  { field: "", label: "Other things", after: true },
];

const lines = async (file: Buffer): Promise<string[]> =>
  (await readPdf(file))[0]!.split("\n").filter((line) => line !== "");

test.each([false, true])("check boxes are read with their labels and state; on a tagged page: %s", async (tagged) => {
  const [question, ...rest] = await lines(form(FIELDS, tagged));
  expect(question).toBe(`${tagged ? "## " : ""}Which of these did you bring with you to the harbour office?`);
  expect(rest.map((line) => line.replace("☒", "- [x]").replace(/^☐/, "- [ ]"))).toEqual([
    "- [x] Passport",
    "- [ ] Licence",
    "- [ ] Nothing",
    "Hidden",
    "Other things ☐",
  ]);
});

test("a check box without a label nearby follows the text of its page", async () => {
  const [, ...rest] = await lines(form([{ field: CHECKED, label: "" }], true));
  expect(rest).toEqual(["☒"]);
});
