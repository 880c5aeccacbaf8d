import { utils, write } from "@e965/xlsx";
import { strToU8, unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import { readExcel } from "./readSheets.ts";

/** A workbook of one sheet with more parts; the relations are those of the sheet and of the workbook. */
const workbook = (sheet: [kind: string, target: string][], book: [kind: string, target: string][], parts: object) => {
  const sheets = {
    SheetNames: ["Prices"],
    Sheets: {
      Prices: utils.aoa_to_sheet([
        ["Item", "Price"],
        ["Ale", 2],
      ]),
    },
  };
  const files = unzipSync(new Uint8Array(write(sheets, { type: "buffer", bookType: "xlsx" }) as ArrayBuffer));
  const relations = (listed: [string, string][]): string =>
    listed.map(([kind, to], n) => `<Relationship Id="x${n}" Type="urn:x/${kind}" Target="${to}"/>`).join("");
  const name = "xl/_rels/workbook.xml.rels";
  const known = Buffer.from(files[name]!).toString();
  const added = {
    [name]: known.replace("</Relationships>", `${relations(book)}</Relationships>`),
    "xl/worksheets/_rels/sheet1.xml.rels": `<Relationships>${relations(sheet)}</Relationships>`,
    ...parts,
  };
  return zipSync({ ...files, ...Object.fromEntries(Object.entries(added).map(([at, xml]) => [at, strToU8(xml)])) });
};

const copy =
  "<comment ref='B2' authorId='1'><text><t>[Threaded comment] Your version of Excel cannot show it.</t></text></comment>";
const note =
  "<comment ref='A1' authorId='0'><text><r><t>Jörg &amp; Åsa:</t></r><r><t> Prüfen &lt;bald&gt;</t></r><rPh sb='0' eb='1'><t>spoken</t></rPh></text></comment>";
const comments = `<comments><authors><author>Jörg &amp; Åsa</author><author>tc={1}</author></authors><commentList>${copy}${note}</commentList></comments>`;
const threads =
  "<ThreadedComments><threadedComment ref='B2' personId='{p}'><text>Größe &amp; Preis?</text></threadedComment><threadedComment ref='B2' personId='{p}'><text>价格 ist netto</text></threadedComment></ThreadedComments>";
const persons = "<personList><person displayName='Zoë Łukasz' id='{p}'/></personList>";

test("discussions and authors keep their characters, and the copy for older programs is left out", async () => {
  const bytes = workbook(
    [
      ["threadedComment", "../threads.xml"],
      ["comments", "../comments.xml"],
    ],
    [["person", "persons.xml"]],
    { "xl/threads.xml": threads, "xl/comments.xml": comments, "xl/persons.xml": persons },
  );
  const [text] = await readExcel(bytes);
  expect(text).toMatch(/\n\nComments:\n\n/);
  expect(text!.split("Comments:\n\n")[1]!.split("\n")).toEqual([
    "- A1 (Jörg & Åsa): Prüfen \\<bald>",
    "- B2 (Zoë Łukasz): Größe & Preis?",
    "- B2 (Zoë Łukasz): 价格 ist netto",
  ]);
});

test("comments that a sheet references many times are read once", async () => {
  const relation: [string, string] = ["comments", "../comments.xml"];
  const [text] = await readExcel(workbook([relation, relation, relation], [], { "xl/comments.xml": comments }));
  expect(text!.match(/Prüfen/g)).toHaveLength(1);
});
