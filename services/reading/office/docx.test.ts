import { strToU8, unzipSync, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { wordFile } from "#test/reading/archives.ts";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { UnreadableFile } from "../reader.ts";
import { readDocx } from "./docx.ts";

const read = async (body: string, parts?: Record<string, string>): Promise<string> =>
  (await readDocx(wordFile(body, parts)))[0] ?? "";

const t = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
const p = (content: string, properties = ""): string => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;
const styled = (style: string, text: string): string => p(t(text), `<w:pStyle w:val="${style}"/>`);
const style = (id: string, name: string, more = ""): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;

describe("a heading is recognized", () => {
  test("by the name of its style, in any language", async () => {
    const styles = style("berschrift2", "heading 2") + style("Titel", "Title");
    expect(await read(styled("Titel", "Report") + styled("berschrift2", "Costs"), { styles })).toBe(
      "# Report\n\n## Costs",
    );
  });

  test("by its style's base style", async () => {
    const styles = style("H1", "heading 1") + style("Own", "Chapter", '<w:basedOn w:val="H1"/>');
    expect(await read(styled("Own", "Costs"), { styles })).toBe("# Costs");
  });

  test("by its outline level", async () => {
    const styles = style("Own", "Chapter", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>');
    const direct = p(t("Rent"), '<w:outlineLvl w:val="1"/>');
    expect(await read(styled("Own", "Costs") + direct, { styles })).toBe("### Costs\n\n## Rent");
  });

  test("without an endless loop when styles are based on each other", async () => {
    const styles = style("A", "a", '<w:basedOn w:val="B"/>') + style("B", "b", '<w:basedOn w:val="A"/>');
    expect(await read(styled("A", "Text"), { styles })).toBe("Text");
  });
});

describe("numbering", () => {
  const level = (at: number, format: string, text: string): string =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
  const plan = `<w:abstractNum w:abstractNumId="7">${level(0, "decimal", "%1.")}${level(1, "lowerLetter", "%1.%2")}</w:abstractNum>`;
  const num = (id: number, override = ""): string =>
    `<w:num w:numId="${id}"><w:abstractNumId w:val="7"/>${override}</w:num>`;
  const again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>';
  const numbering = plan + num(1) + num(2, again);
  const counted = (list: number, at = 0): string =>
    `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${list}"/></w:numPr>`;
  const item = (text: string, list = 1, at = 0): string => p(t(text), counted(list, at));

  test("continues after a paragraph and restarts in a new list", async () => {
    const body = item("one") + p(t("Between.")) + item("two") + item("a", 1, 1) + p(t("New:")) + item("one", 2);
    expect(await read(body, { numbering })).toBe("1. one\n\nBetween.\n\n2. two\n   - 2.a a\n\nNew:\n\n1. one");
  });

  test("restarts above the level of the first item of a new list", async () => {
    expect(await read(item("one") + item("two") + item("a", 2, 1), { numbering })).toContain("- 1.a a");
  });

  test("of a legal level is decimal, and that of a level that never restarts continues", async () => {
    const legal = level(1, "decimal", "%1.%2").replace("</w:lvl>", '<w:lvlRestart w:val="0"/><w:isLgl/></w:lvl>');
    const articles = `<w:abstractNum w:abstractNumId="7">${level(0, "upperRoman", "Article %1.")}${legal}</w:abstractNum>${num(1)}`;
    const body = item("rent") + item("gas", 1, 1) + item("heat") + item("oil", 1, 1);
    expect(await read(body, { numbering: articles })).toBe(
      "- Article I. rent\n  - 1.1 gas\n- Article II. heat\n  - 2.2 oil",
    );
  });

  test("by letters and Roman numbers stays as text, because other texts refer to it", async () => {
    const lettered = `<w:abstractNum w:abstractNumId="7">${level(0, "lowerLetter", "(%1)")}${level(1, "lowerRoman", "%2)")}</w:abstractNum>${num(1)}`;
    const body = item("rent") + item("heat") + item("gas", 1, 1) + item("oil", 1, 1) + p(t("As in (b) ii)."));
    expect(await read(body, { numbering: lettered })).toBe(
      "- (a) rent\n- (b) heat\n  - i) gas\n  - ii) oil\n\nAs in (b) ii).",
    );
  });

  test("by letters without punctuation stays as text", async () => {
    const lettered = `<w:abstractNum w:abstractNumId="7">${level(0, "upperLetter", "%1")}</w:abstractNum>${num(1)}`;
    expect(await read(item("rent") + item("heat"), { numbering: lettered })).toBe("- A rent\n- B heat");
  });

  test("of a damaged list begins with 1", async () => {
    const damaged = plan.replaceAll('<w:start w:val="1"/>', '<w:start w:val="one"/>') + num(1);
    expect(await read(item("rent") + item("gas", 1, 1), { numbering: damaged })).toBe("1. rent\n   - 1.a gas");
    const restarted = plan + num(1, again.replace('w:val="1"', 'w:val=""')) + num(2);
    expect(await read(item("rent") + item("heat"), { numbering: restarted })).toBe("1. rent\n2. heat");
    const between = p(t("gas"), counted(1).replace('"0"', '"0.5"'));
    expect(await read(item("rent") + between, { numbering })).toContain("gas");
  });

  test("of headings becomes part of their text", async () => {
    const styles = style("H1", "heading 1", `<w:pPr>${counted(1)}</w:pPr>`) + style("H2", "heading 2");
    const below = p(t("Rent"), `<w:pStyle w:val="H2"/>${counted(1, 1)}`);
    expect(await read(styled("H1", "Costs") + below + styled("H1", "Dates"), { styles, numbering })).toBe(
      "# 1. Costs\n\n## 1.a Rent\n\n# 2. Dates",
    );
  });
});

test("the table of contents is left out, because its lines repeat the headings", async () => {
  const styles = style("TOC1", "toc 1") + style("H1", "heading 1");
  expect(await read(styled("TOC1", "Costs 4") + styled("H1", "Costs"), { styles })).toBe("# Costs");
});

test("deleted, hidden and comment text is left out", async () => {
  const deleted = `<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins>${t("new")}</w:ins>`;
  const hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>";
  const comment = '<w:r><w:commentReference w:id="0"/></w:r>';
  const comments = `<w:comment w:id="0">${p(t("really?"))}</w:comment>`;
  expect(await read(p(deleted + hidden + comment), { comments })).toBe("new");
});

test("fields and text boxes in alternate content become text", async () => {
  const field = `<w:fldSimple w:instr="SEQ Table">${t("7")}</w:fldSimple>`;
  const box = `<mc:AlternateContent><mc:Choice><w:txbxContent>${p(t("Boxed"))}</w:txbxContent></mc:Choice></mc:AlternateContent>`;
  expect(await read(p(t("Table ") + field) + p(`<w:r>${box}</w:r>`))).toBe("Table 7\n\nBoxed");
});

test("equations become TeX", async () => {
  const r = (text: string): string => `<m:r><m:t>${text}</m:t></m:r>`;
  const power = `<m:sSup><m:e>${r("b")}</m:e><m:sup>${r("2")}</m:sup></m:sSup>`;
  const root = `<m:rad><m:deg/><m:e>${r("x")}</m:e></m:rad>`;
  const sum = `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${r("i=1")}</m:sub><m:sup>${r("n")}</m:sup><m:e>${root}</m:e></m:nary>`;
  const fraction = `<m:f><m:num>${r("a")}</m:num><m:den>${power}</m:den></m:f>`;
  expect(await read(p(`${t("Rate ")}<m:oMath>${fraction}${r("+")}${sum}</m:oMath>${t(".")}`))).toBe(
    "Rate $\\frac{a}{b^{2}}+∑_{i=1}^{n} \\sqrt{x}$.",
  );
});

test("names of functions, scripts before a letter and accents stay in equations", async () => {
  const r = (text: string): string => `<m:r><m:t>${text}</m:t></m:r>`;
  const sine = `<m:func><m:fName>${r("sin")}</m:fName><m:e>${r("x")}</m:e></m:func>`;
  const isotope = `<m:sPre><m:sub>${r("92")}</m:sub><m:sup>${r("235")}</m:sup><m:e>${r("U")}</m:e></m:sPre>`;
  const vector = `<m:acc><m:accPr><m:chr m:val="\u20d7"/></m:accPr><m:e>${r("v")}</m:e></m:acc>`;
  expect(await read(p(`<m:oMath>${sine}${r("+")}${isotope}${r("+")}${vector}</m:oMath>`))).toBe(
    "$sin x+{}_{92}^{235}U+v\u20d7$",
  );
});

test("rows that skip grid columns get empty cells, and merged cells repeat in each row", async () => {
  const cell = (text: string, properties = ""): string => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(t(text))}</w:tc>`;
  const rows = [
    `<w:tr>${cell("A")}${cell("B")}</w:tr>`,
    `<w:tr>${cell("1", '<w:vMerge w:val="restart"/>')}${cell("2")}</w:tr>`,
    `<w:tr>${cell("", "<w:vMerge/>")}${cell("3")}</w:tr>`,
    `<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${cell("4")}</w:tr>`,
  ];
  expect((await read(`<w:tbl>${rows.join("")}</w:tbl>`)).split("\n").slice(2)).toEqual([
    "| 1 | 2 |",
    "| 1 | 3 |",
    "| | 4 |",
  ]);
});

test("cells stay merged in a table with bookmarks between its rows and cells", async () => {
  const cell = (text: string, merge = ""): string => `<w:tc><w:tcPr>${merge}</w:tcPr>${p(t(text))}</w:tc>`;
  const bookmark = '<w:bookmarkStart w:id="1" w:name="b"/><w:bookmarkEnd w:id="1"/>';
  const table = (between: string): string =>
    `<w:tbl><w:tr>${cell("A")}${between}${cell("B")}</w:tr>${between}<w:tr>${cell("1", '<w:vMerge w:val="restart"/>')}${cell("2")}</w:tr><w:tr>${cell("", "<w:vMerge/>")}${cell("3")}</w:tr></w:tbl>`;
  expect((await read(table(bookmark))).split("\n").slice(2)).toEqual(["| 1 | 2 |", "| 1 | 3 |"]);
});

test("notes move to the end", async () => {
  const note = '<w:r><w:footnoteReference w:id="2"/></w:r>';
  const footnotes = `<w:footnote w:id="2">${p(t("Since 2019."))}</w:footnote>`;
  expect(await read(p(t("Closed") + note), { footnotes })).toBe("Closed[^1]\n\n[^1]: Since 2019.");
});

test("warnings count tracked deletions, comments and pictures, which are left out", async () => {
  const deleted = '<w:del w:id="1"><w:r><w:delText>not</w:delText></w:r></w:del>';
  const picture = "<w:r><w:pict><v:shape><v:imagedata/></v:shape></w:pict></w:r>";
  const comments = `<w:comment w:id="0">${p(t("Really?"))}</w:comment><w:comment w:id="1">${p(t("Yes."))}</w:comment>`;
  const warnings: ReadingWarning[] = [];
  const file = wordFile(p(t("It is") + deleted + picture), { comments });
  expect(await readDocx(file, (warning) => warnings.push(warning))).toEqual(["It is"]);
  expect(warnings).toEqual([
    { code: "tracked_changes_left_out", count: 1 },
    { code: "comments_left_out", count: 2 },
    { code: "images_without_text", count: 1 },
  ]);
});

test("page and column breaks separate words, and a drop cap joins its word", async () => {
  const run = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const breaks = ["page", "column"].map((type) => `${run("a")}<w:r><w:br w:type="${type}"/></w:r>`).join("");
  const cap = (text: string): string => `<w:p><w:pPr><w:framePr w:dropCap="drop"/></w:pPr>${run(text)}</w:p>`;
  const body = `<w:p>${breaks}${run("b")}</w:p>${cap("O")}<w:p><w:pPr><w:jc w:val="left"/></w:pPr>${run("nce upon")}</w:p>${cap("X")}`;
  expect((await readDocx(wordFile(body)))[0]).toBe("a  \na  \nb\n\nOnce upon\n\nX");
});

test("links and pictures that refer to missing parts do not spoil the text", async () => {
  const link = `<w:hyperlink r:id="r8" w:anchor="a">${t("a link")}</w:hyperlink>`;
  const blip = (by: string): string =>
    `<w:r><w:drawing><wp:inline><wp:docPr id="1"/><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip ${by}="r9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`;
  const old = '<w:r><w:pict><v:shape><v:imagedata r:id="r9"/></v:shape></w:pict></w:r>';
  expect(await read(p(t("See ") + link + blip("r:embed") + blip("r:link") + old + t(".")))).toBe("See a link.");
});

test.each(["c:chart", "cx:chart"])("a chart (%s) follows its paragraph, with its title and values", async (name) => {
  const points = (value: string): string => `<c:pt idx="0"><c:v>${value}</c:v></c:pt>`;
  const series = `<c:ser><c:tx><c:v>Visits</c:v></c:tx><c:cat>${points("May")}</c:cat><c:val>${points("7")}</c:val></c:ser>`;
  const chart = `<c:chartSpace xmlns:c="urn:c" xmlns:a="urn:a"><c:chart><c:title><a:t>By month</a:t></c:title><c:plotArea><c:lineChart>${series}</c:lineChart></c:plotArea></c:chart></c:chartSpace>`;
  const drawing = `<w:r><w:drawing><${name} xmlns:c="urn:c" xmlns:cx="urn:cx" xmlns:r="urn:r" r:id="c1"/></w:drawing></w:r>`;
  const parts = unzipSync(wordFile(p(t("See below:")) + p(drawing) + p(t("After"))));
  parts["word/charts/c.xml"] = strToU8(chart);
  parts["word/_rels/document.xml.rels"] = strToU8(
    '<Relationships><Relationship Id="c1" Type="urn:x/chart" Target="charts/c.xml"/></Relationships>',
  );
  expect((await readDocx(zipSync(parts)))[0]).toBe(
    "See below:\n\nBy month\n\n| | Visits |\n| --- | --- |\n| May | 7 |\n\nAfter",
  );
});

test("a chart in a text box is read once", async () => {
  const chart = `<c:chartSpace xmlns:c="urn:c" xmlns:a="urn:a"><c:chart><c:title><a:t>By month</a:t></c:title></c:chart></c:chartSpace>`;
  const drawing = '<w:r><w:drawing><c:chart xmlns:c="urn:c" xmlns:r="urn:r" r:id="c1"/></w:drawing></w:r>';
  const box = `<w:r><w:drawing><wps:txbx xmlns:wps="urn:s"><w:txbxContent>${p(drawing)}</w:txbxContent></wps:txbx></w:drawing></w:r>`;
  const parts = unzipSync(wordFile(p(t("See below:") + box)));
  parts["word/charts/c.xml"] = strToU8(chart);
  parts["word/_rels/document.xml.rels"] = strToU8(
    '<Relationships><Relationship Id="c1" Type="urn:x/chart" Target="charts/c.xml"/></Relationships>',
  );
  expect((await readDocx(zipSync(parts)))[0]).toBe("See below:\n\nBy month");
});

describe("the description of a drawing", () => {
  const drawing = (description: string, content: string): string =>
    `<w:drawing xmlns:wpg="urn:g" xmlns:wps="urn:s"><wp:inline><wp:docPr id="1" descr="${description}"/><a:graphic><a:graphicData>${content}</a:graphicData></a:graphic></wp:inline></w:drawing>`;
  const shape = (description: string, content = ""): string =>
    `<wps:wsp><wps:cNvPr id="2" descr="${description}"/>${content}</wps:wsp>`;
  const group = (...parts: string[]): string => `<wpg:wgp>${parts.join("")}</wpg:wgp>`;
  const picture = (description: string): string =>
    `<pic:pic><pic:nvPicPr><pic:cNvPr id="3" descr="${description}"/></pic:nvPicPr></pic:pic>`;
  const run = (content: string): string => `<w:r>${content}</w:r>`;
  const box = (text: string): string => `<w:txbxContent>${p(t(text))}</w:txbxContent>`;

  test("is read for groups, their parts, and shapes without text", async () => {
    const parts = [shape("The north quay"), picture("A crane"), shape("Quay.png"), shape("A crane")];
    const map = drawing("A map of the harbour", group(...parts));
    expect(await read(p(t("Text") + run(map)))).toBe("Text\n\nA map of the harbour\n\nThe north quay\n\nA crane");
    expect(await read(p(run(drawing("An arrow", "<wps:wsp><wps:spPr/></wps:wsp>"))))).toBe("An arrow");
    const written = drawing("A sign", `<wps:wsp><wps:txbx>${box("Quay 4")}</wps:txbx></wps:wsp>`);
    expect(await read(p(run(written)))).toBe("Quay 4");
  });

  test("is read before the text boxes of a group, which has a copy for older programs", async () => {
    const map = drawing("A map", group(shape("", `<wps:txbx>${box("North")}</wps:txbx>`)));
    const either = (copy: string): string =>
      run(
        `<mc:AlternateContent><mc:Choice>${map}</mc:Choice><mc:Fallback><w:pict><v:group>${copy}</v:group></w:pict></mc:Fallback></mc:AlternateContent>`,
      );
    expect(await read(p(either(`<v:textbox>${box("North")}</v:textbox>`)))).toBe("A map\n\nNorth");
    expect(await read(p(either("")))).toBe("A map\n\nNorth");
  });

  test("counts for the pictures of a group", async () => {
    const counted = async (content: string): Promise<ReadingWarning[]> => {
      const warnings: ReadingWarning[] = [];
      await readDocx(wordFile(p(t("Text") + run(content))), (warning) => warnings.push(warning));
      return warnings;
    };
    expect(await counted(drawing("A map", group(picture(""))))).toEqual([]);
    expect(await counted(drawing("", group(picture("A crane"), picture(""))))).toEqual([
      { code: "images_without_text", count: 1 },
    ]);
  });
});

describe("the description of a shape of older programs", () => {
  const shape = (description: string, content = "", name = "shape"): string =>
    `<v:${name} alt="${description}">${content}</v:${name}>`;
  const box = (text: string): string => `<v:textbox><w:txbxContent>${p(t(text))}</w:txbxContent></v:textbox>`;
  const picture = '<v:imagedata r:id="i1"/>';
  const pict = (content: string): string => `<w:r><w:pict>${content}</w:pict></w:r>`;
  const readAll = async (content: string): Promise<{ text: string | undefined; warnings: ReadingWarning[] }> => {
    const parts = unzipSync(wordFile(p(t("Text") + content)));
    parts["word/_rels/document.xml.rels"] = strToU8(
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="i1" Type="urn:x/image" Target="media/i.png"/></Relationships>',
    );
    parts["word/media/i.png"] = strToU8("x");
    const warnings: ReadingWarning[] = [];
    const [text] = await readDocx(zipSync(parts), (warning) => warnings.push(warning));
    return { text, warnings };
  };

  test("is read for groups and their parts, and for shapes without text", async () => {
    const parts = [shape("The north quay", "", "oval"), shape("A map"), shape("Quay.png"), shape("", box("Quay 4"))];
    expect(await readAll(pict(shape("A map", parts.join(""), "group")))).toEqual({
      text: "Text\n\nA map\n\nThe north quay\n\nQuay 4",
      warnings: [],
    });
    expect((await readAll(pict(shape("An arrow", "", "line")))).text).toBe("Text\n\nAn arrow");
    expect((await readAll(pict(shape("A sign", box("Quay 4"))))).text).toBe("Text\n\nQuay 4");
  });

  test("is read for pictures, and pictures without one are counted", async () => {
    const crane = shape("A crane", picture);
    expect(await readAll(pict(shape("", crane + shape("", picture), "group")))).toEqual({
      text: "Text\n\nA crane",
      warnings: [{ code: "images_without_text", count: 1 }],
    });
    const object = `<w:r><w:object>${crane}</w:object></w:r>`;
    expect(await readAll(object)).toEqual({ text: "Text\n\nA crane", warnings: [] });
  });

  test("is not repeated beside that of a newer drawing, and hides no text of it", async () => {
    const drawn = (text: string): string =>
      `<w:drawing xmlns:wpg="urn:g" xmlns:wps="urn:s"><wp:inline><wp:docPr id="1" descr="A map"/><a:graphic><a:graphicData><wpg:wgp><wps:wsp><wps:txbx><w:txbxContent>${p(t(text))}</w:txbxContent></wps:txbx></wps:wsp></wpg:wgp></a:graphicData></a:graphic></wp:inline></w:drawing>`;
    const either = (copy: string): string =>
      `<w:r><mc:AlternateContent><mc:Choice>${drawn("North")}</mc:Choice><mc:Fallback><w:pict>${shape("A map", copy, "group")}</w:pict></mc:Fallback></mc:AlternateContent></w:r>`;
    expect((await readAll(either(shape("", box("North"))))).text).toBe("Text\n\nA map\n\nNorth");
    expect((await readAll(either(""))).text).toBe("Text\n\nA map\n\nNorth");
  });
});

describe("a file is refused", () => {
  test("if it declares entities", async () => {
    const body = wordFile(p(t("x")));
    const hostile = wordFile('</w:body></w:document><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>');
    expect(await readDocx(body)).toEqual(["x"]);
    await expect(readDocx(hostile)).rejects.toThrow("declares a document type");
  });

  test("if it is nested a hundred thousand levels deep", async () => {
    const deep = "<w:sdt><w:sdtContent>".repeat(50_000) + "</w:sdtContent></w:sdt>".repeat(50_000);
    await expect(read(deep)).rejects.toThrow(UnreadableFile);
  });

  test("if it is no archive or contains no document", async () => {
    await expect(readDocx(Buffer.from("Hello"))).rejects.toThrow(UnreadableFile);
    await expect(readDocx(Buffer.from("d0cf11e0a1b11ae1", "hex"))).rejects.toThrow("password");
  });
});
