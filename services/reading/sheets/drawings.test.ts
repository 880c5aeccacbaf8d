import { type BookType, utils, write } from "@e965/xlsx";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { readExcel, readOds } from "./readSheets.ts";

/* What is drawn on sheets. */

const parts = (bookType: BookType): Record<string, Uint8Array> => {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([["Paper"]]), "S");
  return unzipSync(write(book, { type: "buffer", bookType }) as Buffer);
};

test("the description of a picture on a sheet is read, but not its file name", async () => {
  const picture = (description: string): string =>
    `<x:pic><x:nvPicPr><x:cNvPr id="1" descr="${description}"/></x:nvPicPr></x:pic>`;
  const relation =
    '<Relationships><Relationship Id="d" Type="urn:x/drawing" Target="../drawings/d.xml"/></Relationships>';
  const file = zipSync({
    ...parts("xlsx"),
    "xl/worksheets/_rels/sheet1.xml.rels": strToU8(relation),
    "xl/drawings/d.xml": strToU8(
      `<x:wsDr xmlns:x="urn:x">${picture("The quay in 1920")}${picture("quay.png")}</x:wsDr>`,
    ),
  });
  expect(await readExcel(file)).toEqual(["## S\n\nPaper\n\nThe quay in 1920"]);
});

test("the descriptions of groups of shapes on a sheet are read", async () => {
  const relation =
    '<Relationships><Relationship Id="d" Type="urn:x/drawing" Target="../drawings/d.xml"/></Relationships>';
  const group = (words: string, content: string): string =>
    `<x:grpSp><x:nvGrpSpPr><x:cNvPr id="1" descr="${words}"/></x:nvGrpSpPr>${content}</x:grpSp>`;
  const drawing = group("A map of the harbour", group("The quays", "") + group("", ""));
  const file = zipSync({
    ...parts("xlsx"),
    "xl/worksheets/_rels/sheet1.xml.rels": strToU8(relation),
    "xl/drawings/d.xml": strToU8(`<x:wsDr xmlns:x="urn:x">${drawing}</x:wsDr>`),
  });
  expect(await readExcel(file)).toEqual(["## S\n\nPaper\n\nA map of the harbour\n\nThe quays"]);

  const { "content.xml": content, ...others } = parts("ods");
  const shapes = "<table:shapes><draw:g><svg:desc>A plan of the mole</svg:desc><draw:rect/></draw:g></table:shapes>";
  const drawn = strFromU8(content!).replace(/<table:table [^>]*>/, (start) => start + shapes);
  expect(await readOds(zipSync({ ...others, "content.xml": strToU8(drawn) }))).toEqual([
    "## S\n\nPaper\n\nA plan of the mole",
  ]);
});

test("only pictures without a description count as pictures without text", async () => {
  const picture = (id: string, description: string): string =>
    `<x:pic><x:nvPicPr><x:cNvPr id="1" descr="${description}"/></x:nvPicPr><x:blipFill><a:blip r:embed="${id}"/></x:blipFill></x:pic>`;
  const relations = (listed: [id: string, kind: string, target: string][]): Uint8Array =>
    strToU8(
      `<Relationships>${listed.map(([id, kind, to]) => `<Relationship Id="${id}" Type="urn:x/${kind}" Target="${to}"/>`).join("")}</Relationships>`,
    );
  const drawing = `<x:wsDr xmlns:x="urn:x" xmlns:a="urn:a" xmlns:r="urn:r">${picture("a", "The quay in 1920")}${picture("b", "b.png")}</x:wsDr>`;
  const file = zipSync({
    ...parts("xlsx"),
    "xl/worksheets/_rels/sheet1.xml.rels": relations([["d", "drawing", "../drawings/d.xml"]]),
    "xl/drawings/_rels/d.xml.rels": relations([
      ["a", "image", "../media/a.png"],
      ["b", "image", "../media/b.png"],
    ]),
    "xl/drawings/d.xml": strToU8(drawing),
    "xl/media/a.png": strToU8("a"),
    "xl/media/b.png": strToU8("b"),
  });
  const warnings: ReadingWarning[] = [];
  expect(await readExcel(file, (warning) => warnings.push(warning))).toEqual(["## S\n\nPaper\n\nThe quay in 1920"]);
  expect(warnings).toEqual([{ code: "images_without_text", count: 1 }]);
});

test("the description of a picture in an OpenDocument spreadsheet is read", async () => {
  const { "content.xml": content, ...others } = parts("ods");
  const frame = (name: string, description: string): string =>
    `<draw:frame><draw:image xlink:href="Pictures/${name}"/>${description}</draw:frame>`;
  const shapes = `<table:shapes>${frame("a.png", "<svg:title>Quay</svg:title><svg:desc>The quay in 1920</svg:desc>")}${frame("b.png", "")}</table:shapes>`;
  const drawn = strFromU8(content!).replace(/<table:table [^>]*>/, (start) => start + shapes);
  const pictures = { "Pictures/a.png": strToU8("a"), "Pictures/b.png": strToU8("b") };
  const warnings: ReadingWarning[] = [];
  const file = zipSync({ ...others, ...pictures, "content.xml": strToU8(drawn) });
  expect(await readOds(file, (warning) => warnings.push(warning))).toEqual(["## S\n\nPaper\n\nThe quay in 1920"]);
  expect(warnings).toEqual([{ code: "images_without_text", count: 1 }]);
});

test("Excel's input messages of cells are read", async () => {
  const { "xl/worksheets/sheet1.xml": sheet, ...others } = parts("xlsx");
  const shown = `<dataValidation type="whole" showInputMessage="1" promptTitle="Amount" prompt="In &quot;euros&quot; &gt; 0_x000a_without tax" sqref="B2:B9"><formula1>0</formula1></dataValidation>`;
  const off = '<dataValidation type="whole" prompt="Not shown" sqref="C2"/><dataValidation type="list" sqref="D2"/>';
  const newer = `<extLst><ext><x14:dataValidations xmlns:x14="urn:x14" xmlns:xm="urn:xm"><x14:dataValidation showInputMessage="1" prompt="One of the list"><x14:formula1><xm:f>S!A1</xm:f></x14:formula1><xm:sqref>E2</xm:sqref></x14:dataValidation></x14:dataValidations></ext></extLst>`;
  const xml = strFromU8(sheet!).replace(
    "</worksheet>",
    `<dataValidations>${shown}${off}</dataValidations>${newer}</worksheet>`,
  );
  expect(await readExcel(zipSync({ ...others, "xl/worksheets/sheet1.xml": strToU8(xml) }))).toEqual([
    '## S\n\nPaper\n\nInput messages:\n\n- B2:B9 (Amount): In "euros" > 0 without tax\n- E2: One of the list',
  ]);
});

test.each(["rect", "ellipse", "line", "path", "connector", "caption"])(
  "text in a shape on an OpenDocument sheet is read: %s",
  async (name) => {
    const { "content.xml": content, ...others } = parts("ods");
    const shape = `<table:shapes><draw:g><draw:${name}><text:p>Closed in May</text:p></draw:${name}></draw:g></table:shapes>`;
    const drawn = strFromU8(content!).replace(/<table:table [^>]*>/, (start) => start + shape);
    expect(await readOds(zipSync({ ...others, "content.xml": strToU8(drawn) }))).toEqual([
      "## S\n\nPaper\n\nClosed in May",
    ]);
  },
);
