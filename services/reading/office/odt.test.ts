import { unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import { openText } from "#test/reading/archives.ts";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { UnreadableFile } from "../reader.ts";
import { readOdt } from "./odt.ts";

const read = async (body: string, styles?: string, parts?: Record<string, string>): Promise<string> =>
  (await readOdt(openText(body, styles, parts)))[0] ?? "";

const p = (content: string, style = ""): string => `<text:p text:style-name="${style}">${content}</text:p>`;

test("a paragraph has the role of its style's base styles", async () => {
  const styles = '<style:style style:name="P1" style:parent-style-name="Preformatted_20_Text"/>';
  const body = p("Report", "Title") + p("a<text:s text:c='2'/>b", "P1") + p("c", "P1") + p("quote", "Quotations");
  expect(await read(body, styles)).toBe("# Report\n\n```\na  b\nc\n```\n\n> quote");
});

test("a text without styles.xml is read", async () => {
  const { "styles.xml": _, ...parts } = unzipSync(openText(p("Report", "Title") + p("Words")));
  expect(await readOdt(zipSync(parts))).toEqual(["# Report\n\nWords"]);
});

test("automatic styles set emphasis", async () => {
  const bold = '<style:style style:name="T1"><style:text-properties fo:font-weight="bold"/></style:style>';
  expect(await read(p('so <text:span text:style-name="T1">much</text:span>'), bold)).toBe("so **much**");
});

test("a list in several parts is one list", async () => {
  const numbered =
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>';
  const item = (content: string): string => `<text:list-item>${content}</text:list-item>`;
  const list = (style: string, items: string): string => `<text:list text:style-name="${style}">${items}</text:list>`;
  const inner = list("L2", item(`<text:list>${item(p("a"))}</text:list>`));
  expect(await read(list("L1", item(p("one"))) + inner + list("L1", item(p("two"))), numbered)).toBe(
    "1. one\n   - a\n2. two",
  );
});

test("a numbered list continues after a paragraph, as it declares", async () => {
  const styles =
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>';
  const list = (attributes: string, ...items: string[]): string =>
    `<text:list text:style-name="L1" ${attributes}>${items.map((one) => `<text:list-item>${p(one)}</text:list-item>`).join("")}</text:list>`;
  const body = [
    list('xml:id="a"', "one", "two"),
    p("Between."),
    list('text:continue-numbering="true"', "three"),
    p("New:"),
    list("", "one"),
    p("Back:"),
    list('text:continue-list="a"', "three again"),
  ];
  expect(await read(body.join(""), styles)).toBe(
    "1. one\n2. two\n\nBetween.\n\n3. three\n\nNew:\n\n1. one\n\nBack:\n\n3. three again",
  );
});

test("an item without a number belongs to the numbered item before it", async () => {
  const styles =
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>';
  const item = (content: string, attributes = ""): string =>
    `<text:list-item ${attributes}>${content}</text:list-item>`;
  const list = (...items: string[]): string => `<text:list text:style-name="L1">${items.join("")}</text:list>`;
  const header = `<text:list-header>${p("note")}</text:list-header>`;
  expect(await read(list(item(p("one")), header, item(p("two"))), styles)).toBe("1. one\n\n   note\n2. two");
  expect(await read(list(header), styles)).toBe("- note");
  const inner = item(`<text:list>${item(p("a"))}</text:list>`);
  const ninth = item(p("nine"), 'text:start-value="9"');
  expect(await read(list(item(p("one")), inner, item(p("two")), ninth), styles)).toBe(
    "1. one\n   - a\n2. two\n9. nine",
  );
});

test("the numbers of a deeper list stay if its item has no words of its own", async () => {
  const styles =
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="2" style:num-format="1"/></text:list-style>';
  const item = (content: string): string => `<text:list-item>${content}</text:list-item>`;
  const deeper = item(`<text:list>${item(p("a"))}${item(p("b"))}</text:list>`);
  const list = `<text:list text:style-name="L1">${deeper}${item(p("one"))}</text:list>`;
  expect(await read(list, styles)).toBe("- 1. a\n  2. b\n- one");
});

test("letters and Roman numbers of items stay as text, because other texts refer to them", async () => {
  const level = (at: number, format: string, more: string): string =>
    `<text:list-level-style-number text:level="${at}" style:num-format="${format}" ${more}/>`;
  const around = 'style:num-prefix="(" style:num-suffix=")"';
  const styles = `<text:list-style style:name="L1">${level(1, "a", around)}${level(2, "i", 'style:num-suffix="."')}</text:list-style>`;
  const item = (content: string, attributes = ""): string =>
    `<text:list-item ${attributes}>${content}</text:list-item>`;
  const inner = `<text:list>${item(p("gas"))}${item(p("oil"))}</text:list>`;
  const list = (...items: string[]): string => `<text:list text:style-name="L1">${items.join("")}</text:list>`;
  const rent = item(`<text:number>(c)</text:number>${p("rent")}`, 'text:start-value="3"');
  expect(await read(list(rent, item(p("heat") + inner)), styles)).toBe(
    "- (c) rent\n- (d) heat\n  - i. gas\n  - ii. oil",
  );
});

test("clauses have the numbers of the levels above, also where a paragraph interrupts them", async () => {
  const level = (at: number, more: string): string =>
    `<text:list-level-style-number text:level="${at}" style:num-format="1" ${more}/>`;
  const dot = 'style:num-suffix="."';
  const styles =
    `<text:list-style style:name="L1">${level(1, dot)}${level(2, 'text:display-levels="2"')}</text:list-style>` +
    `<text:list-style style:name="L2">${level(1, `${dot} text:start-value="4"`)}</text:list-style>`;
  const item = (content: string, attributes = ""): string =>
    `<text:list-item ${attributes}>${content}</text:list-item>`;
  const inner = (...words: string[]): string => `<text:list>${words.map((word) => item(p(word))).join("")}</text:list>`;
  const list = (attributes: string, ...items: string[]): string =>
    `<text:list ${attributes}>${items.join("")}</text:list>`;
  const body = [
    list('text:style-name="L1"', item(p("Rent") + inner("gas", "oil")), item(p("Term") + inner("years"))),
    p("Between."),
    list('text:style-name="L1" text:continue-numbering="true"', item(inner("months")), item(p("End"))),
    p("Others:"),
    list('text:style-name="L2"', item(p("four")), item(p("nine"), 'text:start-value="9"'), item(p("ten"))),
  ];
  expect(await read(body.join(""), styles)).toBe(
    [
      "1. Rent\n   - 1.1 gas\n   - 1.2 oil\n2. Term\n   - 2.1 years",
      "Between.",
      "- 2.2 months\n\n3. End",
      "Others:",
      "4. four\n9. nine\n10. ten",
    ].join("\n\n"),
  );
});

test("numbered chapters are headings, not list items", async () => {
  const heading = '<text:h text:outline-level="2">Costs</text:h>';
  expect(await read(`<text:list><text:list-item>${heading}</text:list-item></text:list>`)).toBe("## Costs");
});

test("a stored number is not glued to its words", async () => {
  const item = (number: string, text: string): string =>
    `<text:list-item><text:number>${number}</text:number>${p(text)}</text:list-item>`;
  const heading = '<text:h text:outline-level="1"><text:number>1.1</text:number>Costs</text:h>';
  expect(await read(`${heading}<text:list>${item("•", "Rent")}${item("7.3", "Gas")}</text:list>`)).toBe(
    "# 1.1 Costs\n\n- Rent\n- 7.3\n\n  Gas",
  );
});

test("the numbers of chapters are part of their headings", async () => {
  const level = (at: number, format: string, more = ""): string =>
    `<text:outline-level-style text:level="${at}" style:num-format="${format}" ${more}/>`;
  const levels = [
    level(1, "1", 'style:num-suffix="."'),
    level(2, "a", 'style:num-prefix="§ " text:display-levels="2"'),
    level(3, ""),
  ];
  const styles = `<office:document-styles><office:styles><text:outline-style>${levels.join("")}</text:outline-style></office:styles></office:document-styles>`;
  const h = (at: number, text: string, more = ""): string =>
    `<text:h text:outline-level="${at}" ${more}>${text}</text:h>`;
  const body = [
    h(1, "Costs"),
    h(2, "Rent"),
    h(2, "<text:number>§ 1.b</text:number>Heating"),
    h(2, "Notes", 'text:style-name="P1"'),
    h(3, "Gas"),
    h(1, "Preface", 'text:is-list-header="true"'),
    h(1, "Dates", 'text:restart-numbering="true" text:start-value="5"'),
    h(2, "May"),
  ];
  const plain = '<style:style style:name="P1" style:list-style-name=""/>';
  expect((await read(body.join(""), plain, { "styles.xml": styles })).split("\n\n")).toEqual([
    "# 1. Costs",
    "## § 1.a Rent",
    "## § 1.b Heating",
    "## Notes",
    "### Gas",
    "# Preface",
    "# 5. Dates",
    "## § 5.a May",
  ]);
});

test("a chapter that is to name more levels than are above it names all of them", async () => {
  const level = (at: number): string =>
    `<text:outline-level-style text:level="${at}" style:num-format="1" text:display-levels="9"/>`;
  const styles = `<office:styles><text:outline-style>${level(1)}${level(2)}</text:outline-style></office:styles>`;
  const body = '<text:h text:outline-level="1">Costs</text:h><text:h text:outline-level="2">Rent</text:h>';
  expect(await read(body, "", { "styles.xml": styles })).toBe("# 1 Costs\n\n## 1.1 Rent");
});

test("deletions, comments and the table of contents are left out", async () => {
  const left = [
    `<text:tracked-changes>${p("old")}</text:tracked-changes>`,
    `<text:table-of-content>${p("Costs 4")}</text:table-of-content>`,
  ];
  expect(await read(left.join("") + p(`Text<office:annotation>${p("really?")}</office:annotation>`))).toBe("Text");
});

test("tables keep their header, spans and repeated cells", async () => {
  const cell = (text: string, more = ""): string => `<table:table-cell ${more}>${p(text)}</table:table-cell>`;
  const rows = [
    `<table:table-header-rows><table:table-row>${cell("A")}${cell("B")}${cell("C")}</table:table-row></table:table-header-rows>`,
    `<table:table-row>${cell("1", 'table:number-columns-spanned="2"')}<table:covered-table-cell/>${cell("2")}</table:table-row>`,
    `<table:table-row>${cell("x", 'table:number-columns-repeated="3"')}</table:table-row>`,
  ];
  expect((await read(`<table:table>${rows.join("")}</table:table>`)).split("\n")).toEqual([
    "| A | B | C |",
    "| --- | --- | --- |",
    "| 1 | 1 | 2 |",
    "| x | x | x |",
  ]);
});

test("images become their description, formulas become TeX, and notes move to the end", async () => {
  const frame = (content: string): string => `<draw:frame>${content}</draw:frame>`;
  const picture = frame("<draw:image/><svg:title>Logo</svg:title><svg:desc>A lighthouse</svg:desc>");
  const formula = frame('<draw:object xlink:href="./Object 1"/>');
  const note = `<text:note><text:note-citation>1</text:note-citation><text:note-body>${p("Built 1868.")}</text:note-body></text:note>`;
  const math = "<math><msup><mi>x</mi><mn>2</mn></msup></math>";
  expect(await read(p(`${picture} ${formula}${note}`), "", { "Object 1/content.xml": math })).toBe(
    "A lighthouse $x^{2}$[^1]\n\n[^1]: Built 1868.",
  );
});

test("the descriptions of groups and of shapes without text are read", async () => {
  const shape = (words: string, content: string): string =>
    `<draw:custom-shape><svg:desc>${words}</svg:desc><text:p>${content}</text:p></draw:custom-shape>`;
  const group = `<draw:g><svg:desc>A map of the harbour</svg:desc>${shape("A sign", "Quay 4")}${shape("The mole", "")}</draw:g>`;
  expect(await read(p("Text") + p(`${group}Below`))).toBe("Text\n\nA map of the harbour The mole Below\n\nQuay 4");
});

test("a chart becomes its titles, its values and its labels", async () => {
  const cell = (text: string): string => `<table:table-cell>${p(text)}</table:table-cell>`;
  const row = (...cells: string[]): string => `<table:table-row>${cells.map(cell).join("")}</table:table-row>`;
  const table = `<table:table><table:table-header-rows>${row("", "Visits")}</table:table-header-rows><table:table-rows>${row("May", "7")}</table:table-rows></table:table>`;
  const axis = `<chart:plot-area><chart:axis><chart:title>${p("Thousands")}</chart:title></chart:axis></chart:plot-area>`;
  const series = `<chart:series><chart:data-point><chart:data-label>${p("best month")}</chart:data-label></chart:data-point></chart:series>`;
  const chart = `<office:document-content><office:chart><chart:chart><chart:title>${p("Visits by month")}</chart:title><chart:subtitle>${p("All harbours")}</chart:subtitle>${axis}${series}${table}</chart:chart></office:chart></office:document-content>`;
  const frame = '<draw:frame><draw:object xlink:href="./Object 1"/><draw:image/></draw:frame>';
  expect(await read(p("Before") + p(frame), "", { "Object 1/content.xml": chart })).toBe(
    "Before\n\nVisits by month\n\nAll harbours\n\n| | Visits |\n| --- | --- |\n| May | 7 |\n\nThousands\n\nbest month",
  );
});

test("a box that is anchored in a heading follows it", async () => {
  const box = `<draw:frame><draw:text-box>${p("All in euros.")}</draw:text-box></draw:frame>`;
  const shape = `<draw:custom-shape>${p("Without tax.")}</draw:custom-shape>`;
  expect(await read(`<text:h text:outline-level="2">${box}Costs${shape}</text:h>${p("Text")}`)).toBe(
    "## Costs\n\nAll in euros.\n\nWithout tax.\n\nText",
  );
});

test("templates of indexes are left out, but not their entries", async () => {
  const index = `<text:bibliography><text:bibliography-source><text:bibliography-entry-template>: , </text:bibliography-entry-template></text:bibliography-source><text:index-body>${p("[1] A book")}</text:index-body></text:bibliography>`;
  expect(await read(index, "", {})).toBe("\\[1] A book");
});

test("warnings count deletions, comments and pictures without a description", async () => {
  const deletion = `<text:changed-region><text:deletion>${p("old")}</text:deletion></text:changed-region>`;
  const frame = (more: string): string => `<draw:frame><draw:image/>${more}</draw:frame>`;
  const warnings: ReadingWarning[] = [];
  const body = `<text:tracked-changes>${deletion}</text:tracked-changes>${p(`Text<office:annotation>${p("?")}</office:annotation>`)}`;
  await readOdt(
    openText(body + p(frame("<svg:desc>fig: light.png</svg:desc>") + frame("<svg:desc>A lighthouse</svg:desc>"))),
    (one) => warnings.push(one),
  );
  expect(warnings).toEqual([
    { code: "tracked_changes_left_out", count: 1 },
    { code: "comments_left_out", count: 1 },
    { code: "images_without_text", count: 1 },
  ]);
});

test("labels of form controls and lists are reported with the filled fields", async () => {
  const controls = [
    '<form:checkbox form:label="I agree" form:current-state="checked"/>',
    '<form:radio form:label="By post"/>',
    '<form:fixed-text form:label="Your name"/>',
    '<form:text form:current-value="Ada"/>',
    '<form:listbox><form:option form:label="Red" form:current-selected="true"/></form:listbox>',
    '<form:hidden form:value="x"/><form:checkbox form:label=""/><form:text/>',
  ];
  const warnings: ReadingWarning[] = [];
  const forms = `<office:forms><form:form>${controls.join("")}</form:form></office:forms>`;
  expect(await readOdt(openText(forms + p("Form")), (one) => warnings.push(one))).toEqual(["Form"]);
  expect(warnings).toEqual([{ code: "form_fields_left_out", count: 5 }]);
});

test("a file that declares entities, is encrypted or nested too deeply is refused", async () => {
  const deep = "<text:section>".repeat(100_000) + "</text:section>".repeat(100_000);
  await expect(read(deep)).rejects.toThrow(UnreadableFile);
  await expect(read("", "", { "styles.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>' })).rejects.toThrow(
    UnreadableFile,
  );
  const manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>";
  await expect(read("", "", { "META-INF/manifest.xml": manifest })).rejects.toThrow("password");
});
