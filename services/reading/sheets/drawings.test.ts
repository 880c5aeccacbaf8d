import { type BookType, utils, write } from "@e965/xlsx";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { openOdsInputMessages } from "./odsInputMessages.ts";
import { readExcel, readOds } from "./readSheets.ts";

/* Drawings on sheets. */

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
  const inner = "<draw:g><svg:desc>Its lamps</svg:desc><draw:rect/></draw:g>";
  const shapes = `<table:shapes><draw:g><svg:desc>A plan of the mole</svg:desc>${inner}</draw:g></table:shapes>`;
  const drawn = strFromU8(content!).replace(/<table:table [^>]*>/, (start) => start + shapes);
  expect(await readOds(zipSync({ ...others, "content.xml": strToU8(drawn) }))).toEqual([
    "## S\n\nPaper\n\nA plan of the mole\n\nIts lamps",
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

test("cells of an OpenDocument sheet keep their text where something is drawn on them", async () => {
  const { "content.xml": content, ...others } = parts("ods");
  const cell = (text: string, drawn: string): string =>
    `<table:table-cell office:value-type="string"><text:p>${text}</text:p>${drawn}</table:table-cell>`;
  const picture =
    '<draw:frame draw:name="a > b"><draw:image xlink:href="Pictures/a.png"><text:p/></draw:image><svg:desc>The quay</svg:desc></draw:frame>';
  const shape =
    '<draw:custom-shape><text:p>Closed</text:p><draw:enhanced-geometry draw:type="oval"/></draw:custom-shape>';
  const share = `<table:table-cell office:value-type="percentage" office:value="0.25"><text:p>25.0 %</text:p>${shape}</table:table-cell>`;
  const row = `<table:table-row>${cell("North", picture)}${share}</table:table-row>`;
  const drawn = strFromU8(content!).replace("</table:table>", `${row}</table:table>`);
  expect(await readOds(zipSync({ ...others, "content.xml": strToU8(drawn) }))).toEqual([
    "## S\n\n| Paper |  |\n| --- | --- |\n| North | 25.0 % |\n\nThe quay\n\nClosed",
  ]);
});

test("the controls on an OpenDocument sheet are read with their state, and lists without a choice are reported", async () => {
  const { "content.xml": content, ...others } = parts("ods");
  const controls = [
    '<form:checkbox form:label="Paid &amp; sent" form:current-state="checked"/>',
    '<form:radio form:label="By post" form:current-selected="false"/>',
    '<form:button form:label="Send"/><form:hidden form:value="x"/>',
    '<form:text form:label="Name" form:current-value="Ada"/>',
    '<form:listbox><form:option form:label="Red"/><form:option form:label="Blue" form:current-selected="true"/></form:listbox>',
    '<form:listbox><form:option form:label="East" form:selected="true"/><form:option form:label="West" form:current-selected="true"/></form:listbox>',
    '<form:listbox><form:option form:label="North"/></form:listbox>',
  ];
  const forms = `<office:forms><form:form>${controls.join("")}</form:form></office:forms>`;
  const shapes = '<table:shapes><draw:control draw:control="c"/></table:shapes>';
  const drawn = strFromU8(content!).replace(/<table:table [^>]*>/, (start) => start + forms + shapes);
  const warnings: ReadingWarning[] = [];
  const file = zipSync({ ...others, "content.xml": strToU8(drawn) });
  const [text = ""] = await readOds(file, (warning) => warnings.push(warning));
  expect(text.split("\n\n").slice(2)).toEqual(["\\[x] Paid & sent", "\\[ ] By post", "Send", "Ada", "Blue", "West"]);
  expect(warnings).toEqual([{ code: "form_fields_left_out", count: 1 }]);
});

test("the input messages of an OpenDocument sheet are read with their cells", async () => {
  const { "content.xml": content, ...others } = parts("ods");
  const message = (name: string, title: string, text: string, shown = true): string =>
    `<table:content-validation table:name="${name}"><table:help-message table:title="${title}" table:display="${shown}"><text:p>${text}</text:p></table:help-message></table:content-validation>`;
  const validations = `<table:content-validations>${message("a", "Amount", "In &quot;euros&quot;: no tax")}${message("b", "", "Off", false)}${message("c", "", "One of the list")}</table:content-validations>`;
  const cell = (name: string, more = ""): string =>
    `<table:table-cell table:content-validation-name="${name}" ${more}/>`;
  const rows = [
    `<table:table-row table:number-rows-repeated="2"><table:table-cell/>${cell("a", 'table:number-columns-repeated="2"')}</table:table-row>`,
    `<table:table-row><table:table-cell/>${cell("a", 'table:number-columns-repeated="2"')}${cell("b")}${cell("c")}</table:table-row>`,
  ];
  const xml = strFromU8(content!)
    .replace(/<table:table /, (start) => validations + start)
    .replace("</table:table>", `${rows.join("")}</table:table>`);
  expect(await readOds(zipSync({ ...others, "content.xml": strToU8(xml) }))).toEqual([
    '## S\n\nPaper\n\nInput messages:\n\n- B2:C4 (Amount): In "euros": no tax\n- E4: One of the list',
  ]);
});

test("validations without an end take no time", async () => {
  const starts = "<table:content-validations ".repeat(200_000);
  expect(openOdsInputMessages(starts)("S")).toBe("");
}, 2_000);

test("words with a colon in Excel's input messages are read", async () => {
  const { "xl/worksheets/sheet1.xml": sheet, ...others } = parts("xlsx");
  const shown = '<dataValidation showInputMessage="1" prompt="Please note: only whole numbers" sqref="B2"/>';
  const xml = strFromU8(sheet!).replace("</worksheet>", `<dataValidations>${shown}</dataValidations></worksheet>`);
  expect((await readExcel(zipSync({ ...others, "xl/worksheets/sheet1.xml": strToU8(xml) })))[0]).toContain(
    "- B2: Please note: only whole numbers",
  );
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

test("the descriptions of shapes without text are read", async () => {
  const shape = (kind: string, words: string, text = ""): string =>
    `<x:${kind}><x:nv${kind === "sp" ? "Sp" : "CxnSp"}Pr><x:cNvPr id="1" descr="${words}"/></x:nv${kind === "sp" ? "Sp" : "CxnSp"}Pr>${text && `<x:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></x:txBody>`}</x:${kind}>`;
  const drawing = shape("sp", "An arrow to the north") + shape("sp", "A sign", "Quay 4") + shape("cxnSp", "A road");
  const file = zipSync({
    ...parts("xlsx"),
    "xl/worksheets/_rels/sheet1.xml.rels": strToU8(
      '<Relationships><Relationship Id="d" Type="urn:x/drawing" Target="../drawings/d.xml"/></Relationships>',
    ),
    "xl/drawings/d.xml": strToU8(`<x:wsDr xmlns:x="urn:x" xmlns:a="urn:a">${drawing}</x:wsDr>`),
  });
  expect(await readExcel(file)).toEqual(["## S\n\nPaper\n\nAn arrow to the north\n\nQuay 4\n\nA road"]);

  const { "content.xml": content, ...others } = parts("ods");
  const drawn = (words: string, text: string): string =>
    `<draw:custom-shape><svg:desc>${words}</svg:desc><text:p>${text}</text:p></draw:custom-shape>`;
  const shapes = `<table:shapes>${drawn("An arrow to the north", "")}${drawn("A sign", "Quay 4")}</table:shapes>`;
  const xml = strFromU8(content!).replace(/<table:table [^>]*>/, (start) => start + shapes);
  expect(await readOds(zipSync({ ...others, "content.xml": strToU8(xml) }))).toEqual([
    "## S\n\nPaper\n\nAn arrow to the north\n\nQuay 4",
  ]);
});

test("a chart on an OpenDocument sheet becomes its texts, and its values unless they are cells", async () => {
  const { "content.xml": content, ...others } = parts("ods");
  const p = (text: string): string => `<text:p>${text}</text:p>`;
  const row = (...cells: string[]): string =>
    `<table:table-row>${cells.map((cell) => `<table:table-cell>${p(cell)}</table:table-cell>`).join("")}</table:table-row>`;
  const chart = (source: string): Uint8Array =>
    strToU8(
      `<office:document-content><office:chart><chart:chart><chart:title>${p("Visits")}</chart:title><chart:subtitle>${p("All harbours")}</chart:subtitle><chart:plot-area><chart:axis><chart:title>${p("Thousands")}</chart:title></chart:axis><chart:series chart:values-cell-range-address="${source}"/></chart:plot-area><table:table table:name="local-table">${row("", "2026")}${row("May", "7")}</table:table></chart:chart></office:chart></office:document-content>`,
    );
  const read = async (source: string): Promise<string[]> => {
    const shapes = '<table:shapes><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></table:shapes>';
    const xml = strFromU8(content!).replace(/<table:table [^>]*>/, (start) => start + shapes);
    return readOds(zipSync({ ...others, "content.xml": strToU8(xml), "Object 1/content.xml": chart(source) }));
  };
  expect(await read("S.$B$2:.$B$3")).toEqual(["## S\n\nPaper\n\nVisits\n\nAll harbours\n\nThousands"]);
  expect(await read("local-table.$B$2:.$B$2")).toEqual([
    "## S\n\nPaper\n\nVisits\n\nAll harbours\n\n| | 2026 |\n| --- | --- |\n| May | 7 |\n\nThousands",
  ]);
});
